"""From documents to CSR rows of hashed features, as scikit-learn's HashingVectorizer makes them, without the GIL.

A document takes four steps. It is lower-cased into a buffer of UTF-8, and each of its bytes is flagged as part of a word or not
(many at a time while they are ASCII; other UTF-8 is decoded by Python first). The flagged runs are its words; in ASCII text they
are found in the same pass. Words are joined by single spaces, so that an n-gram is a slice, and hashed several at once. Columns
are counted in a table whose home slots are in the order of columns: a row is sorted by reading the table and moving a few
neighbours.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

import re
from heapq import nlargest
from operator import itemgetter

import numpy as np

from .._rows cimport start_of
from .murmur cimport murmur3

from .._input.validate import brief, is_missing
from .._rows import FLOAT32, FLOAT64, INT32, INT64, Rows

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(uint32_t c) noexcept nogil
    bint Py_UNICODE_ISSPACE(uint32_t c) noexcept nogil
    uint32_t Py_UNICODE_TOLOWER(uint32_t c) noexcept nogil
    bint PyUnicode_IS_ASCII(object text)
    int PyUnicode_KIND(object text)             # bytes a character
    const void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef extern from "_hashing/lanes.h" nogil:
    enum: QUEUE
    ctypedef struct Queue:
        uint32_t[QUEUE] column
        int32_t[QUEUE] sign, start, size, longer
        int n, n_longer
    int64_t fold(const void* points, int64_t n, int width, unsigned char* out, unsigned char* flags, bint lower, bint words)
    void map_bits()
    int32_t* edges_of(const unsigned char* flags, int64_t n, bint longer, int32_t* edge)
    int64_t drain(uint32_t* slots, int64_t n, int32_t* columns, int32_t* counts, int64_t* squares)
    void divide(const int32_t* counts, int64_t n, double by, void* out, int size)
    int32_t* ascii_words(const unsigned char* text, int64_t n, unsigned char* out, bint lower, bint longer, int32_t* edge)
    void enqueue(Queue* w, const unsigned char* text, const int32_t* edges, int n, int span)
    void hash_all(Queue* w, uint32_t mask, int signs)

cdef enum:
    WORD, CHAR, CHAR_WB         # analyzers
    NONE, L1, L2                # norms
    IN_WORD = 1, IN_SPACE = 2   # flags of a character
    PAD = 128                   # bytes beyond the end of a document's buffers that may be read or written
    FEW_SLOTS = 1 << 14         # home slots; up to here there are three a token
    MOST_SLOTS = 1 << 22
    CROWDED = 128               # slots from home at which a table is given up: only crafted hashes crowd so
    NAME_BYTES = 42             # kept of a name
    BATCH = 1 << 20             # bytes between two checks for signals: well under 50 ms
    MAX_DOCUMENT = 1 << 30      # bytes, for one length of n-grams: positions and counts are int32
    EXACT = 1 << 24             # up to here sums of squares are exact in any order and precision
    MIXED = 16                  # characters of mixed text that are read one by one

MAX_FEATURES = 2**31 - 1            # columns are int32
ANALYZERS = {"word": WORD, "char": CHAR, "char_wb": CHAR_WB}
WHITE_SPACES = re.compile(r"\s\s+")   # one space, for n-grams of characters
NORMS = {None: NONE, "l1": L1, "l2": L2}
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}".encode()
column_in = itemgetter(0)
cdef object new = np.empty, NOTHING = np.empty(0)

ctypedef fused number:
    float
    double

ctypedef fused offset_t:
    int32_t
    int64_t

ctypedef fused point_t:     # code points of a str,
    uint8_t
    uint16_t
    uint32_t
    int8_t                  # or UTF-8


# --- characters: `\w`, `\s` and str.lower as in the running Python -----------------------------------------------------------

cdef enum:
    KNOWN = 0x100000            # beside the flags of SHORT
    MAPPED = 0x20000            # code points in the table: all scripts but the ideographs beyond, which are rare
    SIGMA = 0x3A3               # lower-cased by its neighbours
    DOTTED_I = 0x130            # lower-cased to two characters

cdef int32_t[MAPPED] CHARACTERS
# For each character of one or two bytes, the bytes of its lower case in the machine's order, and its flags 16 bits further up;
# 0 if its lower case has another length or depends on the neighbours.
cdef uint32_t[0x800] SHORT
# For each 256 code points, 1 if all have three bytes, are parts of words and have no case: nearly all of Chinese and Korean.
cdef unsigned char[0x1100] PLAIN


cdef int32_t character(uint32_t c) noexcept nogil:
    """Return (lower case - c) << 2 | IN_SPACE | IN_WORD."""
    cdef int32_t away = <int32_t>Py_UNICODE_TOLOWER(c) - <int32_t>c
    return away * 4 | (IN_SPACE if Py_UNICODE_ISSPACE(c) else 0) | (IN_WORD if Py_UNICODE_ISALNUM(c) or c == 0x5F else 0)


cdef void map_characters() noexcept:
    """Fill the tables from the running Python's Unicode data. Takes 2 ms."""
    cdef uint32_t c
    cdef uint16_t pair
    cdef unsigned char[4] raw
    memset(PLAIN + 0x8, 1, 0xF8)
    for c in range(MAPPED):
        CHARACTERS[c] = character(c)
        PLAIN[c >> 8] &= CHARACTERS[c] == IN_WORD
    for c in range(0x800):
        raw[1] = 0
        if c != SIGMA and c != DOTTED_I and encoded(c + (CHARACTERS[c] >> 2), raw) == (1 if c < 0x80 else 2):
            memcpy(&pair, raw, 2)
            SHORT[c] = pair | KNOWN | <uint32_t>(CHARACTERS[c] & (IN_WORD | IN_SPACE)) << 16


