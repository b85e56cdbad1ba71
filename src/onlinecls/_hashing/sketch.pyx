"""Names of hashed columns, in bounded memory."""
from heapq import nlargest
from operator import itemgetter

import numpy as np

NAME_BYTES = 42         # kept of a name in UTF-8
votes_of = itemgetter(0)


cdef class Names:
    """Keep the most frequent name of each of up to `limit` columns, for `FeatureNames`.

    A column is given its first name; each token of that name is a vote for it and each token of another name a vote against it.
    When no votes are left, the next name takes its place (Boyer and Moore's majority vote). When there are more columns than
    `limit`, the half with the fewest votes is forgotten.

    found : {column: [votes, the first bytes of the name, its length, whether several names fell on the column, whether the sign
    of the name's hash is negative, where signs alternate]}.
    """

    def __cinit__(self, Py_ssize_t limit):
        self.limit, self.found = limit, {}

    def __len__(self):
        return len(self.found)

    cdef int note(self, uint64_t column, bint negative, const unsigned char* name, Py_ssize_t n) except -1 with gil:
        """Count a token that fell on a column."""
        cdef bytes kept = (<const char*>name)[:min(n, <Py_ssize_t>NAME_BYTES)]
        cdef list there = self.found.get(column)
        if there is None:
            if len(self.found) == self.limit:
                self.found = {key: self.found[key] for _, key in nlargest(
                    self.limit // 2, [(value[0], key) for key, value in self.found.items()], key=votes_of)}
            self.found[column] = [1, kept, n, False, negative]
        elif there[2] == n and there[1] == kept:
            there[0] += 1
        else:
            there[3] = True
            if there[0] > 0:
                there[0] -= 1
            else:
                there[0], there[1], there[2], there[4] = 1, kept, n, negative
        return 0

    def look_up(self, column):
        """Return (name, whether other names fell on the column, sign of the name's values); unknown: (None, False, 1)."""
        there = self.found.get(column)
        if there is None:
            return None, False, 1
        _, kept, n, shared, negative = there
        name = kept.decode("utf-8", "replace") if n <= NAME_BYTES else kept.decode("utf-8", "ignore") + "\N{HORIZONTAL ELLIPSIS}"
        return name, shared, -1 if negative else 1

    def columns(self):
        """Return the columns that have a name, sorted."""
        return np.array(sorted(self.found), np.int64)
