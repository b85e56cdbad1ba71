"""Rows of named features, hashed as scikit-learn's FeatureHasher does."""
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport llabs

from .._hashing.murmur cimport murmur3
from ._lines cimport EntryParser, Found, push

from ._lines import Labels


cdef class FeatureRows(EntryParser):
    """Rows that are added by name; `take` gives (Rows, None, None)."""

    def __init__(self, batch_rows, batch_nnz, n_features, dtype):
        EntryParser.__init__(self, Labels(None, batch_rows), batch_rows, batch_nnz, n_features, dtype)

    def add(self, list names, list values):
        """Append a row, {name: value}; False if a value or a sum is too large, and then nothing is appended.

        A name of hash h goes to column abs(h) mod n_features with the sign of h.
        """
        cdef bytes name
        cdef int64_t hash, column
        cdef double value
        self.at = self.nnz
        for name, value in zip(names, values):
            if not fabs(value) < self.too_large:
                return False
            hash = <int32_t>murmur3(name, len(name), 0)
            if value != 0.0:
                column = llabs(hash)
                if column == 2147483648 and self.n_features < column:
                    column -= self.n_features       # scikit-learn keeps within 32 bits where it takes abs(-2^31)
                push(self, column % self.n_features, value if hash >= 0 else -value)
        return self.end_row(NULL, False) == Found.ROW