cdef inline Py_ssize_t encoded(uint32_t c, unsigned char* text) noexcept nogil:
    """Write a character of up to four bytes, and return its length."""
    cdef uint32_t four
    if c < 0x80:
        text[0] = <unsigned char>c
        return 1
    if c < 0x800:
        text[0], text[1] = <unsigned char>(0xC0 | c >> 6), <unsigned char>(0x80 | (c & 0x3F))
        return 2
    if c < 0x10000:
        write_three(c, text)
        return 3
    four = <uint32_t>0x808080F0 | c >> 18 | (c >> 4 & 0x3F00) | (c << 10 & 0x3F0000) | (c & 0x3F) << 24
    memcpy(text, &four, 4)
    return 4


cdef inline Py_ssize_t width(unsigned char first) noexcept nogil:
    """Return the number of bytes of a character from its first byte."""
    return 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)


cdef inline Py_ssize_t decoded(const unsigned char* text, Py_ssize_t n, uint32_t* c) noexcept nogil:
    """Decode the first character, not ASCII, of n > 0 bytes to c, and return its length; 0 if it is not UTF-8."""
    cdef uint32_t a = text[0]
    if a < 0xC2 or n < 2 or (text[1] & 0xC0) != 0x80:
        return 0
    if a < 0xE0:
        c[0] = (a & 0x1F) << 6 | (text[1] & 0x3F)
        return 2
    if n < 3 or (text[2] & 0xC0) != 0x80:
        return 0
    if a < 0xF0:
        c[0] = (a & 0x0F) << 12 | <uint32_t>(text[1] & 0x3F) << 6 | (text[2] & 0x3F)
        return 0 if c[0] < 0x800 else 3         # (`write` leaves surrogates to Python)
    if n < 4 or (text[3] & 0xC0) != 0x80:
        return 0
    c[0] = (a & 0x0F) << 18 | <uint32_t>(text[1] & 0x3F) << 12 | <uint32_t>(text[2] & 0x3F) << 6 | (text[3] & 0x3F)
    return 0 if not 0x10000 <= c[0] < 0x110000 else 4


cdef inline void write_three(uint32_t c, unsigned char* text) noexcept nogil:
    """Write a character of three bytes, and one byte more."""
    cdef uint32_t four = 0x8080E0 | c >> 12 | (c << 2 & 0x3F00) | (c << 16 & 0x3F0000)
    memcpy(text, &four, 4)


cdef inline Py_ssize_t place(uint32_t c, bint lowercase, int32_t wanted, unsigned char* text,
                             unsigned char* flags) noexcept nogil:
    """Write a character and its flags, and return its length."""
    cdef int32_t kind = CHARACTERS[c] if c < MAPPED else character(c)
    cdef uint32_t four = 0x80808080 if kind & wanted else 0
    memcpy(flags, &four, 4)
    if lowercase and c == DOTTED_I:             # i and the dot above it, which is not part of a word
        memcpy(text, b"i\xCC\x87", 3)
        flags[1] = flags[2] = 0
        return 3
    return encoded(<uint32_t>(<int32_t>c + (kind >> 2)) if lowercase else c, text)


