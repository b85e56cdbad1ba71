"""Lines of text into the rows of a batch, without the GIL.

A parser is fed whole lines and stops when its batch is full, at a number of rows or of non-zeros: the ends of batches depend on
the lines alone, not on the blocks in which they are read.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

import os

import numpy as np

from ._numbers cimport is_digit, read_number

from .._rows import Rows
from .._input.validate import LONGEST_LABEL, ParameterError

cdef extern from "streams/_siphash.h":
    uint64_t siphash "onlinecls_siphash" (const unsigned char* text, size_t n, const uint64_t* key) noexcept nogil

cdef enum:
    BEHIND_BYTES = 8            # bytes of any value behind the end of a block that may be read
    MAX_NAMES = 1 << 20         # most different labels
    MAX_NAME_BYTES = 1 << 24    # most bytes of all labels together
    FEW = 24                    # entries that sort faster by insertion

cdef double ROUNDED = 2.0 ** 53         # the least whole number that may be another one's rounding
cdef char* WHOLE_LABEL = b"a whole number below 2^53 for a label; labels='auto' takes any text for a label"

BEHIND = BEHIND_BYTES
BLANK = (0, None, "")           # a "fault" of column 0: a line without a row
OR_NUMBERS = ", or labels='number' if they are numbers"


cdef uint64_t[2] KEY            # of the labels' hash, another one in each process: nobody can prepare labels that collide
KEY[0], KEY[1] = int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")


def hash_of(bytes label, key=None):
    """Return the hash of a label for tests, under the process's key or a given pair of numbers."""
    cdef uint64_t[2] given = KEY
    if key is not None:
        given[0], given[1] = key
    return siphash(label, len(label), given)


cdef void* sized(void* block, Py_ssize_t n_bytes) except NULL nogil:
    """Call realloc; raise MemoryError if it fails."""
    cdef void* moved = realloc(block, n_bytes)
    if moved is NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of a batch")
    return moved


cdef inline bint is_whole(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """Return True for a number that is written with a sign and digits alone."""
    while p < end:
        if not is_digit(p[0]) and p[0] != 43 and p[0] != 45:
            return False
        p += 1
    return True


# --- labels --------------------------------------------------------------------------------------------------------------------

cdef class Labels:
    """Collect the labels of a batch. kind : "number"; "str", each different text is stored once; None, labels are not read.

    like : pattern that each text must match, or None. wanted : what such a label is called in an error.
    """

    def __cinit__(self, kind, Py_ssize_t batch_rows, like=None, str wanted=""):
        self.numbers, self.texts, self.unread = kind == "number", kind == "str", kind is None
        self.names, self.like, self.wanted = [], like, (wanted or "a finite number for a label").encode()
        self.called = self.wanted
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
                self.expected = self.called
                return False
            if fabs(self.values[row]) >= ROUNDED and is_whole(p, end):
                self.expected = WHOLE_LABEL
                return False
        elif self.texts:
            code = self._intern(p, end - p)
            if code < 0:
                self.expected = b"a label in UTF-8" if code == -1 else b"a label of at most 4096 characters"
                if code == -5:
                    self.expected = b"a label of a character or more, none of them NUL"
                if code == -4:
                    self.expected = self.called
                return False
            self.codes[row] = code
        return True

    cdef int32_t _intern(self, const unsigned char* p, Py_ssize_t n) except -2 nogil:
        """Return the code of a label, a new one for a new label; -1: not UTF-8, -3: too long, -4: unlike the pattern, -5: empty,
        or with NUL."""
        cdef uint32_t hash = <uint32_t>siphash(p, n, KEY)
        cdef Py_ssize_t i = hash & (self.n_slots - 1)
        while self.slots[i].code >= 0:
            if self.slots[i].hash == hash and self.slots[i].n == n and memcmp(self.blob + self.slots[i].at, p, n) == 0:
                return self.slots[i].code
            i = (i + 1) & (self.n_slots - 1)
        return self._add(p, n, hash, i)

    cdef int32_t _add(self, const unsigned char* p, Py_ssize_t n, uint32_t hash, Py_ssize_t i) except -2 nogil:
        """Put a new label in slot i and return its code; -1, -3, -4 or -5 as `_intern`.

        (A function with Python objects of its own takes the GIL at each call: this one is called only for new labels.)
        """
        with gil:
            try:
                name = p[:n].decode("utf-8")
            except UnicodeDecodeError:
                return -1
            if len(name) > LONGEST_LABEL:       # (an array of labels has room for the longest label in every row)
                return -3
            if not n or "\0" in name:           # (NumPy's texts end before it)
                return -5
            if self.like is not None and self.like.fullmatch(name) is None:
                return -4
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
        """Return the labels of the first n_rows rows as an array."""
        cdef double[::1] values
        cdef int32_t[::1] codes
        if n_rows == 0 or not (self.numbers or self.texts):
            return np.empty(0) if self.numbers else np.empty(0, "U1") if self.texts else None
        if self.numbers:
            y = np.empty(n_rows)
            values = y
            memcpy(&values[0], self.values, n_rows * sizeof(double))
            return y
        y = np.empty(n_rows, np.int32)
        codes = y
        memcpy(&codes[0], self.codes, n_rows * sizeof(int32_t))
        # (An array of all names would have room for the longest one ever in each of them.)
        used, places = np.unique(y, return_inverse=True)
        return np.array([self.names[code] for code in used.tolist()], dtype=str)[places]


# --- lines ---------------------------------------------------------------------------------------------------------------------

cdef class LineParser:
    """Turn whole lines into batches. A subclass for each format has `parse` and `take`."""

    def __init__(self, Labels labels, Py_ssize_t batch_rows, Py_ssize_t batch_nnz):
        self.labels, self.batch_rows, self.batch_nnz = labels, batch_rows, batch_nnz

    def begin(self):
        """Begin a file: count lines from 0 again."""
        self.line_number = 0

    def skip_line(self):
        """Count a line that the reader has left out."""
        self.line_number += 1

    def feed(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop):
        """Read the whole lines of text[start:stop] until the batch is full or a line is malformed; BEHIND bytes follow stop.

        Return where the next line starts, and None or the fault of the line before it: (column, what was expected, parameter
        of a hint or ""). If labels are not read, a line without a row has the fault `BLANK`, so that predictions keep the
        numbers of lines.
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
        """The start and the end, in its block, of the line that was read last."""
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
        self.ends[self.n_rows] = self.nnz
        self.n_rows += 1
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
        cdef Py_ssize_t k
        cdef int64_t[::1] ends
        data, indices = np.empty(self.nnz, self.dtype), np.empty(self.nnz, np.int32)
        _split(self, data, indices)
        indptr = np.zeros(self.n_rows + 1, np.int64)
        ends = indptr
        for k in range(self.n_rows):
            ends[k + 1] = self.ends[k]
        labels = self.labels.take(self.n_rows)
        if self.capacity > 4 * self.batch_nnz:      # after a row of very many non-zeros
            free(self.entries)
            free(self.spare)
            self.entries = self.spare = NULL
            self.capacity = self.spare_capacity = 0
        self.n_rows = self.nnz = self.at = 0
        return Rows(data, indices, indptr, len(indptr) - 1, self.n_features), labels, None
