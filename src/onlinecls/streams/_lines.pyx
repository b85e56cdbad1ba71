"""Lines of text into the rows of a batch, without the GIL.

A parser is fed whole lines and stops when its batch is full, at a number of rows or of non-zeros: the ends of batches depend on
the lines alone, not on the blocks in which they are read.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcpy, memset

import numpy as np

from ._numbers cimport read_number

from .._rows import Rows

cdef enum:
    BEHIND_BYTES = 8            # bytes of any value behind the end of a block that may be read
    LONGEST = 4096              # characters of a label, `validate.LONGEST_LABEL`
    FEW = 24                    # entries that sort faster by insertion

BEHIND = BEHIND_BYTES
BLANK = (0, None)           # a "fault" of column 0: a line without a row


cdef void* sized(void* block, Py_ssize_t n_bytes) except NULL nogil:
    """Call realloc; raise MemoryError if it fails."""
    cdef void* moved = realloc(block, n_bytes)
    if moved is NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of a batch")
    return moved


# --- labels --------------------------------------------------------------------------------------------------------------------

cdef inline Py_ssize_t decoded(const unsigned char* p, const unsigned char* end, uint32_t* points) noexcept nogil:
    """Decode UTF-8 to code points and return how many there are; -1 if it is not UTF-8."""
    cdef Py_ssize_t m = 0, n, k
    cdef uint32_t c
    while p < end:
        c = p[0]
        n = 1
        if c >= 0x80:
            n = 2 if c < 0xE0 else 3 if c < 0xF0 else 4
            if not 0xC2 <= c <= 0xF4 or end - p < n:
                return -1
            c &= 0x7F >> n
            for k in range(1, n):
                if p[k] & 0xC0 != 0x80:
                    return -1
                c = c << 6 | (p[k] & 0x3F)
            if (n == 3 and (c < 0x800 or 0xD800 <= c < 0xE000)) or (n == 4 and not 0x10000 <= c < 0x110000):
                return -1
        points[m] = c
        m += 1
        p += n
    return m


cdef class Labels:
    """Collect the labels of a batch. kind : "number"; "str"; None, labels are not read."""

    def __cinit__(self, kind, Py_ssize_t batch_rows):
        self.numbers, self.texts, self.unread = kind == "number", kind == "str", kind is None
        if self.numbers:
            self.values = np.empty(batch_rows)
        if self.texts:
            self.ends = np.empty(batch_rows, np.int64)

    def __dealloc__(self):
        free(self.points)

    cdef bint put(self, Py_ssize_t row, const unsigned char* p, const unsigned char* end) except -1 nogil:
        cdef const unsigned char* behind
        cdef Py_ssize_t n = end - p, start
        if self.numbers:
            behind = read_number(p, &self.values[row])
            self.expected = b"a finite number for a label"
            return behind is not NULL and behind == end and fabs(self.values[row]) < INFINITY
        if not self.texts:
            return True
        start = self.ends[row - 1] if row else 0
        if start + n > self.capacity:
            self.capacity = 2 * (start + n)
            self.points = <uint32_t*>sized(self.points, self.capacity * sizeof(uint32_t))
        n = decoded(p, end, self.points + start)
        if n <= 0 or n > LONGEST or memchr(p, 0, end - p) is not NULL:
            self.expected = b"a label in UTF-8"
            if n > LONGEST:                     # (an array of labels has room for the longest label in every row)
                self.expected = b"a label of at most 4096 characters"
            elif n >= 0:                        # (NumPy's texts end before it)
                self.expected = b"a label of a character or more, none of them NUL"
            return False
        self.ends[row] = start + n
        return True

    def take(self, Py_ssize_t n_rows):
        """Return the labels of the first n_rows rows as an array."""
        cdef uint32_t[:, ::1] table
        cdef Py_ssize_t k, start = 0, width = 1
        if not self.texts:
            return np.array(self.values[:n_rows]) if self.numbers else None
        for k in range(n_rows):
            width = max(width, self.ends[k] - start)
            start = self.ends[k]
        y, start = np.zeros((n_rows, width), np.uint32), 0
        table = y
        for k in range(n_rows):
            memcpy(&table[k, 0], self.points + start, (self.ends[k] - start) * sizeof(uint32_t))
            start = self.ends[k]
        return y.view(f"U{width}")[:, 0]


# --- lines ---------------------------------------------------------------------------------------------------------------------

cdef class LineParser:
    """Turn whole lines into batches. A subclass for each format has `parse` and `take`."""

    def __init__(self, Labels labels, Py_ssize_t batch_rows, Py_ssize_t batch_nnz):
        self.labels, self.batch_rows, self.batch_nnz = labels, batch_rows, batch_nnz

    def begin(self, source):
        """Begin a file: count lines from 0 again."""
        self.line_number = 0

    def batches(self):
        """Return what the lines that were read make: (rows, labels, weights) of each batch."""
        return (self.take(),)

    def feed(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop):
        """Read the whole lines of text[start:stop] until the batch is full or a line is malformed; BEHIND bytes follow stop.

        Return where the next line starts, and None or the fault of the line before it: (column, what was expected, parameter
        of a hint or ""). If labels are not read, a line without a row has the fault `BLANK`, so that predictions keep the
        numbers of lines.
        """
        cdef Found found
        self.block, self.position, self.stop = &text[0], start, stop
        try:
            with nogil:
                found = self._run()
        except UnicodeDecodeError as error:
            return self.position, (self.where - self.block - self.line_at + 1 + error.start, "text in UTF-8")
        if found == EMPTY:
            return self.position, BLANK
        if found == FAULT:
            return self.position, (self.where - self.block - self.line_at + 1, self.expected.decode())
        return self.position, None

    @property
    def line(self):
        """The start and the end, in its block, of the line that was read last."""
        return self.line_at, self.line_end

    @property
    def full(self):
        return self.n_rows >= self.batch_rows or self.nnz >= self.batch_nnz

    cdef Found _run(self) except? FAULT nogil:
        cdef const unsigned char* line
        cdef const unsigned char* end
        cdef Found found
        while self.position < self.stop and self.n_rows < self.batch_rows and self.nnz < self.batch_nnz:
            line = self.block + self.position
            end = <const unsigned char*>memchr(line, 10, self.stop - self.position)
            self.line_at, self.position = self.position, end + 1 - self.block
            self.line_number += 1
            if end > line and (end - 1)[0] == 13:        # \r\n
                end -= 1
            self.line_end = end - self.block
            found = self.parse(line, end)
            if found == FAULT:
                return found
            if found == UNFINISHED:
                self.position, self.unread = self.stop, self.stop - self.line_at
                self.line_number -= 1
            if found == NOTHING and self.labels.unread:
                return EMPTY
        return NOTHING

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil:
        return NOTHING

    cdef Found fault(self, const unsigned char* where, const char* expected) noexcept nogil:
        self.where, self.expected = where, expected
        return FAULT


# --- non-zeros -----------------------------------------------------------------------------------------------------------------

ctypedef fused floating:
    float
    double


def _split(EntryParser parser, floating[::1] data, int32_t[::1] indices):
    """Copy the entries to the two arrays of a CSR matrix."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(data.shape[0]):
            data[k] = <floating>parser.entries[k].value
            indices[k] = <int32_t>parser.entries[k].column


