"""MurmurHash3, 32 bits (A. Appleby's x86_32, public domain): the hash of scikit-learn's HashingVectorizer and of VW."""
from libc.stdint cimport uint32_t
from libc.string cimport memcpy


cdef inline uint32_t rotated(uint32_t x, int by) noexcept nogil:
    return (x << by) | (x >> (32 - by))


cdef inline uint32_t scrambled(uint32_t block) noexcept nogil:
    return rotated(block * <uint32_t>0xcc9e2d51, 15) * <uint32_t>0x1b873593


cdef inline uint32_t murmur3(const unsigned char* key, Py_ssize_t n, uint32_t seed) noexcept nogil:
    """The hash of n bytes. Blocks are read as the machine orders them: little-endian machines agree with the definition."""
    cdef uint32_t h = seed, block, tail = 0
    cdef Py_ssize_t i, n_whole = n & ~<Py_ssize_t>3
    for i in range(0, n_whole, 4):
        memcpy(&block, key + i, 4)
        h = rotated(h ^ scrambled(block), 13) * 5 + <uint32_t>0xe6546b64
    for i in range(n - 1, n_whole - 1, -1):
        tail = (tail << 8) | key[i]
    h ^= scrambled(tail)                # scrambled(0) is 0
    h ^= <uint32_t>n
    h = (h ^ (h >> 16)) * <uint32_t>0x85ebca6b
    h = (h ^ (h >> 13)) * <uint32_t>0xc2b2ae35
    return h ^ (h >> 16)
