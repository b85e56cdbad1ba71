/* The characters that end a feature's name in Vowpal Wabbit's text: tab, newline, carriage return, blank, colon, bar. */
static const char onlinecls_ends_name[256] = {
    [9] = 1, [10] = 1, [13] = 1, [32] = 1, [58] = 1, [124] = 1
};
#ifdef _MSC_VER
#include <intrin.h>
static __inline int onlinecls_lowest_bit(unsigned long long x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
#else
static inline int onlinecls_lowest_bit(unsigned long long x) { return __builtin_ctzll(x); }
#endif
