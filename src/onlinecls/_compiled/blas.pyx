"""BLAS by function pointers out of scipy.linalg.cython_blas, found at the first pass of a full covariance."""
from threading import Lock

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

from .sparse cimport floating

ctypedef void (*symv_t)(char*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*symm_t)(char*, char*, int*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*syrk_t)(char*, char*, int*, int*, void*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*gemv_t_)(char*, int*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil

ctypedef int (*get_threads_t)() noexcept nogil
ctypedef void (*set_threads_t)(int) noexcept nogil

cdef enum:
    SMALL = 512             # OpenBLAS's threads wait for each other longer than they compute products of smaller matrices

cdef get_threads_t GET_THREADS = NULL
cdef set_threads_t SET_THREADS = NULL
cdef int n_passes = 0       # that have one thread
cdef int n_threads = 1      # before the first of them
CHANGING = Lock()

cdef symv_t[2] SYMV         # [0] of float, [1] of double
cdef symm_t[2] SYMM
cdef syrk_t[2] SYRK
cdef gemv_t_[2] GEMV


cdef void* _address(str name) except NULL:
    import scipy.linalg.cython_blas as blas

    capsule = blas.__pyx_capi__[name]
    signature = PyCapsule_GetName(capsule)
    if b"int *" not in signature:
        raise ImportError(f"scipy's BLAS takes other integers than int: {name} is {signature!r}.")
    return PyCapsule_GetPointer(capsule, signature)


def load():
    """Find the routines."""
    global GET_THREADS, SET_THREADS
    if GEMV[1] != NULL:     # (another thread may be calling them)
        return
    import ctypes

    import scipy.linalg.cython_blas as blas

    library = ctypes.CDLL(blas.__file__)
    for prefix in ("scipy_openblas", "openblas"):   # (of another BLAS the number of threads stays)
        if hasattr(library, prefix + "_set_num_threads"):
            GET_THREADS = <get_threads_t><size_t>ctypes.cast(library[prefix + "_get_num_threads"], ctypes.c_void_p).value
            SET_THREADS = <set_threads_t><size_t>ctypes.cast(library[prefix + "_set_num_threads"], ctypes.c_void_p).value
    for i, letter in enumerate("sd"):
        SYMV[i] = <symv_t>_address(letter + "symv")
        SYMM[i] = <symm_t>_address(letter + "symm")
        SYRK[i] = <syrk_t>_address(letter + "syrk")
        GEMV[i] = <gemv_t_>_address(letter + "gemv")


cdef bint begin_pass(Py_ssize_t n):
    """Find the routines; give BLAS one thread while small matrices, of n rows, are multiplied: return True to `end_pass` it."""
    global n_passes, n_threads
    load()
    if SET_THREADS == NULL or n > SMALL:
        return False
    with CHANGING:
        if n_passes == 0:
            n_threads = GET_THREADS()
            SET_THREADS(1)
        n_passes += 1
    return True


cdef void end_pass(bint has_begun):
    """Give BLAS its threads back after the last of the passes that have begun."""
    global n_passes
    if has_begun:
        with CHANGING:
            n_passes -= 1
            if n_passes == 0:
                SET_THREADS(n_threads)


cdef void symv(const floating[:, ::1] S, const floating[::1] x, floating[::1] y) noexcept nogil:
    """Compute y = S x from S's lower triangle."""
    cdef char* upper = b"U"
    cdef int n = <int>S.shape[0], one = 1
    cdef floating alpha = 1.0, beta = 0.0
    SYMV[floating is double](upper, &n, &alpha, <void*>&S[0, 0], &n, <void*>&x[0], &one, &beta, &y[0], &one)


cdef void symm(const floating[:, ::1] S, const floating[:, ::1] X, floating[:, ::1] Y, int n_rows) noexcept nogil:
    """Compute Y[i] = S X[i] for the first rows of X, from S's lower triangle."""
    cdef char* left = b"L"
    cdef char* upper = b"U"
    cdef int n = <int>S.shape[0]
    cdef floating alpha = 1.0, beta = 0.0
    SYMM[floating is double](left, upper, &n, &n_rows, &alpha, <void*>&S[0, 0], &n, <void*>&X[0, 0], &n, &beta, &Y[0, 0], &n)


cdef void syrk(floating[:, ::1] S, const floating[:, ::1] U, int n_rows) noexcept nogil:
    """Subtract U'U, over the first rows of U, from S's lower triangle."""
    cdef char* upper = b"U"
    cdef char* none = b"N"
    cdef int n = <int>S.shape[0]
    cdef floating alpha = -1.0, beta = 1.0
    SYRK[floating is double](upper, none, &n, &n_rows, &alpha, <void*>&U[0, 0], &n, &beta, &S[0, 0], &n)


cdef void gemv(const floating[:, ::1] U, int n_rows, const floating[::1] x, floating[::1] y) noexcept nogil:
    """Compute y = U x over the first rows of U."""
    cdef char* transposed = b"T"
    cdef int n = <int>U.shape[1], one = 1
    cdef floating alpha = 1.0, beta = 0.0
    GEMV[floating is double](transposed, &n, &n_rows, &alpha, <void*>&U[0, 0], &n, <void*>&x[0], &one, &beta, &y[0], &one)


cdef void gemv_t(const floating[:, ::1] U, int n_rows, const floating[::1] h, floating[::1] y) noexcept nogil:
    """Subtract U'h, over the first rows of U, from y."""
    cdef char* none = b"N"
    cdef int n = <int>U.shape[1], one = 1
    cdef floating alpha = -1.0, beta = 1.0
    GEMV[floating is double](none, &n, &n_rows, &alpha, <void*>&U[0, 0], &n, <void*>&h[0], &one, &beta, &y[0], &one)
