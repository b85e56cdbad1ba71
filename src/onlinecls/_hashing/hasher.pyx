"""From documents to CSR rows of hashed features, as scikit-learn's HashingVectorizer makes them, without the GIL.

A document takes four steps. It is lower-cased into a buffer of UTF-8, and each of its bytes is flagged as part of a word or not
(many at a time while they are ASCII). The flagged runs are its words; in ASCII text they are found in the same pass. Words are
joined by single spaces, so that an n-gram is a slice, and hashed several at once. Columns are counted in a table whose home
slots are in the order of columns: a row is sorted by reading the table and moving a few neighbours.
"""
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

import re
from operator import itemgetter

import numpy as np

from .lanes cimport (
    QUEUE, STRETCH, Queue, ascii_words, divide_doubles, divide_floats, drain, edges_of, fold, hash_all, enqueue, map_bits,
)
from .murmur cimport murmur3, murmur3_of_two

from .._input.validate import brief
from .._rows import Rows

cdef extern from "Python.h":
    bint Py_UNICODE_ISALNUM(uint32_t c) noexcept nogil
    bint Py_UNICODE_ISSPACE(uint32_t c) noexcept nogil
    uint32_t Py_UNICODE_TOLOWER(uint32_t c) noexcept nogil
    bint PyUnicode_IS_ASCII(object text)
    int PyUnicode_KIND(object text)             # bytes a character
    const void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef enum Analyzer:
    WORD
    CHAR
    CHAR_WB

cdef enum Norm:
    NONE
    L1
    L2

cdef enum:
    PAD = 128                   # bytes beyond the end of a document's buffers that may be read or written
    MOST_SLOTS_AT_FIRST = 1 << 14
    CROWDED = 128               # slots from home at which a table is given up: only crafted hashes crowd so
    BATCH = 1 << 20             # bytes between two checks for signals: well under 50 ms
    MAX_DOCUMENT = 1 << 30      # bytes, for one length of n-grams: positions and counts are int32
    EXACT = 1 << 24             # up to here sums of squares are exact in any order and precision

MAX_FEATURES = 2**31 - 1            # columns are int32
ANALYZERS = {"word": WORD, "char": CHAR, "char_wb": CHAR_WB}
WHITE_SPACES = re.compile(r"\s\s+")   # one space, for n-grams of characters
column_in = itemgetter(0)
NORMS = {None: NONE, "l1": L1, "l2": L2}

ctypedef fused number:
    float
    double

ctypedef fused offset_t:
    int32_t
    int64_t

ctypedef fused point_t:     # code points of a str
    uint8_t
    uint16_t
    uint32_t


# --- characters: `\w`, `\s` and str.lower as in the running Python -----------------------------------------------------------

cdef enum:
    IN_WORD = 1
    IN_SPACE = 2
    KNOWN = 0x100000            # beside the flags of SHORT
    MAPPED = 0x20000            # code points in the table: all scripts but the ideographs beyond, which are rare
    SIGMA = 0x3A3               # lower-cased by its neighbours
    DOTTED_I = 0x130            # lower-cased to two characters

cdef uint16_t PAGES[MAPPED >> 8]
# For each character of one or two bytes, the bytes of its lower case in the machine's order, and its flags 16 bits further up;
# 0 if its lower case has another length or depends on the neighbours.
cdef uint32_t SHORT[0x800]
cdef int32_t* CHARACTERS = NULL
# For each 256 code points, 1 if all have three bytes, are parts of words and have no case: nearly all of Chinese and Korean.
cdef unsigned char PLAIN[0x1100]


cdef int32_t character(uint32_t c) noexcept nogil:
    """Return (lower case - c) << 2 | IN_SPACE | IN_WORD."""
    cdef int32_t away = <int32_t>Py_UNICODE_TOLOWER(c) - <int32_t>c
    return away * 4 | (IN_SPACE if Py_UNICODE_ISSPACE(c) else 0) | (IN_WORD if Py_UNICODE_ISALNUM(c) or c == 0x5F else 0)


cdef int map_characters() except -1:
    """Fill the table from the running Python's Unicode data, equal pages once. Takes 2 ms."""
    global CHARACTERS
    cdef Py_ssize_t page, i, n_pages = 0
    cdef int32_t* grown
    cdef uint32_t c
    cdef uint16_t pair
    cdef unsigned char bytes_[4]
    for page in range(MAPPED >> 8):
        grown = <int32_t*>realloc(CHARACTERS, (n_pages + 1) * 256 * sizeof(int32_t))
        if grown == NULL:
            raise MemoryError()
        CHARACTERS = grown
        for i in range(256):
            CHARACTERS[n_pages * 256 + i] = character(<uint32_t>(page * 256 + i))
        for i in range(n_pages + 1):
            if memcmp(CHARACTERS + i * 256, CHARACTERS + n_pages * 256, 256 * sizeof(int32_t)) == 0:
                break
        PAGES[page] = <uint16_t>i
        n_pages += i == n_pages
        PLAIN[page] = 0x8 <= page < 0x100
        for c in range(256):
            PLAIN[page] &= CHARACTERS[i * 256 + c] == IN_WORD
    for c in range(0x800):
        bytes_[1] = 0
        if c not in (SIGMA, DOTTED_I) and encoded(c + (character(c) >> 2), bytes_) == (1 if c < 0x80 else 2):
            memcpy(&pair, bytes_, 2)
            SHORT[c] = pair | KNOWN | <uint32_t>(character(c) & (IN_WORD | IN_SPACE)) << 16
    return 0