cdef Py_ssize_t write(const point_t* points, Py_ssize_t n, bint lowercase, int32_t wanted, unsigned char* text,
                      unsigned char* flags) noexcept nogil:
    """Write a document as text and flags, and return the length; -1 if only Python can lower-case, decode or encode it."""
    cdef Py_ssize_t i = 0, m = 0, step, stop
    cdef uint32_t c, entry, plain = 0x80808080 if wanted == IN_WORD else 0
    cdef uint16_t pair
    cdef int flag_at = 16 if wanted == IN_WORD else 17
    while i < n:
        if i == 0 or 0 <= (points[i - 1] | points[i - 4] | points[i - 7]) < 0x80:   # more of it may be ASCII
            step = fold(points + i, n - i, sizeof(point_t), text + m, flags + m, lowercase, wanted == IN_WORD)
            i += step
            m += step
        stop = min(i + MIXED, n)
        while i < stop:
            c = <uint8_t>points[i] if point_t is int8_t else points[i]
            step = 1
            if point_t is int8_t and c >= 0x80:
                step = decoded(<const unsigned char*>points + i, n - i, &c)
                if step == 0:
                    return -1
            i += step
            entry = SHORT[c] if c < 0x800 else 0
            if entry != 0:
                pair = <uint16_t>entry
                if not lowercase:
                    encoded(c, <unsigned char*>&pair)
                memcpy(text + m, &pair, 2)
                pair = <uint16_t>((entry >> flag_at & 1) * 0x8080)
                memcpy(flags + m, &pair, 2)
                m += 1 + (c >= 0x80)
            elif PLAIN[c >> 8]:
                if point_t is int8_t:
                    memcpy(text + m, points + i - 3, 3)
                else:
                    write_three(c, text + m)
                memcpy(flags + m, &plain, 4)
                m += 3
            elif 0xD800 <= c < 0xE000 or (lowercase and c == SIGMA):
                return -1
            else:
                m += place(c, lowercase, wanted, text + m, flags + m)
    return m


map_bits()
map_characters()


# --- tokens to columns -------------------------------------------------------------------------------------------------------

cdef int raise_memory_error() except -1 nogil:
    with gil:
        raise MemoryError()


cdef inline int32_t sign_of(RowHasher self, uint32_t h) noexcept nogil:
    return 1 - <int32_t>(h >> 31) * 2 * self.alternate_sign


cdef inline uint32_t column_of(RowHasher self, uint32_t h) noexcept nogil:
    """Return |h| mod n_features."""
    cdef uint32_t size = h if h < <uint32_t>0x80000000 else 0 - h      # |h| as int32; 2^31 for -2^31
    return size & self.mask if self.mask else size % <uint32_t>self.n_features


cdef inline int put(Table* t, uint32_t column, int32_t count) noexcept nogil:
    """Add to a column's count in a table with room; return 1 if its slot is too far from home, else 0."""
    cdef uint32_t key = column + 1
    cdef Slot* at = t.slots + (column * t.scale >> 32)
    cdef Slot* far = at + CROWDED
    cdef int crowded = 0
    # True unless the slot is the column's or empty: one test, as compilers make two mispredicted branches of anything plainer.
    while <uint64_t>at.key * (at.key ^ key) != 0:
        at += 1
        crowded |= at == far
    t.n_used += at.key == 0
    at.key = key
    at.count += count
    return crowded


