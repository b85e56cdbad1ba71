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


cdef inline uint32_t murmur3(const unsigned char* key, Py_ssize_t n, uint32_t seed) noexcept nogil:
    """Return the hash of n bytes."""
    cdef uint32_t tail = 0
    cdef Py_ssize_t k, n_whole = n & ~<Py_ssize_t>3
    for k in range(0, n_whole, 4):
        seed = mixed(seed, block_at(key + k))
    if n >= 4:                          # without a loop, whose end would be mispredicted
        return finished(seed, <uint32_t>(<uint64_t>block_at(key + n - 4) >> (32 - 8 * (n & 3))), n)
    for k in range(n - 1, -1, -1):
        tail = (tail << 8) | key[k]
    return finished(seed, tail, n)
