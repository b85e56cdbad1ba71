"""Four routines of scipy's BLAS. C-ordered matrices: a C-ordered lower triangle is BLAS's upper one."""
from .sparse cimport floating

cdef bint begin_pass(Py_ssize_t n)
cdef void end_pass(bint has_begun)

# y = S x;  Y[i] = S X[i] for the first rows of X;  S -= U'U over the first rows of U: from, and to, S's lower triangle.
cdef void symv(const floating[:, ::1] S, const floating[::1] x, floating[::1] y) noexcept nogil
cdef void symm(const floating[:, ::1] S, const floating[:, ::1] X, floating[:, ::1] Y, int n_rows) noexcept nogil
cdef void syrk(floating[:, ::1] S, const floating[:, ::1] U, int n_rows) noexcept nogil
# Over the first rows of U, y = U x; or else y -= U'x.
cdef void gemv(const floating[:, ::1] U, int n_rows, const floating[::1] x, floating[::1] y, bint along_rows) noexcept nogil