cdef int hear(RowHasher self, uint32_t h, const unsigned char* text, Py_ssize_t n) except -1 with gil:
    """Count a token's vote for the name of its column."""
    cdef Py_ssize_t m = min(n, NAME_BYTES)
    while m < n and m > 0 and text[m] & 0xC0 == 0x80:           # (not within a character)
        m -= 1
    name = (<const char*>text)[:m] if m == n else (<const char*>text)[:m] + ELLIPSIS
    column = column_of(self, h)
    found = self.heard.get(column)
    if found is None:
        if len(self.heard) == self.most_heard:
            kept = nlargest(self.most_heard // 2, self.heard.items(), key=itemgetter(1))
            self.heard.clear()
            self.heard.update(kept)
        self.heard[column] = [1, name, False, sign_of(self, h)]
    elif (<list>found)[1] == name:
        (<list>found)[0] += 1
    elif (<list>found)[0] > 0:
        found[0], found[2] = found[0] - 1, True
    else:
        found[:] = 1, name, True, sign_of(self, h)
    return 0


cdef int hash_one(RowHasher self, const unsigned char* text, Py_ssize_t n) except -1 nogil:
    cdef uint32_t h = murmur3(text, n, 0)
    if self.heard is not None:
        hear(self, h, text, n)
    if self.crowd is None and is_full(self, 1):
        begin_crowd(self)
    if self.crowd is not None:
        return count_in_crowd(self, column_of(self, h), sign_of(self, h))
    return begin_crowd(self) if put(&self.table, column_of(self, h), sign_of(self, h)) else 0


cdef int hash_ngrams(RowHasher self, const unsigned char* text, Py_ssize_t first, Py_ssize_t n_units) except -1 nogil:
    """Hash the n-grams of units: that of units i..j is the text from the start of i to the end of j."""
    cdef Py_ssize_t i, end
    cdef int span, m
    cdef Queue w
    w.n = w.n_longer = 0
    for span in range(<int>self.min_n - 1, <int>min(self.max_n, n_units)):
        i, end = first, first + n_units - span
        while self.heard is not None and i < end:
            hash_one(self, text + self.units[i].start, self.units[i + span].end - self.units[i].start)
            i += 1
        while i < end:
            m = <int>min(end - i, QUEUE - w.n)
            enqueue(&w, text, <int32_t*>(self.units + i), m, span)
            i += m
            if w.n == QUEUE:
                count_queue(self, &w, text)
    return count_queue(self, &w, text)


cdef int count_queue(RowHasher self, Queue* w, const unsigned char* text) except -1 nogil:
    """Hash and count the tokens in the queue."""
    cdef int i, k, n = w.n, crowded = 0
    cdef uint32_t h
    cdef Table t
    hash_all(w, <uint32_t>self.mask if self.mask else <uint32_t>0xFFFFFFFF, -1 if self.alternate_sign else 0)
    if not self.mask:
        for i in range(n):
            w.column[i] %= <uint32_t>self.n_features
    for k in range(w.n_longer):
        i = w.longer[k]
        h = murmur3(text + w.start[i], w.size[i], 0)
        w.column[i], w.sign[i] = column_of(self, h), sign_of(self, h)
    w.n = w.n_longer = 0
    if self.crowd is None and is_full(self, n):
        begin_crowd(self)
    if self.crowd is not None:
        for i in range(n):
            count_in_crowd(self, w.column[i], w.sign[i])
        return 0
    t = self.table
    for i in range(n):
        crowded |= put(&t, w.column[i], w.sign[i])
    self.table.n_used = t.n_used
    return begin_crowd(self) if crowded else 0


cdef int open_row(RowHasher self, Py_ssize_t n_tokens) except -1 nogil:
    """Begin a row, with a table in which a third of the home slots stays empty, unless there are millions of tokens."""
    cdef Table* t = &self.table
    cdef Py_ssize_t home_size = 64, slots_size
    while (3 * n_tokens > home_size and home_size < FEW_SLOTS) or (3 * n_tokens > 2 * home_size and home_size < MOST_SLOTS):
        home_size *= 2
    if self.crowd is not None:
        with gil:
            self.crowd = None
    if t.n_used:                                # left by a document that failed
        memset(t.slots, 0, self.slots_size * sizeof(Slot))
        t.n_used = 0
    if t.home_size != home_size:
        slots_size = home_size + 2 * home_size // 3 + 2 + 64    # (64 are read at a time)
        t.home_size, t.scale = home_size, (<uint64_t>home_size << 32) // <uint64_t>self.n_features
        if slots_size > self.slots_size:
            free(t.slots)
            free(t.used)
            t.slots, t.used = <Slot*>calloc(slots_size, sizeof(Slot)), <int32_t*>malloc(slots_size * sizeof(int32_t))
            self.slots_size = slots_size
            if t.slots == NULL or t.used == NULL:
                self.slots_size = t.home_size = 0
                raise_memory_error()
    return 0


cdef inline bint is_full(RowHasher self, Py_ssize_t n) noexcept nogil:
    """Return True if n more tokens may fill the table."""
    return 3 * (self.table.n_used + n) > 2 * self.table.home_size


cdef int begin_crowd(RowHasher self) except -1 with gil:
    """Move the columns to a dict: crafted words of neighbouring columns would take quadratic time in the table."""
    cdef Py_ssize_t i
    cdef Slot* slots = self.table.slots
    self.crowd = {slots[i].key - 1: slots[i].count for i in range(self.slots_size) if slots[i].key}
    memset(slots, 0, self.slots_size * sizeof(Slot))
    self.table.n_used = 0
    return 0


cdef int count_in_crowd(RowHasher self, uint32_t column, int32_t count) except -1 with gil:
    self.crowd[column] = self.crowd.get(column, 0) + count
    return 0


# --- rows --------------------------------------------------------------------------------------------------------------------

cdef int close_row(RowHasher self) except -1 nogil:
    """End the row: write its columns and values."""
    cdef Py_ssize_t n = self.table.n_used
    if self.crowd is not None:
        with gil:
            return add_columns(self, list(self.crowd.items()))
    make_room_for_row(self, n)
    if self.single:
        empty(&self.table, self.binary, self.norm, <float*>self.data + self.nnz, self.indices + self.nnz)
    else:
        empty(&self.table, self.binary, self.norm, <double*>self.data + self.nnz, self.indices + self.nnz)
    return end_row(self, n)


cdef int add_columns(RowHasher self, list found) except -1:
    """Append the row of columns and values, in any order; those of one column add up."""
    found.sort(key=column_in)
    make_room_for_row(self, len(found))
    if self.single:
        return end_row(self, write_row(found, self.binary, self.norm, <float*>self.data + self.nnz, self.indices + self.nnz))
    return end_row(self, write_row(found, self.binary, self.norm, <double*>self.data + self.nnz, self.indices + self.nnz))


cdef int end_row(RowHasher self, Py_ssize_t n) noexcept nogil:
    self.nnz += n
    self.n_rows += 1
    self.indptr[self.n_rows] = self.nnz
    return 0


cdef Py_ssize_t write_row(list found, bint binary, int norm, number* data, int32_t* indices) except -1:
    """Write a row from columns in order, and values; return its length."""
    cdef Py_ssize_t n = 0
    cdef int32_t column
    cdef double value
    for column, value in found:
        if n == 0 or indices[n - 1] != column:
            indices[n], data[n] = column, 0.0
            n += 1
        data[n - 1] = 1.0 if binary else data[n - 1] + <number>value
    normalise(data, n, norm, EXACT + 1)
    return n


cdef int empty(Table* t, bint binary, int norm, number* data, int32_t* indices) noexcept nogil:
    """Write the columns and values of a row from a table, and empty the table."""
    cdef int64_t squares
    cdef Py_ssize_t i, n = drain(<uint32_t*>t.slots, t.home_size, indices, t.used, &squares)
    cdef double total = 1.0
    t.n_used = 0
    if binary:
        squares = n
        for i in range(n):
            t.used[i] = 1
    if norm == L2 and 0 < squares <= EXACT:
        norm, total = NONE, sqrt(<double>squares)
    divide(t.used, n, total, data, sizeof(number))
    return normalise(data, n, norm, squares)


cdef int normalise(number* data, Py_ssize_t n, int norm, int64_t squares) noexcept nogil:
    """Divide a row by its norm, in scikit-learn's precision and order. squares : the sum of the squared values if it is exact."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(n if norm == L1 else 0):
        total += data[i] if data[i] >= 0 else -data[i]
    for i in range(n if norm == L2 and squares > EXACT else 0):
        total += data[i] * data[i]
    total = total if norm == L1 else sqrt(total)
    if total > 0.0:
        for i in range(n):
            data[i] = <number>(data[i] / total)
    return 0


cdef inline int make_room_for_row(RowHasher self, Py_ssize_t n_entries) except -1 nogil:
    if self.n_rows + 2 > self.indptr_size or self.nnz + n_entries > self.entries_size:
        with gil:
            enlarge(self, n_entries)
    return 0


cdef enlarge(RowHasher self, Py_ssize_t n_entries):
    """Make room for a row more of n_entries, and for as much again."""
    cdef Py_ssize_t n
    if self.n_rows + 2 > self.indptr_size:
        self.indptr_size = 2 * self.indptr_size + 2
        self.ends = enlarged(self.ends, self.indptr_size, INT64)
        self.indptr = <int64_t*>start_of(self.ends, &n, True)
        self.indptr[0] = 0
    if self.nnz + n_entries > self.entries_size or self.values is NOTHING:
        self.entries_size = max(2 * self.entries_size, self.nnz + n_entries)
        self.values = enlarged(self.values, self.entries_size, FLOAT32 if self.single else FLOAT64)
        self.columns = enlarged(self.columns, self.entries_size, INT32)
        self.data = start_of(self.values, &n, True)
        self.indices = <int32_t*>start_of(self.columns, &n, True)


cdef enlarged(array, Py_ssize_t size, dtype):
    found = new(size, dtype)
    if array is not NOTHING:
        found[:len(array)] = array
    return found


# --- documents ---------------------------------------------------------------------------------------------------------------

cdef int make_room(RowHasher self, Py_ssize_t n_bytes) except -1 nogil:
    """Make room for a document of n bytes, in one block of memory."""
    cdef Py_ssize_t size = (n_bytes + 15) // 8 * 8
    if n_bytes > self.longest:
        with gil:
            raise ValueError(f"a text must have at most {self.longest} bytes, got {n_bytes}. Split it.")
    if size > self.text_size:
        size = max(size, 2 * self.text_size)
        self.text_size = 0
        free(self.text)
        self.text = <unsigned char*>malloc(3 * (size + PAD) + size * sizeof(Unit))
        if self.text == NULL:
            raise_memory_error()
        self.flags, self.joined = self.text + size + PAD, self.text + 2 * (size + PAD)
        self.units, self.text_size = <Unit*>(self.joined + size + PAD), size
    return 0


cdef int add_str(RowHasher self, str text) except -1:
    """Append the row of a str. Lone surrogates are not part of a word; an n-gram of characters has none."""
    if add_points(self, PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text), PyUnicode_KIND(text)) == 0:
        return 0
    text = text.lower() if self.lowercase else text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        if self.analyzer == WORD:
            text = text.encode("utf-8", "replace").decode()
        elif self.analyzer == CHAR and len(WHITE_SPACES.sub(" ", text)) < self.min_n:
            text = ""                           # (a word that is too short is hashed as it is)
        else:
            raise
    return add_points(self, PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text), PyUnicode_KIND(text))


cdef int add_points(RowHasher self, const void* points, Py_ssize_t n, int kind) except -2 nogil:
    """Append the row of a str of `kind` bytes a character, or of UTF-8 (0); return -1 if Python must convert it before."""
    cdef Py_ssize_t m
    cdef int32_t wanted = IN_WORD if self.analyzer == WORD else IN_SPACE
    make_room(self, n * min(kind + 1, 4) + (n // 2 if kind == 0 else 0))    # lower case can be longer by half
    if kind == 0:
        m = write(<const int8_t*>points, n, self.lowercase, wanted, self.text, self.flags)
    elif kind == 1:
        m = write(<const uint8_t*>points, n, self.lowercase, wanted, self.text, self.flags)
    elif kind == 2:
        m = write(<const uint16_t*>points, n, self.lowercase, wanted, self.text, self.flags)
    else:
        m = write(<const uint32_t*>points, n, self.lowercase, wanted, self.text, self.flags)
    if m < 0:
        return -1
    return hash_words(self, find_words(self, m)) if self.analyzer == WORD else hash_characters(self, m)


cdef Py_ssize_t find_words(RowHasher self, Py_ssize_t n) noexcept nogil:
    """Fill `units` with the words of `text` that are long enough, and return their number."""
    cdef Py_ssize_t n_units, n_words = 0, i
    cdef unsigned char first
    cdef bint two = self.min_chars == 2         # words of one byte are left out,
    memset(self.flags + n, 0, PAD)
    n_units = (edges_of(self.flags, n, two, <int32_t*>self.units) - <int32_t*>self.units) // 2
    if not two:
        return n_units
    for i in range(n_units):                    # and so are those of one longer character
        first = self.text[self.units[i].start]
        self.units[n_words] = self.units[i]
        n_words += first < 0x80 or self.units[i].end - self.units[i].start > width(first)
    return n_words


cdef int hash_words(RowHasher self, Py_ssize_t n_units) except -1 nogil:
    """Append the row of the words in `units`."""
    if self.stop_mask >= 0:
        n_units = without_stops(self, n_units)
    open_row(self, n_units * min(self.max_n - self.min_n + 1, n_units))
    if self.max_n > 1:
        join(self, n_units)
    hash_ngrams(self, self.text if self.max_n == 1 else self.joined, 0, n_units)
    return close_row(self)


cdef Py_ssize_t without_stops(RowHasher self, Py_ssize_t n_units) noexcept nogil:
    cdef Py_ssize_t i, n_kept = 0, size, at, begin, end
    cdef const unsigned char* word
    for i in range(n_units):
        word = self.text + self.units[i].start
        size = self.units[i].end - self.units[i].start
        at = murmur3(word, size, 0) & <uint32_t>self.stop_mask
        self.units[n_kept] = self.units[i]
        n_kept += 1
        while True:
            begin, end = self.stops[2 * at], self.stops[2 * at + 1]
            if end == 0:
                break
            if end - begin == size and memcmp(self.stop_text + begin, word, size) == 0:
                n_kept -= 1
                break
            at = (at + 1) & self.stop_mask
    return n_kept


cdef void join(RowHasher self, Py_ssize_t n_units) noexcept nogil:
    """Copy the words to `joined`, with one space between them."""
    cdef Py_ssize_t i, size, m = 0
    for i in range(n_units):
        size = self.units[i].end - self.units[i].start
        memcpy(self.joined + m, self.text + self.units[i].start, 16)     # nearly always enough, and of a known size
        if size > 16:
            memcpy(self.joined + m + 16, self.text + self.units[i].start + 16, size - 16)
        self.units[i].start = <int32_t>m
        m += size
        self.units[i].end = <int32_t>m
        self.joined[m] = 0x20
        m += 1


cdef int hash_characters(RowHasher self, Py_ssize_t n) except -1 nogil:
    """Append the row of the characters in `text`."""
    memset(self.flags + n, 0, PAD)
    if self.analyzer == CHAR:
        hash_all_characters(self, n)
    else:
        hash_padded_words(self, n)
    return close_row(self)


cdef int hash_all_characters(RowHasher self, Py_ssize_t n) except -1 nogil:
    """Hash n-grams of characters; two or more characters of white space count as one space."""
    cdef Py_ssize_t i = 0, m = 0, n_units = 0, size, after
    while i < n:
        size = width(self.text[i])
        after = i + size
        self.units[n_units].start = <int32_t>m
        if self.flags[i] and after < n and self.flags[after]:
            while after < n and self.flags[after]:
                after += width(self.text[after])
            self.joined[m] = 0x20
            m += 1
        else:
            memcpy(self.joined + m, self.text + i, 4)
            m += size
        i = after
        self.units[n_units].end = <int32_t>m
        n_units += 1
    open_row(self, n_units * min(self.max_n - self.min_n + 1, n_units))
    return hash_ngrams(self, self.joined, 0, n_units)


cdef int hash_padded_words(RowHasher self, Py_ssize_t n) except -1 nogil:
    """Hash n-grams of characters within words padded by a space at either end; a word that is too short is hashed whole."""
    cdef Py_ssize_t i = 0, m = 1, size, n_units = 1, first = 0
    cdef unsigned char *text = self.text, *flags = self.flags, *joined = self.joined
    cdef Unit* units = self.units
    open_row(self, (n + 2) * min(self.max_n - self.min_n + 1, 8))      # (most words are short)
    joined[0] = 0x20                            # the space after a word is the one before the next
    units[0] = Unit(0, 1)
    while i <= n:
        if i < n and not flags[i]:
            size = width(text[i])
            memcpy(joined + m, text + i, 4)
        else:
            size = 1
            joined[m] = 0x20
        if i < n and not flags[i] or n_units - first > 1:
            units[n_units] = Unit(<int32_t>m, <int32_t>(m + size))
            m += size
            n_units += 1
            if i == n or flags[i]:              # the word is whole
                if self.min_n > n_units - first:
                    hash_one(self, joined + units[first].start, m - units[first].start)
                hash_ngrams(self, joined, first, n_units - first)
                first = n_units - 1
        i += width(text[i]) if i < n else 1
    return 0


def not_a_text(item, row):
    """Return the error for an item that is no document."""
    needed = "HashingVectorizer: X must hold str, bytes or dicts, got"
    if is_missing(item):
        return ValueError(f"{needed} {item!r}, a missing value, in row {row}. Drop such rows, or fill them with ''.")
    return TypeError(f"{needed} {type(item).__name__} in row {row}.")


cdef class RowHasher:
    """Make CSR rows of documents. min_chars : the least number of characters of a word."""

    def __cinit__(self, analyzer="word", ngram_range=(1, 1), lowercase=True, stop_words=None, binary=False, alternate_sign=True,
                  norm="l2", dtype=np.float64, int64_t n_features=2**20, min_chars=2, decode_error="strict", dict heard=None,
                  Py_ssize_t most_heard=0):
        self.analyzer, self.norm = ANALYZERS[analyzer], NORMS[norm]
        # No document has more than MAX_DOCUMENT units, so that longer n-grams are all empty, and their lengths fit an int.
        self.min_n, self.max_n = (min(n, MAX_DOCUMENT + 1) for n in ngram_range)
        self.longest = MAX_DOCUMENT // (self.max_n - self.min_n + 1)
        self.lowercase, self.binary, self.alternate_sign = lowercase, binary, alternate_sign
        self.single, self.n_features = dtype == np.float32, n_features
        self.mask = n_features - 1 if n_features & (n_features - 1) == 0 and n_features > 1 else 0
        self.min_chars, self.decode_error, self.heard, self.most_heard = min_chars, decode_error, heard, most_heard
        self.stop_mask = -1
        if stop_words:
            self.set_stops(stop_words)
        make_room(self, 0)
        self.clear()

    def __dealloc__(self):
        free(self.stops)
        free(self.text)
        free(self.table.slots)
        free(self.table.used)

    def set_stops(self, words):
        """Put the words to leave out in a hash table that is at most half full."""
        cdef Py_ssize_t begin = 0, size = 4
        cdef uint32_t at
        encoded_words = [word.encode("utf-8", "surrogatepass") for word in words]
        self.stop_bytes = b"".join(encoded_words)
        self.stop_text = <const unsigned char*>PyBytes_AS_STRING(self.stop_bytes)
        while size < 2 * len(encoded_words):
            size *= 2
        self.stops = <Py_ssize_t*>calloc(2 * size, sizeof(Py_ssize_t))
        if self.stops == NULL:
            raise MemoryError()
        self.stop_mask = size - 1
        for word in encoded_words:
            if word:                            # no token is empty
                at = murmur3(<const unsigned char*>PyBytes_AS_STRING(word), len(word), 0) & <uint32_t>self.stop_mask
                while self.stops[2 * at + 1]:
                    at = (at + 1) & <uint32_t>self.stop_mask
                self.stops[2 * at] = begin
                self.stops[2 * at + 1] = begin + len(word)
            begin += len(word)

    cdef int add(self, const unsigned char* text, Py_ssize_t n) except -1 nogil:
        cdef int32_t* end
        make_room(self, n)
        if self.analyzer == WORD:
            end = ascii_words(text, n, self.text, self.lowercase, self.min_chars == 2, <int32_t*>self.units)
            if end is not NULL:
                return hash_words(self, (end - <int32_t*>self.units) // 2)
        elif fold(text, n, 1, self.text, self.flags, self.lowercase, False) == n:
            return hash_characters(self, n)
        if add_points(self, text, n, 0) < 0:
            with gil:
                add_str(self, (<const char*>text)[:n].decode("utf-8", self.decode_error))
        return 0

    def add_texts(self, list texts):
        """Append rows of str, bytes and dicts of words; others raise TypeError."""
        cdef const void* at[256]
        cdef Py_ssize_t size[256]
        cdef int kind[256]                      # bytes a character of a str, 0 for UTF-8
        cdef Py_ssize_t i = 0, j, n, n_bytes
        cdef list held = []                     # keeps the texts alive while the GIL is released
        while i < len(texts):
            n = n_bytes = 0
            held.clear()
            while i < len(texts) and n < 256 and n_bytes < BATCH:
                text = texts[i]
                if isinstance(text, str):
                    at[n], size[n] = PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)
                    kind[n] = 0 if PyUnicode_IS_ASCII(text) else PyUnicode_KIND(text)
                elif isinstance(text, bytes):
                    at[n], size[n], kind[n] = PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text), 0
                elif not isinstance(text, dict):
                    raise not_a_text(text, self.n_rows + n)
                elif n == 0:
                    self.add_dict(text if type(text) is dict else dict(text))
                    i += 1
                    continue
                else:
                    break
                held.append(text)
                n_bytes += size[n]
                n += 1
                i += 1
            with nogil:
                for j in range(n):
                    if kind[j] == 0:
                        self.add(<const unsigned char*>at[j], size[j])
                    elif add_points(self, at[j], size[j], kind[j]) < 0:
                        with gil:
                            add_str(self, held[j])
            PyErr_CheckSignals()
            make_room_for_row(self, <Py_ssize_t>((len(texts) - i) * (1.1 * self.nnz / self.n_rows)))  # for all that follow

    def add_dict(self, dict words):
        """Append the row of a dict of names and values, as scikit-learn's FeatureHasher makes it."""
        cdef bytes key
        cdef double value
        cdef uint32_t h
        found = []
        for name, given in words.items():
            key = name if isinstance(name, bytes) else str(name).encode()
            try:
                key, value = (key + b"=" + given.encode(), 1.0) if isinstance(given, str) else (key, given)
            except (TypeError, OverflowError):
                value = NAN
            if not fabs(value) < INFINITY:
                came = f"{brief({name: given})} in row {self.n_rows}"
                raise ValueError(f"HashingVectorizer: values of words must be finite numbers or texts, got {came}.")
            h = murmur3(<const unsigned char*>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key), 0)
            if self.heard is not None:
                hear(self, h, <const unsigned char*>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))
            if value != 0.0:
                found.append((column_of(self, h), value * sign_of(self, h)))
        add_columns(self, found)

    def add_offsets(self, const offset_t[::1] offsets, const unsigned char[::1] text):
        """Append rows of the documents between neighbouring offsets of one text, as in Arrow's string columns.

        Offsets outside the text, or not in order, raise ValueError; the rows before them are appended.
        """
        cdef Py_ssize_t i = 0, n = offsets.shape[0] - 1, size = text.shape[0]
        cdef int64_t first, end, until
        cdef const unsigned char* start = &text[0] if size else <const unsigned char*>b""
        while i < n:
            until = -1
            with nogil:
                while i < n:
                    first, end = offsets[i], offsets[i + 1]
                    if not 0 <= first <= end <= size:
                        with gil:
                            raise ValueError(
                                f"the offsets of a text of {size} bytes must be in order and within it, got {first} and {end}"
                            )
                    if until < 0:
                        until = first + BATCH
                    elif first >= until:
                        break
                    self.add(start + first, end - first)
                    i += 1
            PyErr_CheckSignals()

    def add_tokens(self, tokens):
        """Append the row of one document from its tokens, str or bytes."""
        cdef bytes token
        tokens = list(tokens)
        open_row(self, len(tokens))
        for each in tokens:
            if not isinstance(each, str | bytes):
                raise TypeError(f"tokens must be str or bytes, got {type(each).__name__}")
            token = each.encode("utf-8") if isinstance(each, str) else each
            hash_one(self, <const unsigned char*>PyBytes_AS_STRING(token), PyBytes_GET_SIZE(token))
        close_row(self)

    def take(self):
        """Return the `Rows` added since the last call. (A value may be 0, where signs cancel.)"""
        if self.ends is NOTHING:
            enlarge(self, 0)
        rows = Rows(self.values[:self.nnz], self.columns[:self.nnz], self.ends[:self.n_rows + 1], self.n_rows, self.n_features)
        self.clear()
        return rows

    def clear(self):
        self.values = self.columns = self.ends = NOTHING
        self.entries_size = self.indptr_size = self.n_rows = self.nnz = 0
