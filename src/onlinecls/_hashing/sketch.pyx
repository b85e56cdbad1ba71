"""Names of hashed columns, in bounded memory."""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

import numpy as np


cdef int64_t MAX_COLUMNS = <int64_t>1 << 56, MAX_VOTES = <int64_t>1 << 62


cdef inline Py_ssize_t home_of(uint64_t column, Py_ssize_t size) noexcept nogil:
    """Return a column's first slot, by Fibonacci hashing. size : a power of two."""
    return <Py_ssize_t>((column * <uint64_t>0x9E3779B97F4A7C15) >> 32) & (size - 1)


cdef class Names:
    """Keep the most frequent name of each of up to `limit` columns: the sketch behind `FeatureNames`.

    A column is given its first name; each token of that name is a vote for it and each token of another name a vote against it.
    When no votes are left, the next name takes its place (Boyer and Moore's majority vote). When there are more columns than
    `limit`, the half with the fewest votes is forgotten.
    """

    def __cinit__(self, Py_ssize_t limit):
        self.limit = limit
        self._resize(64)

    def __dealloc__(self):
        free(self.slots)

    def __len__(self):
        return self.n_used

    cdef Name* _find(self, uint64_t column) noexcept nogil:
        """Return the slot of a column, or the empty slot for it."""
        cdef Py_ssize_t at = home_of(column, self.size)
        while self.slots[at].key != 0 and self.slots[at].key != column + 1:
            at = (at + 1) & (self.size - 1)
        return self.slots + at

    cdef int note(self, uint64_t column, bint negative, const unsigned char* name, Py_ssize_t n) except -1 nogil:
        """Count a token that fell on a column."""
        cdef Name* there = self._find(column)
        cdef Py_ssize_t n_kept = min(n, <Py_ssize_t>NAME_BYTES)
        cdef bint same
        if there.key == 0:
            if self.n_used == self.limit:
                self._prune()
                there = self._find(column)
            elif 2 * self.n_used >= self.size:
                self._resize(2 * self.size)
                there = self._find(column)
            self.n_used += 1
            there.key = column + 1
            there.shared = 0
            there.votes = 0
            same = False
        else:
            same = there.length == <uint32_t>n and memcmp(there.text, name, n_kept) == 0
            there.shared |= not same
        if same:
            there.votes += 1
        elif there.votes > 0:
            there.votes -= 1
        else:
            there.votes = 1
            there.length = <uint32_t>n
            there.negative = negative
            memcpy(there.text, name, n_kept)
        return 0

    cdef int _resize(self, Py_ssize_t size) except -1 nogil:
        cdef Name* old = self.slots
        cdef Py_ssize_t i, old_size = self.size
        cdef Name* grown = <Name*>calloc(size, sizeof(Name))
        if grown == NULL:
            with gil:
                raise MemoryError()
        self.slots, self.size = grown, size
        for i in range(old_size):
            if old[i].key != 0:
                self._find(old[i].key - 1)[0] = old[i]
        free(old)
        return 0

    cdef int _prune(self) except -1 nogil:
        """Forget the half of the columns that has the fewest votes; ties are broken arbitrarily."""
        cdef Py_ssize_t at_votes[64]
        cdef Py_ssize_t i, to_go = self.n_used - self.limit // 2
        cdef int level = 0
        memset(at_votes, 0, sizeof(at_votes))
        for i in range(self.size):
            if self.slots[i].key != 0:
                at_votes[magnitude(self.slots[i].votes)] += 1
        while at_votes[level] <= to_go and level < 63:  # all of the lower levels are forgotten, and to_go of this one
            to_go -= at_votes[level]
            level += 1
        self.n_used = 0
        for i in range(self.size):
            if self.slots[i].key != 0:
                if magnitude(self.slots[i].votes) == level and to_go > 0:
                    to_go -= 1
                    self.slots[i].key = 0
                elif magnitude(self.slots[i].votes) < level:
                    self.slots[i].key = 0
                else:
                    self.n_used += 1
        return self._resize(self.size)                  # no gaps where names were

    def look_up(self, column):
        """Return (name, whether other names fell on the column, sign of the name's values); unknown: (None, False, 1)."""
        cdef Name* there
        if not 0 <= column < MAX_COLUMNS:
            return None, False, 1
        there = self._find(column)
        if there.key == 0:
            return None, False, 1
        return self._shown(there), bool(there.shared), -1 if there.negative else 1

    cdef str _shown(self, Name* there):
        if there.length <= NAME_BYTES:
            return (<const char*>there.text)[:there.length].decode("utf-8", "replace")
        return (<const char*>there.text)[:NAME_BYTES].decode("utf-8", "ignore") + "\N{HORIZONTAL ELLIPSIS}"

    def columns(self):
        """Return the columns that have a name, sorted."""
        return np.array(sorted(self.slots[i].key - 1 for i in range(self.size) if self.slots[i].key != 0), np.int64)

    def state(self):
        """Return the contents as bytes."""
        cdef Py_ssize_t i
        return b"".join([
            (<const char*>(self.slots + i))[:sizeof(Name)] for i in range(self.size) if self.slots[i].key != 0
        ])

    def restore(self, const unsigned char[::1] state):
        """Fill an empty sketch from the bytes of `state`. Bytes that no sketch writes raise ValueError and leave it empty."""
        cdef Py_ssize_t i, n = state.shape[0] // <Py_ssize_t>sizeof(Name)
        cdef Name name
        cdef Name* there
        if state.shape[0] != n * <Py_ssize_t>sizeof(Name) or n > self.limit:
            raise ValueError(
                f"names must come as {sizeof(Name)} bytes each, and at most {self.limit} of them, got {state.shape[0]} bytes"
            )
        while self.size < 2 * n:
            self._resize(2 * self.size)
        for i in range(n):
            memcpy(&name, &state[i * <Py_ssize_t>sizeof(Name)], sizeof(Name))
            there = self._find(name.key - 1)
            if not 1 <= name.key <= <uint64_t>MAX_COLUMNS or there.key != 0 or not 0 <= name.votes <= MAX_VOTES:
                memset(self.slots, 0, self.size * sizeof(Name))
                self.n_used = 0
                raise ValueError(
                    f"a name must have a column of its own >= 0 and 0 to 2^62 votes, got key {name.key} and {name.votes} votes"
                )
            there[0] = name
            self.n_used += 1


cdef inline int magnitude(int64_t votes) noexcept nogil:
    """Return the number of bits of a number of votes: 0, 1, 2, 3 for 0, 1, 2-3, 4-7 votes."""
    cdef int level = 0
    while votes > 0:
        votes >>= 1
        level += 1
    return level
