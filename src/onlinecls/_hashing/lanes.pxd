"""Loops over many bytes or tokens at once, written in C so that the compiler can make versions with AVX2."""
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "_hashing/lanes.h":
    enum: QUEUE
    ctypedef struct Queue:
        uint32_t[QUEUE] column
        int32_t[QUEUE] sign, start, size, longer
        int n, n_longer
    int64_t fold(const void* points, int64_t n, int width, unsigned char* out, unsigned char* flags, bint lower,
                 bint words) noexcept nogil
    void map_bits() noexcept nogil
    int32_t* edges_of(const unsigned char* flags, int64_t n, bint longer, int32_t* edge) noexcept nogil
    int64_t drain(uint32_t* slots, int64_t n, int32_t* columns, int32_t* counts, int64_t* squares) noexcept nogil
    void divide(const int32_t* counts, int64_t n, double by, void* out, int size) noexcept nogil
    int32_t* ascii_words(const unsigned char* text, int64_t n, unsigned char* out, bint lower, bint longer,
                         int32_t* edge) noexcept nogil
    void enqueue(Queue* w, const unsigned char* text, const int32_t* edges, int n, int span) noexcept nogil
    void hash_all(Queue* w, uint32_t mask, int signs) noexcept nogil
