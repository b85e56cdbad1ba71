"""Decimal numbers, read where they stand: the same double as Python's float() to the last bit, whatever the locale."""
from libc.stdint cimport int64_t, uint64_t

cdef extern from "streams/_numbers.h":
    const double* POWERS_OF_TEN "onlinecls_powers_of_ten"

cdef double far_number(uint64_t digits, int64_t exponent, bint whole, const unsigned char* text) noexcept nogil


cdef inline bint is_digit(unsigned char c) noexcept nogil:
    return <unsigned char>(c - 48) < 10


cdef inline const unsigned char* read_number(const unsigned char* p, double* value) noexcept nogil:
    """Read the number at p; return a pointer behind it, or NULL if there is no number.

    [sign] digits [. digits] [e [sign] digits], digits on one side of the point at least; no nan, inf, hexadecimal or
    underscores. The number must be followed by a byte that cannot be part of it (a line ends with a newline).
    """
    cdef bint negative = p[0] == 45
    if negative or p[0] == 43:
        p += 1
    cdef const unsigned char* text = p
    cdef const unsigned char* behind
    cdef uint64_t digits = 0
    cdef int64_t exponent = 0, written = 0
    cdef bint small
    while is_digit(p[0]):
        digits = digits * 10 + (p[0] - 48)
        p += 1
    cdef Py_ssize_t n_digits = p - text
    if p[0] == 46:
        behind = p + 1
        p = behind
        while is_digit(p[0]):
            digits = digits * 10 + (p[0] - 48)
            p += 1
        exponent = behind - p
        n_digits += p - behind
    if n_digits == 0:
        return NULL
    if (p[0] | 32) == 101:                  # e, E
        behind = p + 1
        small = behind[0] == 45
        if small or behind[0] == 43:
            behind += 1
        if is_digit(behind[0]):
            while is_digit(behind[0]):
                if written < 1000000:
                    written = written * 10 + (behind[0] - 48)
                behind += 1
            exponent += -written if small else written
            p = behind
    # Clinger: a product or quotient of two exact doubles is rounded once, so that it is exact.
    if n_digits <= 19 and digits <= <uint64_t>1 << 53 and -22 <= exponent <= 22:
        if exponent < 0:
            value[0] = <double>digits / POWERS_OF_TEN[-exponent]
        else:
            value[0] = <double>digits * POWERS_OF_TEN[exponent]
    else:
        value[0] = far_number(digits, exponent, n_digits <= 19, text)
    if negative:
        value[0] = -value[0]
    return p
