"""Whole rows of CSV, split as pyarrow splits them; rows that it would refuse are refused here, with their place."""
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp, memcpy

import numpy as np

from ._lines cimport Found, LineParser, NOTHING, sized

cdef enum:
    LF = 10
    CR = 13
    QUOTE = 34


cdef class CsvParser(LineParser):
    """Collect the bytes of rows, without blank lines and repeated headers; `rows` returns them.

    A row is malformed if no quote closes a field in a block that can have no more bytes, or if it has too many fields or too few.
    Where it goes over several lines, each of them is then read as a row of its own.
    """
    cdef Py_ssize_t n_fields, n_head, capacity
    cdef unsigned char delimiter
    cdef bytes header, wanted
    cdef const char* head
    cdef const char* fields
    cdef unsigned char* text
    cdef int64_t[::1] lines                 # in which rows begin

    def __init__(self, labels, Py_ssize_t batch_rows, Py_ssize_t batch_bytes):
        LineParser.__init__(self, labels, min(batch_rows, batch_bytes), batch_bytes)
        self.lines = np.empty(self.batch_rows, np.int64)

    def __dealloc__(self):
        free(self.text)

    def begin_rows(self, bytes header, Py_ssize_t n_fields, str delimiter, Py_ssize_t n_lines):
        """Begin the rows of a file behind n_lines. header : a line that is left out."""
        self.header, self.n_fields, self.delimiter, self.line_number = header, n_fields, ord(delimiter), n_lines
        self.wanted = f"{n_fields} field{'s' * (n_fields > 1)}".encode()
        self.head, self.n_head, self.fields = self.header, len(header), self.wanted

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? Found.FAULT nogil:
        cdef const unsigned char* p = line
        cdef const unsigned char* quote = line
        cdef bint is_quoted = False, begins = True, is_alone = line < self.block + self.alone
        cdef const unsigned char* stop = self.block + (self.position if is_alone else self.stop)
        cdef Py_ssize_t n = 1
        while p < end and p[0] == 32:
            p += 1
        if p == end or (end - line == self.n_head and memcmp(line, self.head, self.n_head) == 0):
            return NOTHING
        p = line
        if memchr(line, QUOTE, end - line) is NULL:
            while p < end:
                n += p[0] == self.delimiter
                p += 1
            p = <const unsigned char*>memchr(line, CR, end - line)
            p = end if p is NULL else p
        else:
            while is_quoted or not (p[0] == LF or p[0] == CR):
                if is_quoted:
                    p = <const unsigned char*>memchr(p, QUOTE, stop - p)
                    if p is NULL:
                        break
                    is_quoted = p[1] == QUOTE
                    p += is_quoted
                elif p[0] == QUOTE and begins:
                    is_quoted, quote = True, p
                begins = not is_quoted and p[0] == self.delimiter
                n += begins
                p += 1
        if p is NULL and not is_alone and line >= self.block + self.final:
            return Found.UNFINISHED
        if p is not NULL and n == self.n_fields and (p[0] == LF or p[1] == LF):
            self._keep(line, p)
            return Found.ROW
        if not is_alone and (p is NULL or p > end):
            self.alone = (stop if p is NULL else p) - self.block
            return self.parse(line, end)
        if p is NULL:
            return self.fault(quote, b"a quote at the end of the field")
        if p < end:
            return self.fault(p, b"quotes around a field with a carriage return")
        return self.fault(line, self.fields)

    cdef int _keep(self, const unsigned char* line, const unsigned char* end) except -1 nogil:
        """Append a row to the text, and go on behind its last line."""
        cdef Py_ssize_t n = end - line, k
        self.lines[self.n_rows] = self.line_number
        self.n_rows += 1
        if self.nnz + n + 1 > self.capacity:
            self.text = <unsigned char*>sized(self.text, 2 * (self.nnz + n + 1))
            self.capacity = 2 * (self.nnz + n + 1)
        memcpy(self.text + self.nnz, line, n)
        self.text[self.nnz + n] = LF
        self.nnz += n + 1
        k, self.position = self.position, max(self.position, end - self.block + (1 if end[0] == LF else 2))
        for k in range(k, self.position):
            self.line_number += self.block[k] == LF
        return 0

    def rows(self):
        """Return the text of the rows and the number of the line in which each begins; begin a new batch."""
        text, lines = self.text[:self.nnz], np.array(self.lines[:self.n_rows])
        self.n_rows = self.nnz = 0
        if self.capacity > 4 * self.batch_nnz:
            free(self.text)
            self.text, self.capacity = NULL, 0
        return text, lines
