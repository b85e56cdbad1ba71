"""Rows of named features, hashed as scikit-learn's FeatureHasher does."""
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport llabs

from .._hashing.murmur cimport murmur3
from .._hashing.sketch cimport Names
from ._lines cimport EntryParser, Found, push

from ._lines import Labels


cdef class FeatureRows(EntryParser):
    """Rows that are added by name; `take` gives (Rows, None, None). The first columns are for numbers that are not hashed."""
    cdef int64_t first, n_hashed
    cdef Names names                # None, or what remembers the names of columns

    def __init__(self, batch_rows, batch_nnz, n_hashed, dtype, first=0, names=None):
        EntryParser.__init__(self, Labels(None, batch_rows), batch_rows, batch_nnz, first + n_hashed, dtype)
        self.first, self.n_hashed, self.names = first, n_hashed, names

    def add(self, list names, list values, numbers=()):
        """Append a row, {name: value}; False if a value or a sum is too large, and then nothing is appended.

        A name of hash h goes to column abs(h) mod n_hashed, behind the first ones, with the sign of h.
        """
        cdef bytes name
        cdef int64_t hash, column
        cdef double value
        self.at = self.nnz
        for column, value in enumerate(numbers):
            if not fabs(value) < self.too_large:
                return False
            if value != 0.0:
                push(self, column, value)
        for name, value in zip(names, values):
            if not fabs(value) < self.too_large:
                return False
            hash = <int32_t>murmur3(name, len(name), 0)
            if value != 0.0:
                column = llabs(hash)
                if column == 2147483648:
                    column -= self.n_hashed         # scikit-learn keeps within 32 bits where it takes abs(-2^31)
                column = self.first + column % self.n_hashed
                push(self, column, value if hash >= 0 else -value)
                if self.names is not None:
                    self.names.note(column, hash < 0, name, len(name))
        return self.end_row(NULL, False) == Found.ROW