cdef inline int32_t character_of(uint32_t c) noexcept nogil:
    return CHARACTERS[(<Py_ssize_t>PAGES[c >> 8] << 8) + (c & 255)] if c < MAPPED else character(c)


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
        return 0 if c[0] < 0x800 or 0xD800 <= c[0] < 0xE000 else 3
    if n < 4 or (text[3] & 0xC0) != 0x80:
        return 0
    c[0] = (a & 0x0F) << 18 | <uint32_t>(text[1] & 0x3F) << 12 | <uint32_t>(text[2] & 0x3F) << 6 | (text[3] & 0x3F)
    return 0 if not 0x10000 <= c[0] < 0x110000 else 4


cdef inline bint plain(const unsigned char* text) noexcept nogil:
    """Return True if a plain character begins at text, where at least three bytes may be read."""
    return ((text[0] & 0xF0) == 0xE0 and (text[1] & 0xC0) == 0x80 and (text[2] & 0xC0) == 0x80
            and PLAIN[(text[0] & 0x0F) << 4 | (text[1] & 0x3F) >> 2])


cdef inline Py_ssize_t encoded(uint32_t c, unsigned char* text) noexcept nogil:
    if c < 0x80:
        text[0] = <unsigned char>c
        return 1
    if c < 0x800:
        text[0] = <unsigned char>(0xC0 | c >> 6)
        text[1] = <unsigned char>(0x80 | (c & 0x3F))
        return 2
    if c < 0x10000:
        text[0] = <unsigned char>(0xE0 | c >> 12)
        text[1] = <unsigned char>(0x80 | (c >> 6 & 0x3F))
        text[2] = <unsigned char>(0x80 | (c & 0x3F))
        return 3
    text[0] = <unsigned char>(0xF0 | c >> 18)
    text[1] = <unsigned char>(0x80 | (c >> 12 & 0x3F))
    text[2] = <unsigned char>(0x80 | (c >> 6 & 0x3F))
    text[3] = <unsigned char>(0x80 | (c & 0x3F))
    return 4


map_characters()
map_bits()


cdef inline void write_three(uint32_t c, unsigned char* text) noexcept nogil:
    """Write a character of three bytes, and one byte more."""
    cdef uint32_t four = 0x8080E0 | c >> 12 | (c << 2 & 0x3F00) | (c << 16 & 0x3F0000)
    memcpy(text, &four, 4)


cdef inline Py_ssize_t place(uint32_t c, bint lowercase, int32_t wanted, unsigned char* text,
                             unsigned char* flags) noexcept nogil:
    """Write a character and its flags, and return its length."""
    cdef int32_t kind = character_of(c)
    cdef uint32_t low = <uint32_t>(<int32_t>c + (kind >> 2)) if lowercase else c
    cdef uint32_t four = 0x80808080 if kind & wanted else 0
    memcpy(flags, &four, 4)
    if 0x800 <= low < 0x10000:
        write_three(low, text)
        return 3
    if lowercase and c == DOTTED_I:             # i and the dot above it, which is not part of a word
        memcpy(text, b"i\xCC\x87", 3)
        flags[1] = flags[2] = 0
        return 3
    return encoded(low, text)


cdef inline Py_ssize_t place_short(const unsigned char* at, Py_ssize_t n, bint lowercase, int flag_at, unsigned char* text,
                                   unsigned char* flags) noexcept nogil:
    """Write the first character of n > 0 bytes and its flags, and return its length; 0 unless it is in SHORT. flag_at : bit."""
    cdef uint32_t first = at[0], second, entry, two, whole
    cdef uint16_t pair
    if n > 1:                                   # one byte or two, without a branch, which would be mispredicted
        second = at[1]
        two = first >= 0x80
        entry = SHORT[first ^ ((first ^ ((first & 0x1F) << 6 | (second & 0x3F))) & (0 - two))]
        whole = (first - 0xC2 < 0x1E) & ((second & 0xC0) == 0x80)
        if entry == 0 or whole != two:
            return 0
        pair = <uint16_t>entry if lowercase else <uint16_t>(first | second << 8)
        memcpy(text, &pair, 2)
        pair = <uint16_t>((entry >> flag_at & 1) * 0x8080)
        memcpy(flags, &pair, 2)
        return 1 + two
    if first >= 0x80:
        return 0
    entry = SHORT[first]
    text[0] = <unsigned char>(entry if lowercase else first)
    flags[0] = <unsigned char>((entry >> flag_at & 1) * 0x80)
    return 1