cdef inline void insert(const Entry* source, Entry* row, Py_ssize_t n) noexcept nogil:
    """Sort n entries of source to row by insertion; both may be the same."""
    cdef Py_ssize_t k, at
    cdef Entry entry
    for k in range(n):
        entry = source[k]
        at = k
        while at > 0 and row[at - 1].column > entry.column:
            row[at] = row[at - 1]
            at -= 1
        row[at] = entry


cdef inline Py_ssize_t count(const Entry* source, Py_ssize_t n, int shift, Py_ssize_t* starts) noexcept nogil:
    """Compute where the bucket of each digit starts; return the size of the largest."""
    cdef Py_ssize_t k, size, total = 0, largest = 0
    memset(starts, 0, 256 * sizeof(Py_ssize_t))
    for k in range(n):
        starts[(source[k].column >> shift) & 255] += 1
    for k in range(256):
        size = starts[k]
        starts[k] = total
        total += size
        largest = max(largest, size)
    return largest


cdef inline void scatter(const Entry* source, Entry* target, Py_ssize_t n, int shift, Py_ssize_t* starts) noexcept nogil:
    cdef Py_ssize_t k, digit
    for k in range(n):
        digit = (source[k].column >> shift) & 255
        target[starts[digit]] = source[k]
        starts[digit] += 1


