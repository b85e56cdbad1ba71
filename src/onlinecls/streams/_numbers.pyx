"""Numbers of many digits or large exponents. D. Lemire, Number parsing at a gigabyte per second (2021), section 5."""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, void* overflow_exception)

cdef enum:
    SMALLEST = -307         # powers of ten; numbers beyond, such as subnormals, are left to Python
    LARGEST = 288

cdef uint64_t[LARGEST - SMALLEST + 1] POWERS        # 5^q, its leading 64 bits


def _leading_bits(q):
    """Return the first 64 of 128 bits of 5^q, these cut off for q >= 0, rounded up for q < 0, as the proof requires."""
    power = 5 ** abs(q)
    bits = (power << 128) >> power.bit_length() if q >= 0 else (1 << (power.bit_length() + 127)) // power + 1
    return bits >> 64


for q in range(SMALLEST, LARGEST + 1):
    POWERS[q - SMALLEST] = _leading_bits(q)


cdef inline uint64_t product(uint64_t a, uint64_t b, uint64_t* low) noexcept nogil:
    """Compute a * b in 128 bits; return the high half, and set low to the low half."""
    cdef uint64_t a0 = <uint32_t>a, a1 = a >> 32, b0 = <uint32_t>b, b1 = b >> 32
    cdef uint64_t cross = (a0 * b0 >> 32) + <uint32_t>(a1 * b0) + a0 * b1
    low[0] = a * b
    return a1 * b1 + (a1 * b0 >> 32) + (cross >> 32)


cdef double far_number(uint64_t digits, int64_t exponent, bint whole, const unsigned char* text) noexcept nogil:
    """Return digits * 10^exponent, rounded to nearest even. text : the number without sign; whole : digits has all of it."""
    cdef uint64_t high, low, mantissa
    cdef int64_t power
    cdef int shifted = 0, top
    cdef double value
    cdef char* end
    if whole and digits == 0:
        return 0.0
    if whole and SMALLEST <= exponent <= LARGEST:
        while not digits >> 63:
            digits <<= 1
            shifted += 1
        high = product(digits, POWERS[exponent - SMALLEST], &low)
        top = high >> 63
        mantissa = high >> (top + 9)        # 54 bits: a double's 53 and one to round by
        power = ((217706 * exponent) >> 16) + 63 + top - shifted
        # Exact unless what the power's further bits add may reach the bits that count, or it may lie half-way between doubles.
        if (high & 0x1FF) != 0x1FF and not (low <= 1 and mantissa << (top + 9) == high) and -1022 < power < 1023:
            mantissa = (mantissa + (mantissa & 1)) >> 1
            if mantissa >> 53:
                mantissa >>= 1
                power += 1
            mantissa = (mantissa & ((<uint64_t>1 << 52) - 1)) | <uint64_t>(power + 1023) << 52
            memcpy(&value, &mantissa, 8)
            return value
    with gil:
        return PyOS_string_to_double(<const char*>text, &end, NULL)


def parse(bytes text):
    """Return the result of `read_number` for tests: (number, bytes read), or None."""
    cdef bytes line = text + b"\n"
    cdef const unsigned char* start = line
    cdef double value
    cdef const unsigned char* behind = read_number(start, &value)
    return None if behind is NULL else (value, behind - start)