cdef Py_ssize_t write_str(const point_t* points, Py_ssize_t n, bint lowercase, int32_t wanted, unsigned char* text,
                          unsigned char* flags) noexcept nogil:
    """Write a str as text and flags, and return the length; -1 if only Python can lower-case or encode it."""
    cdef Py_ssize_t i = 0, m = 0
    cdef uint32_t c, entry, plain = 0x80808080 if wanted == IN_WORD else 0
    cdef uint16_t pair
    cdef int flag_at = 16 if wanted == IN_WORD else 17
    while i < n:
        c = points[i]
        i += 1
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
            i -= 1
            while i < n and PLAIN[<uint32_t>points[i] >> 8]:
                write_three(points[i], text + m)
                memcpy(flags + m, &plain, 4)
                m += 3
                i += 1
        elif 0xD800 <= c < 0xE000 or (lowercase and c == SIGMA):
            return -1
        else:
            m += place(c, lowercase, wanted, text + m, flags + m)
    return m


# --- eight ASCII bytes at a time: the top bit of each byte of the result is the answer ----------------------------------------

cdef inline uint64_t at_least(uint64_t x, uint64_t c) noexcept nogil:
    return x + <uint64_t>0x0101010101010101 * (0x80 - c)


cdef inline uint64_t within(uint64_t x, uint64_t first, uint64_t last) noexcept nogil:
    return at_least(x, first) & ~at_least(x, last + 1) & <uint64_t>0x8080808080808080


cdef inline uint64_t lowered(uint64_t x) noexcept nogil:
    return x | within(x, 0x41, 0x5A) >> 2


cdef inline uint64_t in_word(uint64_t low) noexcept nogil:
    return within(low, 0x61, 0x7A) | within(low, 0x30, 0x39) | within(low, 0x5F, 0x5F)


cdef inline uint64_t in_space(uint64_t x) noexcept nogil:
    return within(x, 0x09, 0x0D) | within(x, 0x1C, 0x20)


cdef inline uint64_t eight(const unsigned char* at) noexcept nogil:
    cdef uint64_t x
    memcpy(&x, at, 8)
    return x


# --- the table of a document's columns ---------------------------------------------------------------------------------------

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


cdef inline int32_t sign_of(RowHasher self, uint32_t h) noexcept nogil:
    return 1 - <int32_t>(h >> 31) * 2 * self.alternate_sign


cdef inline uint32_t column_of(RowHasher self, uint32_t h) noexcept nogil:
    """Return |h| mod n_features."""
    cdef uint32_t size = h if h < <uint32_t>0x80000000 else 0 - h      # |h| as int32; 2^31 for -2^31
    return size & self.mask if self.mask else size % <uint32_t>self.n_features


cdef int count_queue(RowHasher self, Queue* w, const unsigned char* text) except -1 nogil:
    """Hash and count the tokens in the queue."""
    cdef int i, j, k, n = w.n, crowded = 0
    cdef uint32_t h, other
    cdef Table t
    hash_all(w, <uint32_t>self.mask if self.mask else <uint32_t>0xFFFFFFFF, -1 if self.alternate_sign else 0)
    if not self.mask:
        for i in range(n):
            w.column[i] %= <uint32_t>self.n_features
    for k in range(0, w.n_longer, 2):
        i, j = w.longer[k], w.longer[min(k + 1, w.n_longer - 1)]
        h, other = murmur3_of_two(text + w.start[i], w.size[i], text + w.start[j], w.size[j])
        w.column[i], w.sign[i] = column_of(self, h), sign_of(self, h)
        w.column[j], w.sign[j] = column_of(self, other), sign_of(self, other)
    w.n = w.n_longer = 0
    if self.listing:
        for i in range(n):
            self._list_one(w.column[i], w.sign[i])
        return 0
    self._widen(n)
    t = self.table
    for i in range(n):
        crowded |= put(&t, w.column[i], w.sign[i])
    self.table.n_used = t.n_used
    return self._list() if crowded else 0


cdef int by_column(const void* a, const void* b) noexcept nogil:
    cdef uint32_t left = (<const Slot*>a).key, right = (<const Slot*>b).key
    return (left > right) - (left < right)


cdef int raise_memory_error() except -1 nogil:
    with gil:
        raise MemoryError()


cdef inline Py_ssize_t width(unsigned char first) noexcept nogil:
    """Return the number of bytes of a character from its first byte."""
    return 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)


cdef int write_row(const Slot* listed, Py_ssize_t n, bint binary, int norm, number* data, int32_t* indices) noexcept nogil:
    """Write the columns and values of a row from a list of n columns, sorted and unique."""
    cdef Py_ssize_t i
    cdef int64_t squares = 0
    for i in range(n):
        indices[i] = <int32_t>(listed[i].key - 1)
        data[i] = 1 if binary else <number>listed[i].count
        squares += <int64_t>listed[i].count * listed[i].count
    return normalise(data, n, norm, n if binary else squares)


