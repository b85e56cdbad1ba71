"""A parser of ``label<TAB>text`` that hashes the text without making a Python object of a line."""
from libc.string cimport memchr, memcmp

from .._hashing.hasher cimport RowHasher
from ._lines cimport Found, LineParser, NOTHING, after_blanks

from .._rows import Rows


cdef class TsvParser(LineParser):
    """hasher : None, texts are collected for a vectorizer that is not compiled. header : a line that is left out.

    is_fasttext : labels are words that begin with __label__, before the text.
    """
    cdef RowHasher hasher
    cdef object rows_of                 # what makes rows of collected texts
    cdef list texts
    cdef bint is_fasttext
    cdef bytes header
    cdef const char* head
    cdef Py_ssize_t n_head

    def __init__(self, labels, batch_rows, batch_nnz, RowHasher hasher, rows_of, bint is_fasttext, bytes header):
        LineParser.__init__(self, labels, batch_rows, batch_nnz)
        self.hasher, self.rows_of, self.texts, self.is_fasttext, self.header = hasher, rows_of, [], is_fasttext, header
        self.head, self.n_head = header, len(header)

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? Found.FAULT nogil:
        cdef const unsigned char* tab
        if after_blanks(line) == end or (end - line == self.n_head and memcmp(line, self.head, self.n_head) == 0):
            return NOTHING
        if self.is_fasttext:
            line = self.after_labels(after_blanks(line), end)
            if line is NULL:
                return Found.FAULT
        else:
            tab = <const unsigned char*>memchr(line, 9, end - line)
            if not self.labels.unread:
                if tab is NULL:
                    return self.fault(end, b"a tab between label and text (labels=None reads lines without)")
                if tab == line:
                    return self.fault(line, b"a label before the tab (labels=None reads lines without)")
                if not self.labels.put(self.n_rows, line, tab):
                    return self.fault(line, self.labels.expected)
            line = line if tab is NULL else tab + 1
        self.where = line
        if self.hasher is None:
            with gil:
                self.texts.append(line[:end - line].decode())
            self.n_rows, self.nnz = self.n_rows + 1, self.nnz + (end - line)
        else:
            self.hasher.add(line, end - line)
            self.n_rows, self.nnz = self.hasher.n_rows, self.hasher.nnz
        return Found.ROW

    cdef const unsigned char* after_labels(self, const unsigned char* p, const unsigned char* end) except? NULL nogil:
        """Read the labels of a line of fastText; return the place behind them, NULL for a fault."""
        cdef const unsigned char* start
        cdef Py_ssize_t n_labels = 0
        while end - p >= 9 and memcmp(p, b"__label__", 9) == 0:
            start = p
            while p < end and p[0] != 32 and p[0] != 9:
                p += 1
            n_labels += 1
            if not self.labels.unread and n_labels > 1:
                self.fault(start, b"one label a line")
                return NULL
            if not self.labels.put(self.n_rows, start + 9, p):
                self.fault(start, self.labels.expected)
                return NULL
            p = after_blanks(p)
        if n_labels == 0 and not self.labels.unread:
            self.fault(p, b"a label that begins with __label__ (labels=None reads lines without)")
            return NULL
        return p

    def take(self):
        """Return the batch as (rows, labels, None for the weights), and begin a new one."""
        cdef RowHasher made = self.hasher
        labels, n_rows, nnz, texts = self.labels.take(self.n_rows), self.n_rows, self.nnz, self.texts
        self.texts, self.n_rows, self.nnz = [], 0, 0
        if made is None:
            return self.rows_of(texts), labels, None
        made.n_rows = made.nnz = 0              # (its memory is kept: new memory would be touched anew)
        values, columns, ends = made.values[:nnz].copy(), made.columns[:nnz].copy(), made.ends[:n_rows + 1].copy()
        return Rows(values, columns, ends, n_rows, made.n_features), labels, None
