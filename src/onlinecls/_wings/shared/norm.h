/* See add_all of norm.pxd. */
#ifndef ONLINECLS_NORM_H
#define ONLINECLS_NORM_H

#include <stdint.h>
#include <string.h>

/* 12 times the largest power of two that is at most x > 0 */
static inline double onlinecls_coarse(double x)
{
    uint64_t bits;
    x *= 8.0;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & 0x7ff0000000000000u) | 0x0008000000000000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