cdef Py_ssize_t write_words(list found, bint binary, int norm, number* data, int32_t* indices) except -1:
    """Write a row from columns, sorted, and their values, which add up; return its length."""
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
    cdef int32_t* counts = t.used
    cdef int64_t squares
    cdef Py_ssize_t i, n = drain(<uint32_t*>t.slots, t.home_size, indices, counts, &squares)
    cdef double total = 1.0
    t.n_used = 0
    if binary:
        squares = n
        for i in range(n):
            counts[i] = 1
    if norm == L2 and 0 < squares <= EXACT:
        norm, total = NONE, sqrt(<double>squares)
    if number is float:
        divide_floats(counts, n, total, data)
    else:
        divide_doubles(counts, n, total, data)
    return normalise(data, n, norm, squares)


cdef int normalise(number* data, Py_ssize_t n, int norm, int64_t squares) noexcept nogil:
    """Divide a row by its norm, in scikit-learn's precision and order. squares : the sum of the squared values."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    if norm == L1:
        for i in range(n):
            total += data[i] if data[i] >= 0 else -data[i]
    elif norm == L2:
        total = <double>squares
        if total > EXACT:
            total = 0.0
            for i in range(n):
                total += data[i] * data[i]
        total = sqrt(total)
    if norm != NONE and total > 0.0:
        for i in range(n):
            data[i] = <number>(data[i] / total)
    return 0


cdef class Memory:
    """Own a block of memory that NumPy reads through the buffer protocol."""
    cdef void* start
    cdef Py_ssize_t n_bytes

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.start, self.n_bytes, 0, flags)

    def __dealloc__(self):
        free(self.start)


cdef array_of(void* start, Py_ssize_t n_bytes, dtype):
    """Return an array that owns the memory allocated at start."""
    cdef Memory memory
    if n_bytes == 0:
        free(start)
        return np.empty(0, dtype)
    memory = Memory()
    memory.start = realloc(start, n_bytes)          # smaller, so that it hardly fails; then the block stays
    if memory.start == NULL:
        memory.start = start
    memory.n_bytes = n_bytes
    return np.frombuffer(memory, dtype)


cdef class RowHasher:
    """Make CSR rows of documents. min_chars : the least number of characters of a word."""

    def __cinit__(self, analyzer="word", ngram_range=(1, 1), lowercase=True, stop_words=None, binary=False, alternate_sign=True,
                  norm="l2", dtype=np.float64, int64_t n_features=2**20, min_chars=2, decode_error="strict", heard=None):
        self.analyzer, self.norm = ANALYZERS[analyzer], NORMS[norm]
        # No document has more than MAX_DOCUMENT units, so that longer n-grams are all empty, and their lengths fit an int.
        self.min_n, self.max_n = (min(n, MAX_DOCUMENT + 1) for n in ngram_range)
        self.lowercase, self.binary, self.alternate_sign = lowercase, binary, alternate_sign
        self.single = dtype == np.float32
        self.n_features = n_features
        self.mask = n_features - 1 if n_features & (n_features - 1) == 0 and n_features > 1 else 0
        self.min_chars, self.decode_error, self.heard = min_chars, decode_error, heard
        self.stop_mask = -1
        if stop_words:
            self._set_stops(stop_words)
        self._room(1024)
        self._room_for_row(256)
        self.indptr[0] = 0

    def __dealloc__(self):
        for block in (<size_t>self.stops, <size_t>self.text, <size_t>self.flags, <size_t>self.joined, <size_t>self.units,
                      <size_t>self.table.slots, <size_t>self.table.used, <size_t>self.listed, <size_t>self.data,
                      <size_t>self.indices, <size_t>self.indptr):
            free(<void*><size_t>block)

    def _set_stops(self, words):
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
            if word:                        # no token is empty
                at = murmur3(<const unsigned char*>PyBytes_AS_STRING(word), len(word), 0) & <uint32_t>self.stop_mask
                while self.stops[2 * at + 1]:
                    at = (at + 1) & <uint32_t>self.stop_mask
                self.stops[2 * at] = begin
                self.stops[2 * at + 1] = begin + len(word)
            begin += len(word)

    # --- documents in --------------------------------------------------------------------------------------------------------

    cdef int add(self, const unsigned char* text, Py_ssize_t n) except -1 nogil:
        cdef int32_t* end
        self._refuse_long(n)
        if self.analyzer == WORD:
            self._room(n)
            end = ascii_words(text, n, self.text, self.lowercase, self.min_chars == 2, <int32_t*>self.units)
            if end is not NULL:
                self.ascii = True
                return self._hash_words((end - <int32_t*>self.units) // 2)
        return self._hash(self._normalise(text, n, self.lowercase))

    cdef int _add_points(self, const void* points, Py_ssize_t n, int kind) except -2 nogil:
        """Append the row of a str of `kind` bytes a character; return -1, and append nothing, if it must be passed as UTF-8."""
        cdef Py_ssize_t m
        cdef int32_t wanted = IN_WORD if self.analyzer == WORD else IN_SPACE
        self._refuse_long(n * min(kind + 1, 4))
        self._room(n * min(kind + 1, 4))        # in UTF-8, a character of one byte may have two
        if kind == 1:
            m = write_str(<const uint8_t*>points, n, self.lowercase, wanted, self.text, self.flags)
        elif kind == 2:
            m = write_str(<const uint16_t*>points, n, self.lowercase, wanted, self.text, self.flags)
        else:
            m = write_str(<const uint32_t*>points, n, self.lowercase, wanted, self.text, self.flags)
        if m < 0:
            return -1
        memset(self.flags + m, 0, PAD)
        self.ascii = False
        self._hash(m)
        return 0

    cdef int _refuse_long(self, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t limit = MAX_DOCUMENT // (self.max_n - self.min_n + 1)
        if n > limit:
            with gil:
                raise ValueError(f"a text must have at most {limit} bytes, got {n}. Split it.")
        return 0

    cdef int _hash(self, Py_ssize_t n) except -1 nogil:
        """Append the row of the n bytes in `text`."""
        if self.analyzer == WORD:
            return self._hash_words(self._words(n))
        if self.analyzer == CHAR:
            self._characters(n)
        else:
            self._padded_words(n)
        return self._close()

    cdef int _hash_words(self, Py_ssize_t n_units) except -1 nogil:
        if self.stop_mask >= 0:
            n_units = self._without_stops(n_units)
        self._open(n_units * (self.max_n - self.min_n + 1))
        if self.max_n > 1:
            self._join(n_units)
        self._hash_ngrams(self.text if self.max_n == 1 else self.joined, 0, n_units)
        return self._close()

    cdef Py_ssize_t _normalise(self, const unsigned char* text, Py_ssize_t n, bint lowercase) except -1 nogil:
        """Fill `text` and `flags` from a document, and return how many bytes they have."""
        cdef Py_ssize_t i = 0, m = 0, mixed = 0, step, stop
        cdef uint64_t x, low
        cdef uint32_t c, plain_flags = 0x80808080 if self.analyzer == WORD else 0
        cdef int flag_at = 16 if self.analyzer == WORD else 17
        cdef int32_t wanted = IN_WORD if self.analyzer == WORD else IN_SPACE
        cdef unsigned char* out
        cdef unsigned char* flags
        cdef bint ascii = True
        self._room(n + n // 2)                  # lower case can be longer by half
        out, flags = self.text, self.flags
        while i < n:
            while i + 8 <= n:
                x = eight(text + i)
                if x & <uint64_t>0x8080808080808080:
                    break
                if i >= mixed:                  # not in a stretch that is known to be mixed
                    step = fold(text + i, n - i, out + m, flags + m, lowercase, wanted == IN_WORD)
                    if step:
                        i += step
                        m += step
                        continue
                    mixed = i + STRETCH
                low = lowered(x)
                x = low if lowercase else x
                memcpy(out + m, &x, 8)
                x = in_word(low) if wanted == IN_WORD else in_space(x)
                memcpy(flags + m, &x, 8)
                i += 8
                m += 8
            stop = min(i + 8, n)
            while i < stop:                     # characters beyond ASCII, and their neighbours
                step = place_short(text + i, n - i, lowercase, flag_at, out + m, flags + m)
                if step:
                    ascii &= step == 1
                    i += step
                    m += step
                    continue
                ascii = False
                if i + 4 <= n and plain(text + i):
                    while i + 4 <= n and plain(text + i):
                        memcpy(out + m, text + i, 4)
                        memcpy(flags + m, &plain_flags, 4)
                        i += 3
                        m += 3
                    continue
                step = decoded(text + i, n - i, &c)
                if step == 0 or (lowercase and c == SIGMA):
                    with gil:
                        return self._through_python(text, n)
                m += place(c, lowercase, wanted, out + m, flags + m)
                i += step
        memset(flags + m, 0, PAD)
        self.ascii = ascii
        return m

    cdef Py_ssize_t _through_python(self, const unsigned char* text, Py_ssize_t n) except -1:
        """Fill `text` and `flags` by way of a str: from bytes that are not UTF-8, or hold a capital sigma, whose lower case
        depends on its neighbours."""
        document = (<const char*>text)[:n].decode("utf-8", self.decode_error)
        if self.lowercase:
            document = document.lower()
        rewritten = document.encode("utf-8")
        return self._normalise(<const unsigned char*>PyBytes_AS_STRING(rewritten), PyBytes_GET_SIZE(rewritten), False)

    cdef Py_ssize_t _words(self, Py_ssize_t n) noexcept nogil:
        """Fill `units` with the words of `text` that are long enough, and return their number."""
        cdef Py_ssize_t n_units, n_words = 0, i
        cdef unsigned char first
        cdef bint two = self.min_chars == 2     # words of one byte are left out
        n_units = (edges_of(self.flags, n, two, <int32_t*>self.units) - <int32_t*>self.units) // 2
        if not two or self.ascii:
            return n_units
        for i in range(n_units):                # and so are those of one longer character
            first = self.text[self.units[i].start]
            if first < 0x80 or self.units[i].end - self.units[i].start > width(first):
                self.units[n_words] = self.units[i]
                n_words += 1
        return n_words

    cdef Py_ssize_t _without_stops(self, Py_ssize_t n_units) noexcept nogil:
        cdef Py_ssize_t i, n_kept = 0, size, at, begin, end
        cdef const unsigned char* word
        for i in range(n_units):
            word = self.text + self.units[i].start
            size = self.units[i].end - self.units[i].start
            at = murmur3(word, size, 0) & <uint32_t>self.stop_mask
            self.units[n_kept].start = self.units[i].start
            self.units[n_kept].end = self.units[i].end
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

    cdef void _join(self, Py_ssize_t n_units) noexcept nogil:
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

    cdef int _characters(self, Py_ssize_t n) except -1 nogil:
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
        self._open(n_units * min(self.max_n - self.min_n + 1, 2))
        return self._hash_ngrams(self.joined, 0, n_units)

    cdef int _padded_words(self, Py_ssize_t n) except -1 nogil:
        """Hash n-grams of characters within words padded by a space at either end; a word that is too short is hashed whole."""
        cdef Py_ssize_t i = 0, m = 1, size, n_units = 1, first = 0
        self._open(n * min(self.max_n - self.min_n + 1, 2))
        self.joined[0] = 0x20                   # the space after a word is the one before the next
        self.units[0].start, self.units[0].end = 0, 1
        while i <= n:
            if i < n and not self.flags[i]:
                size = width(self.text[i])
                memcpy(self.joined + m, self.text + i, 4)
            else:
                size = 1
                self.joined[m] = 0x20
            if i < n and not self.flags[i] or n_units - first > 1:
                self.units[n_units].start = <int32_t>m
                m += size
                self.units[n_units].end = <int32_t>m
                n_units += 1
                if i == n or self.flags[i]:     # the word is whole
                    if self.min_n > n_units - first:
                        self._hash_one(self.joined + self.units[first].start, m - self.units[first].start)
                    self._hash_ngrams(self.joined, first, n_units - first)
                    first = n_units - 1
            i += width(self.text[i]) if i < n else 1
        return 0

    # --- tokens to columns ---------------------------------------------------------------------------------------------------

    cdef int _hear(self, uint32_t column, uint32_t h, const unsigned char* text, Py_ssize_t n) except -1 with gil:
        self.heard(column, sign_of(self, h) < 0, (<const char*>text)[:n])
        return 0

    cdef int _hash_one(self, const unsigned char* text, Py_ssize_t n) except -1 nogil:
        cdef uint32_t h = murmur3(text, n, 0), column = column_of(self, h)
        if self.heard is not None:
            self._hear(column, h, text, n)
        if self.listing:
            return self._list_one(column, sign_of(self, h))
        self._widen(1)
        return self._list() if put(&self.table, column, sign_of(self, h)) else 0

    cdef int _hash_ngrams(self, const unsigned char* text, Py_ssize_t first, Py_ssize_t n_units) except -1 nogil:
        """Hash the n-grams of units: that of units i..j is the text from the start of i to the end of j."""
        cdef Py_ssize_t i, end
        cdef int span, m
        cdef Queue w
        if self.heard is not None:
            return self._hash_ngrams_one_by_one(text, first, n_units)
        w.n = w.n_longer = 0
        for span in range(<int>self.min_n - 1, <int>min(self.max_n, n_units)):
            i, end = first, first + n_units - span
            while i < end:
                m = <int>min(end - i, QUEUE - w.n)
                enqueue(&w, text, <int32_t*>(self.units + i), m, span)
                i += m
                if w.n == QUEUE:
                    count_queue(self, &w, text)
        return count_queue(self, &w, text)

    cdef int _hash_ngrams_one_by_one(self, const unsigned char* text, Py_ssize_t first, Py_ssize_t n_units) except -1 nogil:
        """Hash n-grams one after the other."""
        cdef Py_ssize_t i, j, last = first + n_units
        for i in range(first, last):
            for j in range(i + self.min_n - 1, min(i + self.max_n, last)):
                self._hash_one(text + self.units[i].start, self.units[j].end - self.units[i].start)
        return 0

    # --- the table -----------------------------------------------------------------------------------------------------------

    cdef int _open(self, Py_ssize_t n_tokens) except -1 nogil:
        """Begin a row, with a table that has room for the tokens unless there are very many."""
        cdef Py_ssize_t home_size = 64
        self.listing = False
        self.n_listed = 0
        while home_size < 3 * n_tokens and home_size < MOST_SLOTS_AT_FIRST:
            home_size *= 2
        if self.table.n_used:                   # left by a document that failed
            memset(self.table.slots, 0, self.slots_size * sizeof(Slot))
            self.table.n_used = 0
        return self._rehash(home_size) if self.table.home_size != home_size else 0

    cdef int _widen(self, Py_ssize_t n) except -1 nogil:
        """Make room for n more columns, with a third of the home slots empty."""
        while 3 * (self.table.n_used + n) > 2 * self.table.home_size:
            self._rehash(2 * self.table.home_size)
        return 0

    cdef int _rehash(self, Py_ssize_t home_size) except -1 nogil:
        """Move the columns to a table of home_size home slots."""
        cdef Table t
        cdef Slot* old = self.table.slots
        cdef Py_ssize_t i, n = self._pack(), slots_size = home_size + 2 * home_size // 3 + 2 + 64   # (64 are read at a time)
        t.slots, t.used, t.home_size, t.n_used = old, self.table.used, home_size, 0
        t.scale = (<uint64_t>home_size << 32) // <uint64_t>self.n_features
        if n or slots_size > self.slots_size:
            t.slots = <Slot*>calloc(slots_size, sizeof(Slot))
            t.used = <int32_t*>malloc(slots_size * sizeof(int32_t))
            if t.slots == NULL or t.used == NULL:
                free(t.slots)
                free(t.used)
                raise_memory_error()
            self.slots_size = slots_size
        for i in range(n):
            put(&t, old[i].key - 1, old[i].count)
        if t.slots != old:
            free(old)
            free(self.table.used)
        self.table = t
        return 0

    cdef Py_ssize_t _pack(self) noexcept nogil:
        """Move the slots in use to the front, and return their number."""
        cdef Slot* slots = self.table.slots
        cdef Py_ssize_t i, n = 0
        if self.table.n_used == 0:
            return 0
        for i in range(self.table.home_size):
            slots[n] = slots[i]
            n += slots[i].key != 0
        i = self.table.home_size
        while slots[i].key != 0:                # slots beyond the last home have no gaps
            slots[n] = slots[i]
            n += 1
            i += 1
        memset(slots + n, 0, (i - n) * sizeof(Slot))
        return n

    cdef int _list(self) except -1 nogil:
        """Move the columns to a list: crafted words of neighbouring columns would take quadratic time in the table."""
        cdef Slot* slots = self.table.slots
        cdef Py_ssize_t i, n = self._pack()
        self.listing = True
        for i in range(n):
            self._list_one(slots[i].key - 1, slots[i].count)
        memset(slots, 0, n * sizeof(Slot))
        self.table.n_used = 0
        return 0

    cdef int _list_one(self, uint32_t column, int32_t count) except -1 nogil:
        cdef Slot* grown
        if self.n_listed == self.listed_size:
            grown = <Slot*>realloc(self.listed, max(2 * self.listed_size, 1024) * sizeof(Slot))
            if grown == NULL:
                raise_memory_error()
            self.listed, self.listed_size = grown, max(2 * self.listed_size, 1024)
        self.listed[self.n_listed] = Slot(column + 1, count)
        self.n_listed += 1
        return 0

    cdef Py_ssize_t _merged(self) noexcept nogil:
        """Sort the list, add up the counts of each column, and return how many columns there are."""
        cdef Slot* listed = self.listed
        cdef Py_ssize_t i, n = 0
        qsort(listed, self.n_listed, sizeof(Slot), by_column)
        for i in range(self.n_listed):
            if n and listed[n - 1].key == listed[i].key:
                listed[n - 1].count += listed[i].count
            else:
                listed[n] = listed[i]
                n += 1
        return n

    # --- the rows ------------------------------------------------------------------------------------------------------------

    cdef int _close(self) except -1 nogil:
        """End the row: write its columns and values."""
        cdef Py_ssize_t n
        if self.listing:
            n = self._merged()
            self._room_for_row(n)
            if self.single:
                write_row(self.listed, n, self.binary, self.norm, <float*>self.data + self.nnz, self.indices + self.nnz)
            else:
                write_row(self.listed, n, self.binary, self.norm, <double*>self.data + self.nnz, self.indices + self.nnz)
        else:
            n = self.table.n_used
            self._room_for_row(n)
            if self.single:
                empty(&self.table, self.binary, self.norm, <float*>self.data + self.nnz, self.indices + self.nnz)
            else:
                empty(&self.table, self.binary, self.norm, <double*>self.data + self.nnz, self.indices + self.nnz)
        return self._end_row(n)

    cdef int _end_row(self, Py_ssize_t n) noexcept nogil:
        self.nnz += n
        self.n_rows += 1
        self.indptr[self.n_rows] = self.nnz
        return 0

    cdef int _room(self, Py_ssize_t n_bytes) except -1 nogil:
        """Make room for a document of n bytes."""
        cdef Py_ssize_t size = n_bytes + 8
        if size <= self.text_size:
            return 0
        size = max(size, 2 * self.text_size)
        self.text_size = 0
        free(self.text)
        free(self.flags)
        free(self.joined)
        free(self.units)
        self.text = <unsigned char*>malloc(size + PAD)
        self.flags = <unsigned char*>malloc(size + PAD)
        self.joined = <unsigned char*>malloc(size + PAD)
        self.units = <Unit*>malloc(size * sizeof(Unit))
        if self.text == NULL or self.flags == NULL or self.joined == NULL or self.units == NULL:
            raise_memory_error()
        self.text_size = size
        return 0

    cdef int _room_for_row(self, Py_ssize_t n_entries) except -1 nogil:
        cdef Py_ssize_t size
        cdef void* grown
        if self.n_rows + 2 > self.indptr_size:
            size = max(2 * self.indptr_size, 256)
            grown = realloc(self.indptr, size * sizeof(int64_t))
            if grown == NULL:
                raise_memory_error()
            self.indptr, self.indptr_size = <int64_t*>grown, size
        if self.nnz + n_entries > self.entries_size:
            size = max(2 * self.entries_size, self.nnz + n_entries)
            grown = realloc(self.data, size * (4 if self.single else 8))
            if grown == NULL:
                raise_memory_error()
            self.data = grown
            grown = realloc(self.indices, size * sizeof(int32_t))
            if grown == NULL:
                raise_memory_error()
            self.indices, self.entries_size = <int32_t*>grown, size
        return 0

    def take(self):
        """Return the `Rows` added since the last call. (A value may be 0, where signs cancel.)"""
        data, indices, indptr = self.data, self.indices, self.indptr
        n_rows, nnz = self.n_rows, self.nnz
        self.data = NULL
        self.indices = NULL
        self.indptr = NULL
        self.entries_size = self.indptr_size = self.n_rows = self.nnz = 0
        self._room_for_row(nnz)                 # as much again
        self.indptr[0] = 0
        return Rows(
            array_of(data, nnz * (4 if self.single else 8), np.float32 if self.single else np.float64),
            array_of(indices, nnz * sizeof(int32_t), np.int32),
            array_of(indptr, (n_rows + 1) * sizeof(int64_t), np.int64),
            n_rows,
            self.n_features,
        )

    # --- from Python ---------------------------------------------------------------------------------------------------------

    def add_texts(self, list texts):
        """Append rows of str, bytes and dicts; others raise TypeError. Lone surrogates of a str are not part of a word."""
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
                elif isinstance(text, dict) and n > 0:
                    break
                elif isinstance(text, dict):
                    self._add_dict(text)
                    i += 1
                    continue
                else:
                    raise TypeError(f"{type(text).__name__} is neither str nor bytes")
                held.append(text)
                n_bytes += size[n]
                n += 1
                i += 1
            with nogil:
                for j in range(n):
                    if kind[j] == 0:
                        self.add(<const unsigned char*>at[j], size[j])
                    elif self._add_points(at[j], size[j], kind[j]) < 0:
                        with gil:
                            self._add_through_utf8(held[j])
            PyErr_CheckSignals()
            self._room_for_row(<Py_ssize_t>((len(texts) - i) * (1.1 * self.nnz / self.n_rows)))  # for all that follow

    cdef int _add_dict(self, dict words) except -1:
        """Append the row of a dict of names and values, as scikit-learn's FeatureHasher makes it."""
        cdef list found = []
        cdef bytes key
        cdef double number
        cdef uint32_t h
        cdef Py_ssize_t n
        for name, value in words.items():
            key = name if isinstance(name, bytes) else str(name).encode()
            try:
                key, number = (key + b"=" + value.encode(), 1.0) if isinstance(value, str) else (key, value)
            except (TypeError, OverflowError):
                number = NAN
            if not fabs(number) < INFINITY:
                came = f"{brief({name: value})} in row {self.n_rows}"
                raise ValueError(f"HashingVectorizer: values of words must be finite numbers or texts, got {came}.")
            h = murmur3(<const unsigned char*>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key), 0)
            if self.heard is not None:
                self._hear(column_of(self, h), h, <const unsigned char*>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))
            if number != 0.0:
                found.append((column_of(self, h), number * sign_of(self, h)))
        found.sort(key=column_in)
        self._room_for_row(len(found))
        if self.single:
            n = write_words(found, self.binary, self.norm, <float*>self.data + self.nnz, self.indices + self.nnz)
        else:
            n = write_words(found, self.binary, self.norm, <double*>self.data + self.nnz, self.indices + self.nnz)
        return self._end_row(n)

    cdef int _add_through_utf8(self, str text) except -1:
        cdef bytes utf8
        try:
            utf8 = text.encode("utf-8")
        except UnicodeEncodeError:
            if self.analyzer == WORD:
                utf8 = text.encode("utf-8", "replace")
            elif self._is_short(text):
                utf8 = b""
            else:                               # a lone surrogate has no UTF-8, and so no hash
                raise
        return self.add(<const unsigned char*>PyBytes_AS_STRING(utf8), PyBytes_GET_SIZE(utf8))

    cdef bint _is_short(self, str text) except -1:
        """Return True if the text has too few characters for an n-gram of them."""
        if self.analyzer != CHAR:               # a word that is too short is hashed as it is
            return False
        return len(WHITE_SPACES.sub(" ", text.lower() if self.lowercase else text)) < self.min_n

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
        self._open(64)
        for each in tokens:
            if isinstance(each, str):
                token = each.encode("utf-8")
            elif isinstance(each, bytes):
                token = each
            else:
                raise TypeError(f"tokens must be str or bytes, got {type(each).__name__}")
            self._hash_one(<const unsigned char*>PyBytes_AS_STRING(token), PyBytes_GET_SIZE(token))
        self._close()
