"""A parser of VW's text, ``label [importance] ['tag]|namespace[:weight] feature[:value] ... |...``, with VW's hashes."""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

import numpy as np

from .._hashing.murmur cimport block_at, finished, mixed
from ._lines cimport EntryParser, Found, NOTHING, after_blanks, push
from ._numbers cimport is_digit, read_number

cdef char* OF_ONE_TASK = (
    b"a label of one class or one number (lines of VW's contextual bandits, cost-sensitive and several labels are others)")


cdef inline uint32_t hash_name(const unsigned char* name, const unsigned char* end, uint32_t seed) noexcept nogil:
    """Hash a name as VW's --hash strings: white space around it is dropped, and a whole number is its own hash, modulo 2^32."""
    cdef const unsigned char* p
    cdef uint32_t number = 0, h = seed
    cdef Py_ssize_t n
    while name < end and name[0] <= 32:
        name += 1
    while name < end and (end - 1)[0] <= 32:
        end -= 1
    p = name
    while p < end and is_digit(p[0]):
        number = number * 10 + (p[0] - 48)
        p += 1
    if p == end:
        return number + seed
    n = end - name
    while name + 4 <= end:
        h = mixed(h, block_at(name))
        name += 4
    # The last bytes in one read, as BEHIND bytes past the line may be read: the end of a loop would be mispredicted.
    return finished(h, block_at(name) & ((<uint32_t>1 << (8 * (n & 3))) - 1), n)


cdef extern from "streams/_vw.h":
    const char* ENDS_NAME "onlinecls_ends_name"
    int lowest_bit "onlinecls_lowest_bit"(uint64_t x) noexcept nogil


