"""Lines of text into the rows of a batch, without the GIL.

A parser is fed whole lines and stops when its batch is full, at a number of rows or of non-zeros: where the batches end depends
on the lines alone, never on the blocks in which they came.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

import numpy as np

from .._hashing.murmur cimport murmur3
from ._numbers cimport read_number

from .._input.rows import Rows
from .._input.validate import LONGEST_LABEL, ParameterError
from ._pool import Pool

cdef enum:
    BEHIND_BYTES = 8            # bytes that may be read past the end of a block; what they are does not matter
    MAX_NAMES = 1 << 20         # different labels
    MAX_NAME_BYTES = 1 << 24    # of all of them
    FEW = 24                    # entries that sort faster by insertion

BEHIND = BEHIND_BYTES
BLANK = (0, None, "")           # in the place of a fault: a line that is none, and has no row
OR_NUMBERS = ", or labels='number' if they are numbers"


cdef void* sized(void* block, Py_ssize_t n_bytes) except NULL nogil:
    """realloc that raises."""
    cdef void* moved = realloc(block, n_bytes)
    if moved is NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of a batch")
    return moved


# --- labels --------------------------------------------------------------------------------------------------------------------

cdef class Labels:
    """The labels of a batch. kind: "number"; "str", each different text kept once and counted; or None, not read."""

    def __cinit__(self, kind, Py_ssize_t batch_rows):
        self.numbers, self.texts, self.unread = kind == "number", kind == "str", kind is None
        self.names, self.array = [], np.empty(0, "U1")
        if self.numbers:
            self.values = <double*>sized(NULL, batch_rows * sizeof(double))
        if self.texts:
            self.codes = <int32_t*>sized(NULL, batch_rows * sizeof(int32_t))
            self._grow()

    def __dealloc__(self):
        free(self.values)
        free(self.codes)
        free(self.slots)
        free(self.blob)

    cdef bint put(self, Py_ssize_t row, const unsigned char* p, const unsigned char* end) except -1 nogil:
        cdef const unsigned char* behind
        cdef int32_t code
        if self.numbers:
            behind = read_number(p, &self.values[row])
            if behind is NULL or behind != end or fabs(self.values[row]) == INFINITY:
                self.expected = b"a finite number for a label"
                return False
        elif self.texts:
            code = self._intern(p, end - p)
            if code < 0:
                self.expected = b"a label in UTF-8" if code == -1 else b"a label of at most 4096 characters"
                return False
            self.codes[row] = code
        return True

    cdef int32_t _intern(self, const unsigned char* p, Py_ssize_t n) except -2 nogil:
        """The number of a text, a new one for a new text; -1 if it is not UTF-8, -3 if it is too long."""
        cdef uint32_t hash = murmur3(p, n, 0)
        cdef Py_ssize_t i = hash & (self.n_slots - 1)
        while self.slots[i].code >= 0:
            if self.slots[i].hash == hash and self.slots[i].n == n and memcmp(self.blob + self.slots[i].at, p, n) == 0:
                return self.slots[i].code
            i = (i + 1) & (self.n_slots - 1)
        with gil:
            try:
                name = p[:n].decode("utf-8")
            except UnicodeDecodeError:
                return -1
            if len(name) > LONGEST_LABEL:       # (an array of labels has room for the longest in every row)
                return -3
            if self.n_names == MAX_NAMES or self.n_bytes + n > MAX_NAME_BYTES:
                raise ParameterError(
                    f"labels must be at most {MAX_NAMES} different texts of {MAX_NAME_BYTES} bytes together, got more. "
                    f"Give the column of the labels{OR_NUMBERS}.", "labels", OR_NUMBERS
                )
            if self.n_bytes + n > self.bytes_capacity:
                self.blob = <unsigned char*>sized(self.blob, 2 * (self.n_bytes + n))
                self.bytes_capacity = 2 * (self.n_bytes + n)
            self.names.append(name)
        memcpy(self.blob + self.n_bytes, p, n)
        self.slots[i] = Slot(at=self.n_bytes, n=n, hash=hash, code=<int32_t>self.n_names)
        self.n_bytes += n
        self.n_names += 1
        if 2 * self.n_names > self.n_slots:
            self._grow()
        return <int32_t>self.n_names - 1

    cdef int _grow(self) except -1 nogil:
        cdef Py_ssize_t n_slots = 2 * self.n_slots if self.n_slots else 64, i, k
        cdef Slot* slots = <Slot*>sized(NULL, n_slots * sizeof(Slot))
        memset(slots, 0xFF, n_slots * sizeof(Slot))         # every code -1
        for k in range(self.n_slots):
            if self.slots[k].code >= 0:
                i = self.slots[k].hash & (n_slots - 1)
                while slots[i].code >= 0:
                    i = (i + 1) & (n_slots - 1)
                slots[i] = self.slots[k]
        free(self.slots)
        self.slots, self.n_slots = slots, n_slots
        return 0

    def take(self, Py_ssize_t n_rows):
        """The labels of the first rows, as an array."""
        cdef double[::1] values
        cdef int32_t[::1] codes
        if n_rows == 0 or not (self.numbers or self.texts):
            return np.empty(0) if self.numbers else np.empty(0, "U1") if self.texts else None
        if self.numbers:
            y = np.empty(n_rows)
            values = y
            memcpy(&values[0], self.values, n_rows * sizeof(double))
            return y
        if len(self.array) < len(self.names):
            self.array = np.array(self.names, dtype=str)
        y = np.empty(n_rows, np.int32)
        codes = y
        memcpy(&codes[0], self.codes, n_rows * sizeof(int32_t))
        return self.array[y]


# --- lines ---------------------------------------------------------------------------------------------------------------------

cdef class LineParser:
    """Whole lines in, batches out. A kind of line is a subclass with `parse` and `take`."""

    def __init__(self, Labels labels, Py_ssize_t batch_rows, Py_ssize_t batch_nnz):
        self.labels, self.batch_rows, self.batch_nnz, self.pool = labels, batch_rows, batch_nnz, Pool()

    def begin(self):
        """The next line is the first of a file."""
        self.line_number = 0

    def skip_line(self):
        """A line was left out by the reader."""
        self.line_number += 1

    def feed(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop):
        """Read the lines of text[start:stop], the last of which ends there, until the batch is full; BEHIND bytes lie behind it.

        Returns where the next line starts, and None or, about the line before it, (column, what was expected, parameter of a
        hint or ""). Where labels are not read, a line without a row is `BLANK`: predictions keep their lines.
        """
        cdef Found found
        self.position = start
        if start < stop:
            if stop + BEHIND_BYTES > text.shape[0] or text[stop - 1] != 10:
                raise ValueError("a block must end with a newline and the bytes behind it")
            try:
                with nogil:
                    found = self._run(&text[0], stop)
            except UnicodeDecodeError as error:
                return self.position, (self.where - &text[self.line_at] + 1 + error.start, "text in UTF-8", "")
            if found == EMPTY:
                return self.position, BLANK
            if found == FAULT:
                return self.position, (self.where - &text[self.line_at] + 1, self.expected.decode(), self.parameter.decode())
        return self.position, None

    @property
    def line(self):
        """Where the line that was read last starts and ends in its block."""
        return self.line_at, self.line_end

    @property
    def full(self):
        return self.n_rows >= self.batch_rows or self.nnz >= self.batch_nnz

    cdef Found _run(self, const unsigned char* text, Py_ssize_t stop) except? FAULT nogil:
        cdef const unsigned char* line
        cdef const unsigned char* end
        cdef Found found
        while self.position < stop and self.n_rows < self.batch_rows and self.nnz < self.batch_nnz:
            line = text + self.position
            end = <const unsigned char*>memchr(line, 10, stop - self.position)
            self.line_at, self.position = self.position, end + 1 - text
            self.line_number += 1
            if end > line and (end - 1)[0] == 13:        # \r\n
                end -= 1
            self.line_end = end - text
            found = self.parse(line, end)
            if found == FAULT:
                return FAULT
            if found == NOTHING and self.labels.unread:
                return EMPTY
        return NOTHING

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil:
        return NOTHING

    cdef Found fault(self, const unsigned char* where, const char* expected, const char* parameter=b"") noexcept nogil:
        self.where, self.expected, self.parameter = where, expected, parameter
        return FAULT


# --- non-zeros -----------------------------------------------------------------------------------------------------------------

ctypedef fused floating:
    float
    double

ctypedef fused index_t:
    int32_t
    int64_t


def _split(EntryParser parser, floating[::1] data, index_t[::1] indices):
    """The entries as the two arrays of a CSR matrix."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(data.shape[0]):
            data[k] = <floating>parser.entries[k].value
            indices[k] = <index_t>parser.entries[k].column