cdef class EntryParser(LineParser):
    """Parse lines of columns and values; the columns of each row are then sorted and made unique."""

    def __init__(self, Labels labels, Py_ssize_t batch_rows, Py_ssize_t batch_nnz, int64_t n_features, dtype):
        LineParser.__init__(self, labels, batch_rows, batch_nnz)
        self.n_features, self.dtype = n_features, np.dtype(dtype)
        # Half-way between the largest float32 and the next power of two.
        self.too_large = 2.0 ** 128 - 2.0 ** 103 if self.dtype == np.float32 else INFINITY
        self.high_digit = max(0, int(n_features - 1).bit_length() - 8)
        self.ends = np.zeros(batch_rows + 1, np.int64)

    def __dealloc__(self):
        free(self.entries)
        free(self.spare)

    cdef int _more(self) except -1 nogil:
        cdef Py_ssize_t capacity = 2 * self.capacity if self.capacity else 4096
        self.entries = <Entry*>sized(self.entries, capacity * sizeof(Entry))
        self.capacity = capacity
        return 0

    cdef Found end_row(self, const unsigned char* line, bint in_order) except? FAULT nogil:
        """End the row of the entries since the last row, and add up the values of each column."""
        cdef Entry* row = self.entries + self.nnz
        cdef Py_ssize_t n = self.at - self.nnz, k, last = 0, same
        cdef double total
        if n and not in_order:
            self._sort(row, n)
            total = row[0].value
            for k in range(1, n):       # branch-free: repeated columns would be mispredicted
                same = row[k].column == row[last].column
                last += 1 - same
                total = row[k].value + same * total
                row[last].column = row[k].column
                row[last].value = total
                if not fabs(total) < self.too_large:
                    return self.fault(line, b"values of equal columns with a finite sum")
            self.at = self.nnz + last + 1
        self.nnz = self.at
        self.n_rows += 1
        self.ends[self.n_rows] = self.nnz
        return ROW

    cdef int _sort(self, Entry* row, Py_ssize_t n) except -1 nogil:
        """Sort entries by column; those of one column stay in the order of the line.

        A few are sorted by insertion; hashed columns, which are spread evenly, are put in 256 buckets first; others are sorted
        by digits of 8 bits.
        """
        cdef Py_ssize_t[256] starts
        cdef Entry* source = row
        cdef Entry* target
        cdef int shift = self.high_digit
        if n <= FEW:
            insert(row, row, n)
            return 0
        if n > self.spare_capacity:
            self.spare = <Entry*>sized(self.spare, 2 * n * sizeof(Entry))
            self.spare_capacity = 2 * n
        target = self.spare
        if count(row, n, shift, starts) <= FEW:
            scatter(row, target, n, shift, starts)
            insert(target, row, n)
            return 0
        shift = 0
        while shift == 0 or (shift < 64 and (self.n_features - 1) >> shift):
            count(source, n, shift, starts)
            scatter(source, target, n, shift, starts)
            source, target = target, source
            shift += 8
        if source != row:
            memcpy(row, source, n * sizeof(Entry))
        return 0

    def take(self):
        """Return the batch as (Rows, labels, None for the weights), and begin a new one."""
        data, indices = np.empty(self.nnz, self.dtype), np.empty(self.nnz, np.int32)
        _split(self, data, indices)
        indptr, labels = np.array(self.ends[:self.n_rows + 1]), self.labels.take(self.n_rows)
        if self.capacity > 4 * self.batch_nnz:      # after a row of very many non-zeros
            free(self.entries)
            free(self.spare)
            self.entries = self.spare = NULL
            self.capacity = self.spare_capacity = 0
        self.n_rows = self.nnz = self.at = 0
        return Rows(data, indices, indptr, len(indptr) - 1, self.n_features), labels, None
