"""Loops over many bytes or tokens at once, in C, so that the compiler can be asked for versions with AVX2."""
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "_hashing/lanes.h":
    enum: QUEUE
    enum: STRETCH
    ctypedef struct Waiting:
        uint32_t column[QUEUE]
        int32_t sign[QUEUE]
    int64_t fold(const unsigned char* text, int64_t n, unsigned char* out, unsigned char* flags, bint lower,
                 bint words) noexcept nogil
    void map_bits() noexcept nogil
    int32_t* edges_of(const unsigned char* flags, int64_t n, bint longer, int32_t* edge) noexcept nogil
    int32_t* all_in_use(const uint32_t* slots, int64_t n, int32_t* at) noexcept nogil
    int line_up(Waiting* w, int lined, const unsigned char* text, const int32_t* edges, int n, int span, int* longer,
                int* n_longer) noexcept nogil
    void hash_all(Waiting* w, int n, uint32_t mask, int signs) noexcept nogil
