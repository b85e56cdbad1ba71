/* Loops over many bytes or tokens at once, with versions for AVX2 where the compiler can make them; in plain C with
   ONLINECLS_PORTABLE. */
#include <stdint.h>
#include <string.h>
#if (defined(__SSE2__) || defined(_M_X64)) && !defined(ONLINECLS_PORTABLE)
#define HAVE_SSE2
#include <emmintrin.h>
#endif
#ifdef _MSC_VER
#define restrict __restrict
#define INLINE static __forceinline
#else
#define INLINE static inline __attribute__((always_inline))
#endif
#define QUEUE 128
#define STRETCH 32
#define LONGEST 16          /* bytes of a token that is hashed in the queue */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define CLONED __attribute__((target_clones("avx2", "default")))
#else
#define CLONED
#endif

/* A queue of tokens to be hashed: the first 16 bytes of each, and the numbers of those that are longer. */
typedef struct {
    uint64_t low[QUEUE], high[QUEUE];
    int32_t start[QUEUE], size[QUEUE], sign[QUEUE], longer[QUEUE + 1];
    uint32_t column[QUEUE];
    int n, n_longer;
} Queue;

static inline uint32_t scramble(uint32_t b) { b *= 0xcc9e2d51; return (b << 15 | b >> 17) * 0x1b873593; }

/* Lower-cases a stretch and flags bytes in words (else: in white space); returns 0 if it is not ASCII: both are wrong. */
INLINE int fold_stretch(const unsigned char *text, unsigned char *restrict out, unsigned char *restrict flags, int lower,
                        int words) {
    unsigned char any = 0, bit = lower ? 0x20 : 0;
    for (int i = 0; i < STRETCH; i++) any |= text[i];
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
    return any < 0x80;
}

INLINE uint32_t point(const void *points, int64_t i, int width) {
    return width == 1 ? ((const uint8_t *)points)[i] : width == 2 ? ((const uint16_t *)points)[i] : ((const uint32_t *)points)[i];
}

/* Narrows a stretch of code points of `width` bytes to bytes; returns 0 if they are not ASCII. */
INLINE int narrow(const void *points, int64_t at, int width, unsigned char *restrict out) {
    uint32_t any = 0;
    for (int i = 0; i < STRETCH; i++) any |= point(points, at + i, width);
    for (int i = 0; i < STRETCH; i++) out[i] = (unsigned char)point(points, at + i, width);
    return any < 0x80;
}

/* Lower-cases and flags n code points of `width` bytes, to the first that is not ASCII; returns how many (0 of a short text). */
CLONED static int64_t fold(const void *points, int64_t n, int width, unsigned char *restrict out, unsigned char *restrict flags,
                           int lower, int words) {
    for (int64_t at = 0; at < n; at += STRETCH) {
        unsigned char bytes[STRETCH];
        int64_t from = at + STRETCH <= n ? at : n - STRETCH;       /* the last stretch overlaps the one before */
        int ascii = 1;
        if (from < 0) return 0;
        if (width > 1) ascii = width == 2 ? narrow(points, from, 2, bytes) : narrow(points, from, 4, bytes);
        const unsigned char *text = width > 1 ? bytes : (const unsigned char *)points + from;
        if (!(fold_stretch(text, out + from, flags + from, lower, words) & ascii)) {
            while (point(points, at, width) < 0x80) at++;
            return at;
        }
    }
    return n;
}

