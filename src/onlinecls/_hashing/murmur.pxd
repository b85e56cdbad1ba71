"""MurmurHash3, 32 bits (A. Appleby's x86_32, public domain): the hash of scikit-learn's HashingVectorizer and of VW."""
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy


cdef inline uint32_t rotated(uint32_t x, int by) noexcept nogil:
    return (x << by) | (x >> (32 - by))


cdef inline uint32_t scrambled(uint32_t block) noexcept nogil:
    return rotated(block * <uint32_t>0xcc9e2d51, 15) * <uint32_t>0x1b873593


cdef inline uint32_t mixed(uint32_t h, uint32_t block) noexcept nogil:
    """Return the state after one more whole block."""
    return rotated(h ^ scrambled(block), 13) * 5 + <uint32_t>0xe6546b64


cdef inline uint32_t finished(uint32_t h, uint32_t tail, Py_ssize_t n) noexcept nogil:
    """Return the hash of n bytes from the state after their whole blocks and the rest of at most three bytes."""
    h ^= scrambled(tail)                # scrambled(0) is 0
    h ^= <uint32_t>n
    h = (h ^ (h >> 16)) * <uint32_t>0x85ebca6b
    h = (h ^ (h >> 13)) * <uint32_t>0xc2b2ae35
    return h ^ (h >> 16)


cdef inline uint32_t block_at(const unsigned char* key) noexcept nogil:
    """Return four bytes as a number in the machine's order, which the definition wants to be little-endian."""
    cdef uint32_t block
    memcpy(&block, key, 4)
    return block


cdef inline uint32_t continued(uint32_t h, const unsigned char* key, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """Return the hash of n bytes from the state after the first i, which are whole blocks."""
    cdef uint32_t tail = 0
    cdef Py_ssize_t k, n_whole = n & ~<Py_ssize_t>3
    for i in range(i, n_whole, 4):
        h = mixed(h, block_at(key + i))
    if n >= 4:                          # without a loop, whose end would be mispredicted
        return finished(h, <uint32_t>(<uint64_t>block_at(key + n - 4) >> (32 - 8 * (n & 3))), n)
    for k in range(n - 1, -1, -1):
        tail = (tail << 8) | key[k]
    return finished(h, tail, n)


cdef inline uint32_t murmur3(const unsigned char* key, Py_ssize_t n, uint32_t seed) noexcept nogil:
    """Return the hash of n bytes."""
    return continued(seed, key, 0, n)


cdef inline (uint32_t, uint32_t) murmur3_of_two(const unsigned char* a, Py_ssize_t n_a, const unsigned char* b,
                                                Py_ssize_t n_b) noexcept nogil:
    """Return the hashes of two keys, seed 0, interleaved: each block of one key depends on the block before it."""
    cdef uint32_t of_a = 0, of_b = 0
    cdef Py_ssize_t i, n_both = min(n_a, n_b) & ~<Py_ssize_t>3
    for i in range(0, n_both, 4):
        of_a = mixed(of_a, block_at(a + i))
        of_b = mixed(of_b, block_at(b + i))
    return continued(of_a, a, n_both, n_a), continued(of_b, b, n_both, n_b)
