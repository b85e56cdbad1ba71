"""Declarations that all parsers of lines share: the rows and labels of the current batch, and the description of a fault."""
from libc.stdint cimport int32_t, int64_t, uint32_t


cdef enum Found:            # what a line holds
    NOTHING
    ROW
    FAULT
    EMPTY               # a line without a row, where labels are not read
    UNFINISHED          # the first line of a row that goes on behind the block


cdef struct Entry:          # a non-zero
    int64_t column
    double value


cdef class Labels:
    cdef bint numbers, texts, unread
    cdef double[::1] values
    cdef uint32_t* points                   # of all texts, one after the other
    cdef int64_t[::1] ends                  # of each of them
    cdef Py_ssize_t capacity
    cdef const char* expected
    # Read the text from p to end as the label of a row; return False, and set `expected`, if it is not a label.
    cdef bint put(self, Py_ssize_t row, const unsigned char* p, const unsigned char* end) except -1 nogil


cdef class LineParser:
    cdef Labels labels
    cdef Py_ssize_t batch_rows, batch_nnz
    cdef readonly Py_ssize_t n_rows, nnz    # of the batch
    cdef public Py_ssize_t line_number      # of the line that was read last
    cdef public bint waits, by_file         # True: more rows are awaited while a pipe is silent; a batch ends with its file
    cdef public Py_ssize_t final, alone     # rows that begin before these places do not go on behind the block, behind the line
    cdef public Py_ssize_t unread           # bytes at the end of the block, of a row that goes on behind it
    cdef const unsigned char* block
    cdef Py_ssize_t position, stop, line_at, line_end
    cdef const unsigned char* where         # the place of a fault, and what was expected there
    cdef const char* expected
    # Append the row of a line, behind whose end there is one more byte. A malformed line changes nothing.
    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil
    cdef Found fault(self, const unsigned char* where, const char* expected) noexcept nogil
    cdef Found _run(self) except? FAULT nogil


cdef class EntryParser(LineParser):
    cdef int64_t n_features
    cdef int high_digit                     # the shift to the highest 8 bits of a column
    cdef object dtype
    cdef double too_large                   # the least value that is infinite in the dtype
    cdef Entry* entries
    cdef Entry* spare                       # to sort with
    cdef Py_ssize_t capacity, spare_capacity, at    # at: where the next entry goes
    cdef int64_t[::1] ends                  # of the rows, behind a 0
    cdef Found end_row(self, const unsigned char* line, bint in_order) except? FAULT nogil
    cdef int _more(self) except -1 nogil
    cdef int _sort(self, Entry* row, Py_ssize_t n) except -1 nogil


cdef void* sized(void* block, Py_ssize_t n_bytes) except NULL nogil


cdef inline const unsigned char* after_blanks(const unsigned char* p) noexcept nogil:
    while p[0] == 32 or p[0] == 9:
        p += 1
    return p


cdef inline int push(EntryParser parser, int64_t column, double value) except -1 nogil:
    """Append a non-zero to the current row."""
    if parser.at == parser.capacity:
        parser._more()
    parser.entries[parser.at].column = column
    parser.entries[parser.at].value = value
    parser.at += 1
    return 0
