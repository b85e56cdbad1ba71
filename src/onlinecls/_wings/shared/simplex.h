/* The simplex's functions of many numbers at once, for floats and for doubles: hyperbolic.h, twice. */
#ifndef ONLINECLS_SIMPLEX_H
#define ONLINECLS_SIMPLEX_H

#include <math.h>

#include "powers.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define ONLINECLS_CLONED __attribute__((target_clones("avx2", "default")))
#else
#define ONLINECLS_CLONED
#endif
#define ONLINECLS_LANES 4

#define real float
#define OF(name) onlinecls_##name##_of_floats
#define EXP onlinecls_expf
#define SQRT sqrtf
#define FABS fabsf
#define COPYSIGN copysignf
#define NEAR 1.0
#include "hyperbolic.h"
#undef real
#undef OF
#undef EXP
#undef SQRT
#undef FABS
#undef COPYSIGN
#undef NEAR

#define real double
#define OF(name) onlinecls_##name##_of_doubles
#define EXP onlinecls_exp
#define SQRT sqrt
#define FABS fabs
#define COPYSIGN copysign
#define NEAR 0.1
#include "hyperbolic.h"
#undef real
#undef OF
#undef EXP
#undef SQRT
#undef FABS
#undef COPYSIGN
#undef NEAR

#endif
