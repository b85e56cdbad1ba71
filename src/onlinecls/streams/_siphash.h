/* SipHash-2-4 (Aumasson and Bernstein, 2012): a hash for which nobody who does not know the key can find keys that collide. */
#ifndef ONLINECLS_SIPHASH_H
#define ONLINECLS_SIPHASH_H
#include <stddef.h>
#include <stdint.h>

static inline uint64_t onlinecls_rotated(uint64_t x, int by) { return x << by | x >> (64 - by); }

static inline void onlinecls_sip_rounds(uint64_t v[4], int n) {
    while (n--) {
        v[0] += v[1]; v[1] = onlinecls_rotated(v[1], 13) ^ v[0]; v[0] = onlinecls_rotated(v[0], 32);
        v[2] += v[3]; v[3] = onlinecls_rotated(v[3], 16) ^ v[2];
        v[0] += v[3]; v[3] = onlinecls_rotated(v[3], 21) ^ v[0];
        v[2] += v[1]; v[1] = onlinecls_rotated(v[1], 17) ^ v[2]; v[2] = onlinecls_rotated(v[2], 32);
    }
}

/* Hash n bytes under a key of 16 bytes; words are read in little-endian order, as the paper has it. */
static inline uint64_t onlinecls_siphash(const unsigned char* bytes, size_t n, const uint64_t key[2]) {
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                     key[1] ^ 0x7465646279746573};
    for (size_t start = 0; start <= n; start += 8) {
        uint64_t word = n - start < 8 ? (uint64_t)n << 56 : 0;
        for (size_t k = 0; k < 8 && start + k < n; k++) word |= (uint64_t)bytes[start + k] << 8 * k;
        v[3] ^= word;
        onlinecls_sip_rounds(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    onlinecls_sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
#endif