cdef inline void insert(const Entry* source, Entry* row, Py_ssize_t n) noexcept nogil:
    """Sort by insertion, from source, which may be row."""
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
    """Where the bucket of each digit starts; the size of the largest."""
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
    """A parser that finds columns and values itself; the columns of a row leave it in order, each once."""

    def __init__(self, Labels labels, Py_ssize_t batch_rows, Py_ssize_t batch_nnz, int64_t n_features, dtype):
        LineParser.__init__(self, labels, batch_rows, batch_nnz)
        self.n_features, self.dtype = n_features, np.dtype(dtype)
        # Half-way between the largest float32 and the power of two behind it.
        self.too_large = 2.0 ** 128 - 2.0 ** 103 if self.dtype == np.float32 else INFINITY
        self.high_digit = max(0, int(n_features - 1).bit_length() - 8)
        self.ends = <Py_ssize_t*>sized(self.ends, batch_rows * sizeof(Py_ssize_t))

    def __dealloc__(self):
        free(self.entries)
        free(self.spare)
        free(self.ends)

    cdef int _more(self) except -1 nogil:
        cdef Py_ssize_t capacity = 2 * self.capacity if self.capacity else 4096
        self.entries = <Entry*>sized(self.entries, capacity * sizeof(Entry))
        self.capacity = capacity
        return 0

    cdef Found end_row(self, const unsigned char* line, bint in_order) except? FAULT nogil:
        """Close the row of the entries since the last one. Values of one column are added up."""
        cdef Entry* row = self.entries + self.nnz
        cdef Py_ssize_t n = self.at - self.nnz, k, last = 0, same
        cdef double total
        if n and not in_order:
            self._sort(row, n)
            total = row[0].value
            for k in range(1, n):       # branch-free: whether columns repeat cannot be predicted
                same = row[k].column == row[last].column
                last += 1 - same
                total = row[k].value + same * total
                row[last].column = row[k].column
                row[last].value = total
                if not fabs(total) < self.too_large:
                    return self.fault(line, b"values of equal columns with a finite sum")
            self.at = self.nnz + last + 1
        self.nnz = self.at
        self.ends[self.n_rows] = self.nnz
        self.n_rows += 1
        return ROW

    cdef int _sort(self, Entry* row, Py_ssize_t n) except -1 nogil:
        """By column, and where those are equal in the order of the line.

        A few by insertion; hashed columns, which are spread evenly, into 256 buckets first; others by digits of 8 bits.
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
        """The batch, (Rows, labels, no weights: None), and a new one begins."""
        cdef Py_ssize_t k
        cdef int64_t[::1] ends
        index_type = np.int32 if self.n_features <= 2**31 else np.int64
        data, indices = self.pool.empty(self.nnz, self.dtype), self.pool.empty(self.nnz, index_type)
        _split(self, data, indices)
        indptr = np.zeros(self.n_rows + 1, np.int64)
        ends = indptr
        for k in range(self.n_rows):
            ends[k + 1] = self.ends[k]
        labels = self.labels.take(self.n_rows)
        if self.capacity > 4 * self.batch_nnz:      # a row of many non-zeros came by
            free(self.entries)
            free(self.spare)
            self.entries = self.spare = NULL
            self.capacity = self.spare_capacity = 0
        self.n_rows = self.nnz = self.at = 0
        return Rows(data, indices, indptr, len(indptr) - 1, self.n_features), labels, None
