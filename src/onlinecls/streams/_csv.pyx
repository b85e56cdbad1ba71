"""Whole rows of CSV, split as pyarrow splits them; rows that it would refuse are refused here, with their place."""
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp, memcpy, memmove

import numpy as np

from ._lines cimport Found, LineParser, NOTHING, sized

from ._lines import BEHIND

cdef enum:
    QUOTE = 34
    CR = 13


cdef class CsvParser(LineParser):
    """Collect the bytes of rows, without blank lines and repeated headers; `rows` returns them.

    A row is malformed if no quote closes a field within max_bytes, or if it has too many fields or too few. Where it goes over
    several lines, `again` returns them, to be read `alone`, each a row of its own.
    """
    cdef public bint alone
    cdef Py_ssize_t max_bytes, n_fields, n_head, n_found     # the last: fields of the row so far
    cdef unsigned char delimiter
    cdef bytes header, wanted
    cdef const char* head
    cdef const char* fields
    cdef bint is_open                                       # the row goes on in the next line
    cdef Py_ssize_t row_at, row_line, size, capacity        # where the row begins; bytes of the text
    cdef unsigned char* text
    cdef int64_t* lines                                     # in which rows begin

    def __init__(self, labels, Py_ssize_t batch_rows, Py_ssize_t batch_bytes, Py_ssize_t max_bytes):
        LineParser.__init__(self, labels, min(batch_rows, batch_bytes), batch_bytes)
        self.max_bytes = max_bytes
        self.lines = <int64_t*>sized(self.lines, self.batch_rows * sizeof(int64_t))

    def __dealloc__(self):
        free(self.text)
        free(self.lines)

    def begin_rows(self, bytes header, Py_ssize_t n_fields, str delimiter, Py_ssize_t n_lines):
        """Begin the rows of a file behind n_lines. header : a line that is left out."""
        self.header, self.n_fields, self.delimiter, self.line_number = header, n_fields, ord(delimiter), n_lines
        self.wanted = f"{n_fields} field{'s' * (n_fields > 1)}".encode()
        self.head, self.n_head, self.fields = self.header, len(header), self.wanted

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? Found.FAULT nogil:
        cdef const unsigned char* p = line
        cdef const unsigned char* quote = line
        cdef bint is_quoted = self.is_open, begins = not is_quoted, goes_on, is_row
        cdef Py_ssize_t n = 0
        if not self.is_open:
            while p < end and p[0] == 32:
                p += 1
            if p == end or (end - line == self.n_head and memcmp(line, self.head, self.n_head) == 0):
                return NOTHING
            p = line
            self.row_at, self.row_line, self.n_found = self.size, self.line_number, 1
        if not is_quoted and memchr(line, QUOTE, end - line) is NULL:
            while p < end:
                n += p[0] == self.delimiter
                p += 1
            p = <const unsigned char*>memchr(line, CR, end - line)
            p = end if p is NULL else p
        else:
            while p < end:
                if is_quoted:
                    p = <const unsigned char*>memchr(p, QUOTE, end - p)
                    if p is NULL:
                        p = end
                        break
                    is_quoted = p + 1 < end and p[1] == QUOTE
                    p += is_quoted
                elif p[0] == QUOTE and begins:
                    is_quoted, quote = True, p
                elif p[0] == CR:
                    break
                begins = not is_quoted and p[0] == self.delimiter
                n += begins
                p += 1
        self.n_found += n
        goes_on = is_quoted and not self.alone
        is_row = p == end and not is_quoted and self.n_found == self.n_fields
        if self.is_open or goes_on or is_row:
            self._keep(line, end, is_row)
        if self.is_open and (not (goes_on or is_row) or self.size - self.row_at > self.max_bytes + 1):
            return Found.AGAIN
        self.is_open = goes_on
        if goes_on:
            return Found.ROW
        if not is_row:
            if p < end:
                return self.fault(p, b"quotes around a field with a carriage return")
            return self.fault(quote, b"a quote at the end of the field") if is_quoted else self.fault(line, self.fields)
        self.lines[self.n_rows] = self.row_line
        self.n_rows, self.nnz = self.n_rows + 1, self.size
        return Found.ROW

    cdef int _keep(self, const unsigned char* line, const unsigned char* end, bint is_row) except -1 nogil:
        """Append a line to the text; if it does not end a row, with the carriage return at its end."""
        cdef Py_ssize_t n
        while not is_row and end[0] != 10:
            end += 1
        n = end - line
        if self.size + n + 1 > self.capacity:
            self.text = <unsigned char*>sized(self.text, 2 * (self.size + n + 1))
            self.capacity = 2 * (self.size + n + 1)
        memcpy(self.text + self.size, line, n)
        self.text[self.size + n] = 10
        self.size += n + 1
        return 0

    def again(self):
        """Return the lines of a row that goes on, and the bytes behind a block; forget the row."""
        lines = b""
        if self.is_open:
            lines = self.text[self.row_at:self.size] + bytes(BEHIND)
            self.size, self.line_number, self.is_open = self.row_at, self.row_line - 1, False
        return lines

    def rows(self):
        """Return the text of the rows and the number of the line in which each begins; begin a new batch."""
        cdef int64_t[::1] numbers
        cdef Py_ssize_t k
        text, lines = self.text[:self.nnz], np.empty(self.n_rows, np.int64)
        numbers = lines
        for k in range(self.n_rows):
            numbers[k] = self.lines[k]
        self.size -= self.nnz
        if self.size:                           # of a row that goes on
            memmove(self.text, self.text + self.nnz, self.size)
        self.row_at = self.n_rows = self.nnz = 0
        if self.capacity > 4 * self.batch_nnz and not self.size:
            free(self.text)
            self.text, self.capacity = NULL, 0
        return text, lines
