"""svmlight and libsvm: ``label [qid:id] index:value ... [# comment]``."""
from libc.math cimport fabs
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memchr, memcmp

from ._lines cimport EntryParser, Found, NOTHING, after_blanks, push
from ._numbers cimport is_digit, read_number

cdef enum:
    MAX_DIGITS = 18         # of an index, which then fits 63 bits

cdef char* PAST = b"an index < n_features (give a larger one, or zero_based=False if indices start at 1)"


cdef inline bint is_over(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """Return True if a field ends at p."""
    return p == end or p[0] == 32 or p[0] == 9 or p[0] == 35


cdef class SvmlightParser(EntryParser):
    cdef int64_t first              # the index of column 0

    def __init__(self, labels, batch_rows, batch_nnz, n_features, dtype, int64_t first):
        EntryParser.__init__(self, labels, batch_rows, batch_nnz, n_features, dtype)
        self.first = first

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? Found.FAULT nogil:
        cdef const unsigned char* p = after_blanks(line)
        cdef const unsigned char* field = p
        cdef const unsigned char* behind
        cdef uint64_t digits             # unsigned, as too long an index overflows
        cdef int64_t index, last = -1
        cdef double value
        cdef bint in_order = True
        if p == end or p[0] == 35:                  # '#'
            return NOTHING
        while not is_over(p, end) and p[0] != 58:
            p += 1
        if p[0] != 58:
            if self.labels.texts and memchr(field, 44, p - field) is not NULL:
                return self.fault(field, b"one label (several, with commas between, are of another task)")
            if not self.labels.put(self.n_rows, field, p):
                return self.fault(field, self.labels.expected)
        elif not self.labels.unread:
            return self.fault(field, b"a label before the first index (labels=None reads lines without)")
        else:
            p = field
        self.at = self.nnz
        while True:
            p = after_blanks(p)
            if p == end or p[0] == 35:
                break
            field = p
            if memcmp(p, b"qid:", 4) == 0:          # (bytes behind the line may be read)
                while not is_over(p, end):
                    p += 1
                continue
            digits = 0
            while is_digit(p[0]):
                digits = digits * 10 + (p[0] - 48)
                p += 1
            if p == field:
                return self.fault(p, b"an index, a whole number >= 0")
            if p - field > MAX_DIGITS:
                return self.fault(field, b"an index of at most 18 digits")
            if p[0] != 58:
                return self.fault(p, b"':' after an index")
            p += 1
            behind = read_number(p, &value)
            if behind is NULL or not is_over(behind, end) or not fabs(value) < self.too_large:
                return self.fault(p, b"a finite number after ':', then a blank")
            p = behind
            index = <int64_t>digits - self.first
            if index < 0:
                return self.fault(field, b"an index >= 1, as in the lines before (0-based files: zero_based=True)")
            if index >= self.n_features:
                return self.fault(field, PAST)
            in_order &= index > last
            last = index
            push(self, index, value)
        return self.end_row(line, in_order)
