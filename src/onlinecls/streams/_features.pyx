"""Rows of named features, hashed as by scikit-learn's FeatureHasher."""
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport llabs

from .._hashing.murmur cimport murmur3
from .._hashing.sketch cimport Names
from ._lines cimport EntryParser, Found, push

from ._lines import Labels


cdef class FeatureRows(EntryParser):
    """Collect rows of named features; `take` returns (Rows, None, None). The first columns hold numbers without hashing."""
    cdef int64_t first, n_hashed
    cdef Names names                # remembers the names of columns, or None

    def __init__(self, batch_rows, batch_nnz, n_hashed, dtype, first=0, names=None):
        EntryParser.__init__(self, Labels(None, batch_rows), batch_rows, batch_nnz, first + n_hashed, dtype)
        self.first, self.n_hashed, self.names = first, n_hashed, names

    def add(self, list names, list values, numbers=()):
        """Append a row of numbers and of named values; return False, and append nothing, if a value or a sum is too large.

        A name of hash h is put in column abs(h) mod n_hashed, behind the numbers, with the sign of h.
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
                    column -= self.n_hashed         # scikit-learn stays within 32 bits for abs(-2^31)
                column = self.first + column % self.n_hashed
                push(self, column, value if hash >= 0 else -value)
                if self.names is not None:
                    self.names.note(column, hash < 0, name, len(name))
        return self.end_row(NULL, False) == Found.ROW