/* Returns the top bits of 64 bytes, the first in the lowest place. */
static inline uint64_t top_bits(const unsigned char *at) {
    uint64_t found = 0;
#if defined(HAVE_SSE2)
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

static unsigned char BITS[256][8], N_BITS[256];     /* for each byte value: the places of its ones, and their number */

static void map_bits(void) {
    for (int byte = 0; byte < 256; byte++)
        for (int i = 0; i < 8; i++)
            if (byte >> i & 1) BITS[byte][N_BITS[byte]++] = i;
}

/* Writes base + the places of the ones, and up to 7 numbers more, without a branch on the bits; returns the end of the list. */
static inline int32_t *places(uint64_t bits, int32_t base, int32_t *at) {
    for (int k = 0; k < 8; k++, bits >>= 8, base += 8) {
        unsigned char found[8];
        memcpy(found, BITS[bits & 255], 8);
        for (int i = 0; i < 8; i++) at[i] = base + found[i];
        at += N_BITS[bits & 255];
    }
    return at;
}

/* Writes starts and ends, in turn, of the runs of ones in 64 bits between others; if `longer`, only of runs of two and more. */
static inline int32_t *edges_in(uint64_t *before, uint64_t here, uint64_t after, int longer, int64_t base, int32_t *edge) {
    if (longer) here &= here << 1 | here >> 1 | *before | after << 63;
    edge = places(here ^ (here << 1 | *before), (int32_t)base, edge);
    *before = here >> 63;
    return edge;
}

/* Writes starts and ends, in turn, of the runs of flagged bytes among n; if `longer`, only of runs of two and more. */
CLONED static int32_t *edges_of(const unsigned char *flags, int64_t n, int longer, int32_t *edge) {
    uint64_t before = 0, here, after = top_bits(flags);
    for (int64_t base = 0; base <= n; base += 64) {
        here = after;
        after = top_bits(flags + base + 64);
        edge = edges_in(&before, here, after, longer, base, edge);
    }
    return edge;
}

/* Lower-cases a text of ASCII and finds the edges of its words in one pass; returns NULL if the text is not ASCII. */
CLONED static int32_t *ascii_words(const unsigned char *text, int64_t n, unsigned char *restrict out, int lower, int longer,
                                   int32_t *edge) {
    unsigned char flags[64], rest[64];
    uint64_t before = 0, here = 0, after;
    for (int64_t base = 0; base <= n + 64; base += 64, here = after) {      /* finds the edges in the 64 bytes before */
        after = 0;
        if (base < n) {
            const unsigned char *at = text + base;
            if (base + 64 > n) at = memcpy(memset(rest, 0, 64), at, n - base);
            if (!(fold_stretch(at, out + base, flags, lower, 1) & fold_stretch(at + 32, out + base + 32, flags + 32, lower, 1)))
                return NULL;
            after = top_bits(flags);
        }
        if (base) edge = edges_in(&before, here, after, longer, base - 64, edge);
    }
    return edge;
}

/* Appends n tokens to the queue; the i-th goes from the start of unit i to the end of unit i + span. Zeros replace the bytes
   behind it. */
INLINE void enqueue(Queue *w, const unsigned char *text, const int32_t *edges, int n, int span) {
    static const uint64_t first[8] = {
        ~0ull, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
    };
    const int32_t *ends = edges + 2 * span + 1;
    int32_t *longer = w->longer + w->n_longer;
    for (int64_t i = w->n, stop = i + n; i < stop; i++, edges += 2, ends += 2) {
        int64_t start = *edges;
        int32_t size = (int32_t)(*ends - start);
        uint64_t low, high, kept = first[size & 7];
        memcpy(&low, text + start, 8);
        memcpy(&high, text + start + 8, 8);
        w->start[i] = (int32_t)start;
        w->size[i] = size;
        w->low[i] = size > 8 ? low : low & kept;
        w->high[i] = size > 8 ? high & kept : 0;
        *longer = (int32_t)i;
        longer += size > LONGEST;
    }
    w->n += n;
    w->n_longer = (int)(longer - w->longer);
}

/* Returns a bit for each of 64 slots of two numbers, the first in the lowest place: 1 if the slot's first number is not 0. */
static inline uint64_t in_use(const uint32_t *slots) {
    uint64_t empty = 0;
#if defined(HAVE_SSE2)
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

/* Empties n slots, a multiple of 64, and those behind them without a gap: writes columns and counts sorted by column, and the
   sum of the counts' squares. Slots are nearly sorted. Returns how many were in use. `counts` must have room for 8 more. */
CLONED static int64_t drain(uint32_t *slots, int64_t n, int32_t *columns, int32_t *counts, int64_t *squares) {
    int32_t *at = counts, largest = -1;         /* first the places of the slots, which their counts then overwrite */
    int64_t n_used, sum = 0;
    for (int64_t base = 0; base < n || slots[2 * base]; base += 64) at = places(in_use(slots + 2 * base), (int32_t)base, at);
    n_used = at - counts;
    for (int64_t i = 0; i < n_used; i++) {
        uint32_t *slot = slots + 2 * (int64_t)counts[i];
        int32_t column = (int32_t)slot[0] - 1, count = (int32_t)slot[1];
        int64_t k = i;
        slot[0] = slot[1] = 0;
        if (column < largest)
            for (; k > 0 && columns[k - 1] > column; k--) columns[k] = columns[k - 1], counts[k] = counts[k - 1];
        else
            largest = column;
        columns[k] = column;
        counts[k] = count;
    }
    for (int64_t i = 0; i < n_used; i++) sum += (int64_t)counts[i] * counts[i];
    *squares = sum;
    return n_used;
}

/* Writes n counts divided by a number as floats (size 4) or doubles. */
CLONED static void divide(const int32_t *counts, int64_t n, double by, void *out, int size) {
    if (size == 4)
        for (int64_t i = 0; i < n; i++) ((float *)out)[i] = (float)((double)(float)counts[i] / by);
    else
        for (int64_t i = 0; i < n; i++) ((double *)out)[i] = counts[i] / by;
}

/* Computes h, the MurmurHash3 of each token in the queue, and from it the column, |h| & mask (2^31 for -2^31), and the sign. */
CLONED static void hash_all(Queue *w, uint32_t mask, int signs) {
    int n = (w->n + 7) / 8 * 8;
    for (int i = 0; i < n; i++) {
        uint32_t size = (uint32_t)w->size[i], h = 0, m;
        for (uint32_t k = 0; k < LONGEST / 4; k++) {    /* the last, partial word is the tail; zeros add nothing */
            h ^= scramble((uint32_t)((k < 2 ? w->low : w->high)[i] >> 32 * (k & 1)));
            m = (h << 13 | h >> 19) * 5 + 0xe6546b64;
            h = size >= 4 * k + 4 ? m : h;
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
