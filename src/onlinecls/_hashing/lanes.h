/* Loops over many bytes or tokens at once, with versions for AVX2 where the compiler can make them. */
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif
#ifdef _MSC_VER
#define restrict __restrict
#endif
#define QUEUE 128
#define STRETCH 32
#define WORDS 4             /* of a token in line, at most */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define CLONED __attribute__((target_clones("avx2", "default")))
#else
#define CLONED
#endif

typedef struct { uint32_t words[QUEUE][WORDS], size[QUEUE], column[QUEUE]; int32_t sign[QUEUE]; } Waiting;

static inline uint32_t scramble(uint32_t b) { b *= 0xcc9e2d51; return (b << 15 | b >> 17) * 0x1b873593; }

/* Lower-cases and flags what is ASCII, a stretch at a time; returns how many bytes that are. */
CLONED static int64_t fold(const unsigned char *text, int64_t n, unsigned char *restrict out, unsigned char *restrict flags,
                           int lower, int words) {
    int64_t at = 0;
    for (; at + STRETCH <= n; at += STRETCH, text += STRETCH, out += STRETCH, flags += STRETCH) {
        unsigned char any = 0, bit = lower ? 0x20 : 0;
        for (int i = 0; i < STRETCH; i++) any |= text[i];
        if (any >= 0x80) break;
        if (words)
            for (int i = 0; i < STRETCH; i++) {
                unsigned char c = text[i], big = (unsigned char)(c - 'A') < 26 ? 0x20 : 0, low = c | big;
                out[i] = c | (big & bit);
                flags[i] = ((unsigned char)(low - 'a') < 26) | ((unsigned char)(c - '0') < 10) | (c == '_') ? 0x80 : 0;
            }
        else
            for (int i = 0; i < STRETCH; i++) {
                unsigned char c = text[i];
                out[i] = c | ((unsigned char)(c - 'A') < 26 ? bit : 0);
                flags[i] = ((unsigned char)(c - 0x09) < 5) | ((unsigned char)(c - 0x1C) < 5) ? 0x80 : 0;
            }
    }
    return at;
}

/* The top bits of 64 bytes, the first in the lowest place. */
static inline uint64_t top_bits(const unsigned char *at) {
    uint64_t found = 0;
#if defined(__SSE2__) || defined(_M_X64)
    for (int i = 0; i < 4; i++)
        found |= (uint64_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(at + 16 * i))) << (16 * i);
#else
    for (int i = 0; i < 8; i++) {
        uint64_t x;
        memcpy(&x, at + 8 * i, 8);
        found |= ((x >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56) << (8 * i);
    }
#endif
    return found;
}

static unsigned char BITS[256][8], N_BITS[256];     /* of a byte: the places of its ones, and how many there are */

static void map_bits(void) {
    for (int byte = 0; byte < 256; byte++)
        for (int i = 0; i < 8; i++)
            if (byte >> i & 1) BITS[byte][N_BITS[byte]++] = i;
}

/* Writes base + the places of the ones, and up to 7 numbers more; returns where the next goes. No branch hangs on bits. */
static inline int32_t *places(uint64_t bits, int32_t base, int32_t *at) {
    for (int k = 0; k < 8; k++, bits >>= 8, base += 8) {
        unsigned char found[8];
        memcpy(found, BITS[bits & 255], 8);
        for (int i = 0; i < 8; i++) at[i] = base + found[i];
        at += N_BITS[bits & 255];
    }
    return at;
}

/* Starts and ends, in turn, of the runs of flagged bytes among n; where `longer`, of two bytes and more. */
CLONED static int32_t *edges_of(const unsigned char *flags, int64_t n, int longer, int32_t *edge) {
    uint64_t before = 0, here, after = top_bits(flags);
    for (int64_t base = 0; base <= n; base += 64) {
        here = after;
        after = top_bits(flags + base + 64);
        if (longer) here &= here << 1 | here >> 1 | before | after << 63;
        edge = places(here ^ (here << 1 | before), (int32_t)base, edge);
        before = here >> 63;
    }
    return edge;
}

/* Puts n tokens in line, the i-th from the start of unit i to the end of the one `span` further on. Those that are too long
   for that are listed instead. Returns how many are in line. */
static inline int line_up(Waiting *w, int lined, const unsigned char *text, const int32_t *edges, int n, int span,
                          int *longer, int *n_longer) {
    static const uint32_t ones[2 * WORDS] = {~0u, ~0u, ~0u, ~0u};
    for (int i = 0; i < n; i++) {
        uint32_t size = (uint32_t)(edges[2 * (i + span) + 1] - edges[2 * i]);
        uint64_t bytes[2], kept[2];
        longer[*n_longer] = i;
        if (size > 4 * WORDS) { ++*n_longer; continue; }
        memcpy(bytes, text + edges[2 * i], 16);
        memcpy(kept, (const unsigned char *)(ones + WORDS) - size, 16);
        bytes[0] &= kept[0];
        bytes[1] &= kept[1];
        memcpy(w->words[lined], bytes, 16);
        w->size[lined] = size;
        lined++;
    }
    return lined;
}

/* Of 64 slots of two numbers, the first in the lowest place: whether the first number is not 0. */
static inline uint64_t in_use(const uint32_t *slots) {
    uint64_t empty = 0;
#if defined(__SSE2__) || defined(_M_X64)
    for (int i = 0; i < 4; i++, slots += 32) {
        __m128i four[4];
        for (int j = 0; j < 4; j++) {
            const float *at = (const float *)(slots + 8 * j);
            __m128 low = _mm_loadu_ps(at), high = _mm_loadu_ps(at + 4);
            four[j] = _mm_cmpeq_epi32(_mm_castps_si128(_mm_shuffle_ps(low, high, 0x88)), _mm_setzero_si128());
        }
        empty |= (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(four[0], four[1]),
                                                             _mm_packs_epi32(four[2], four[3]))) << (16 * i);
    }
#else
    for (int i = 0; i < 64; i++) empty |= (uint64_t)(slots[2 * i] == 0) << i;
#endif
    return ~empty;
}

/* The places of the slots in use among n, a multiple of 64, and of those that stand without a gap behind them. */
CLONED static int32_t *all_in_use(const uint32_t *slots, int64_t n, int32_t *at) {
    for (int64_t base = 0; base < n || slots[2 * base]; base += 64)
        at = places(in_use(slots + 2 * base), (int32_t)base, at);
    return at;
}

/* MurmurHash3 of the tokens in line, and what follows from it: |h| as int32 (2^31 for -2^31), and the sign. */
CLONED static void hash_all(Waiting *w, int n, uint32_t mask, int signs) {
    n = (n + 7) / 8 * 8;
    for (int i = 0; i < n; i++) {
        uint32_t size = w->size[i], h = 0, m;
        for (int k = 0; k < WORDS; k++) {           /* a word that is not whole is the tail, and zeros are nothing */
            h ^= scramble(w->words[i][k]);
            m = (h << 13 | h >> 19) * 5 + 0xe6546b64;
            h = size >= 4 * (uint32_t)k + 4 ? m : h;
        }
        h ^= size;
        h = (h ^ h >> 16) * 0x85ebca6b;
        h = (h ^ h >> 13) * 0xc2b2ae35;
        h ^= h >> 16;
        m = 0 - (h >> 31);
        w->column[i] = ((h ^ m) - m) & mask;
        w->sign[i] = 1 + (int32_t)(m & signs) * 2;
    }
}