cdef inline bint is_over(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """Return True if a feature ends at p."""
    return p == end or p[0] == 32 or p[0] == 9 or p[0] == 124


cdef inline const unsigned char* after_name(const unsigned char* p) noexcept nogil:
    """Return the end of the name at p, at the latest the newline of its line."""
    while not ENDS_NAME[p[0]]:
        p += 1
    return p


cdef inline uint64_t repeated(uint64_t byte) noexcept nogil:
    return byte * (~<uint64_t>0 // 255)


cdef inline uint64_t bytes_above(uint64_t eight, uint64_t limit) noexcept nogil:
    """Return the high bit of each of eight bytes that is larger than the limit, which is < 128."""
    return (((eight & repeated(127)) + repeated(127 - limit)) | eight) & repeated(128)


cdef inline Py_ssize_t usual_name(const unsigned char* p, uint32_t seed, uint32_t* hash) noexcept nogil:
    """Hash the name at p and return its length; 0 if it has control characters or begins with a digit.

    The result is that of `after_name` and `hash_name`, eight bytes at a time, without a branch on the rest, which would be
    mispredicted.
    """
    cdef uint64_t eight, ends
    cdef uint32_t h = seed, tail
    cdef Py_ssize_t n = 0, rest
    if is_digit(p[0]):
        return 0
    while True:
        memcpy(&eight, p + n, 8)
        ends = bytes_above(eight, 32) & bytes_above(eight ^ repeated(58), 0) & bytes_above(eight ^ repeated(124), 0)
        ends = ~ends & repeated(128)
        if ends:
            break
        h = mixed(mixed(h, <uint32_t>eight), <uint32_t>(eight >> 32))
        n += 8
    rest = lowest_bit(ends) >> 3
    if n + rest == 0 or not ENDS_NAME[p[n + rest]]:
        return 0
    eight &= (<uint64_t>1 << (8 * rest)) - 1
    h = mixed(h, <uint32_t>eight) if rest >= 4 else h
    tail = <uint32_t>(eight >> 32) if rest >= 4 else <uint32_t>eight
    hash[0] = finished(h, tail, n + rest)
    return n + rest


cdef inline const unsigned char* after_word(const unsigned char* p, const unsigned char* end) noexcept nogil:
    while p < end and p[0] != 32 and p[0] != 9:
        p += 1
    return p


cdef inline bint is_word(const unsigned char* p, Py_ssize_t n, const char* word) noexcept nogil:
    """Return True if the n bytes at p are the word, in lower or upper case."""
    cdef Py_ssize_t k = 0
    while k < n and (p[k] | 32) == <unsigned char>word[k]:
        k += 1
    return k == n and word[n] == 0


cdef inline bint is_of_another_task(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """Return True for a label of contextual bandits, of cost-sensitive classes, or of several labels."""
    cdef Py_ssize_t n = end - p
    if n == 6 and (memcmp(p, b"shared", 6) == 0 or memcmp(p, b"slates", 6) == 0):
        return True
    if (n == 3 and memcmp(p, b"ccb", 3) == 0) or (n == 2 and memcmp(p, b"ca", 2) == 0):
        return True
    return memchr(p, 58, n) is not NULL or memchr(p, 44, n) is not NULL


cdef inline bint like_number(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """Return True if the value at p must be a number: it starts like one, or is nan or inf. Others are texts."""
    cdef Py_ssize_t n
    if p[0] == 43 or p[0] == 45:
        p += 1
    if is_digit(p[0]) or (p[0] == 46 and is_digit(p[1])):
        return True
    n = after_word(p, end) - p
    return is_word(p, n, b"nan") or is_word(p, n, b"inf") or is_word(p, n, b"infinity")


cdef class VWParser(EntryParser):
    cdef double[::1] importances    # weights of the rows
    cdef uint32_t mask
    cdef bint in_order              # True while the row's columns rise

    def __init__(self, labels, batch_rows, batch_nnz, n_features, dtype):
        EntryParser.__init__(self, labels, batch_rows, batch_nnz, n_features, dtype)
        self.mask = <uint32_t>(self.n_features - 1)
        self.importances = np.empty(batch_rows)

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? Found.FAULT nogil:
        cdef const unsigned char* p = after_blanks(line)
        cdef const unsigned char* bar
        if p == end:
            return NOTHING
        bar = <const unsigned char*>memchr(p, 124, end - p)
        if bar is NULL:
            return self.fault(end, b"'|' before the features")
        if self._read_label(p, bar) == Found.FAULT:
            return Found.FAULT
        self.at, self.in_order = self.nnz, True
        while bar < end:                            # bar: at the '|' of a namespace
            bar = self._read_namespace(bar + 1, end)
            if bar is NULL:
                return Found.FAULT
        return self.end_row(line, self.in_order)

    cdef Found _read_label(self, const unsigned char* p, const unsigned char* bar) except? Found.FAULT nogil:
        """Read what precedes the first '|': numbers, then a tag, which starts with an apostrophe or touches the '|'."""
        cdef const unsigned char* word
        cdef double number
        cdef int n_words = 0
        self.importances[self.n_rows] = 1.0
        while True:
            word = after_blanks(p)
            p = after_word(word, bar)
            if p == bar or word[0] == 39:               # nothing, or the tag
                break
            if n_words == 0:
                if self.labels.texts and is_of_another_task(word, p):
                    return self.fault(word, OF_ONE_TASK)
                if not self.labels.put(self.n_rows, word, p):
                    return self.fault(word, self.labels.expected)
            elif n_words == 2:
                return self.fault(word, b"'|' behind label and importance (a third number, the base, is of another task)")
            elif read_number(word, &number) != p or not 0.0 <= number < INFINITY:
                return self.fault(word, b"a finite number >= 0 for the importance")
            else:
                self.importances[self.n_rows] = number
            n_words += 1
        if after_blanks(p) != bar:
            return self.fault(after_blanks(p), b"'|' behind the tag")
        if n_words == 0 and not self.labels.unread:
            return self.fault(bar, b"a label and a blank before '|' (labels=None reads lines without)")
        return Found.ROW

    cdef const unsigned char* _read_namespace(self, const unsigned char* p, const unsigned char* end) except? NULL nogil:
        """Read the namespace whose '|' is just before p; return the next '|' or the end of the line, NULL for a fault."""
        cdef const unsigned char* name = p
        cdef const unsigned char* field
        cdef uint32_t seed = 0, hash, n_anonymous = 0
        cdef double scale = 1.0, value
        p = after_name(p)
        if p > name:
            seed = hash_name(name, p, 0)
        if p < end and p[0] == 58:
            field = p + 1
            p = read_number(field, &scale)
            if field - 1 == name or p is NULL or not is_over(p, end) or not fabs(scale) < self.too_large:
                self.fault(field, b"a finite number for the weight of a namespace")
                return NULL
        while True:
            p = after_blanks(p)
            if p == end or p[0] == 124:
                return p
            name = p
            p += usual_name(p, seed, &hash)
            if p == name:
                p = after_name(p)
                hash = hash_name(name, p, seed)
            value = scale
            if not is_over(p, end):
                if p[0] != 58:
                    self.fault(p, b"a blank behind a feature")
                    return NULL
                field = p + 1
                if like_number(field, end):
                    p = read_number(field, &value)
                    value *= scale
                    if p is NULL or not is_over(p, end) or not fabs(value) < self.too_large:
                        self.fault(field, b"a finite number after ':', then a blank")
                        return NULL
                    if field == name + 1:               # ":value": numbered
                        hash = seed + n_anonymous
                        n_anonymous += 1
                else:
                    p = after_word(field, end)
                    if p == field:
                        self.fault(field, b"a value after ':'")
                        return NULL
                    hash = hash_name(field, p, hash)
                    value = 1.0                         # VW does not apply a namespace's weight to text values
            if value != 0.0:                            # as in VW
                hash &= self.mask
                if self.at > self.nnz:
                    self.in_order &= hash > self.entries[self.at - 1].column
                push(self, hash, value)

    def take(self):
        weights = np.array(self.importances[:self.n_rows])
        rows, labels, _ = EntryParser.take(self)
        return rows, labels, weights
