"""BLAS by function pointers out of scipy.linalg.cython_blas, found at the first pass of a full covariance."""
from threading import Lock

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

from .sparse cimport floating

ctypedef void (*symv_t)(char*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*symm_t)(char*, char*, int*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*syrk_t)(char*, char*, int*, int*, void*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*gemv_t)(char*, int*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef int (*get_threads_t)() noexcept nogil
ctypedef void (*set_threads_t)(int) noexcept nogil

cdef enum:
    SMALL = 512             # OpenBLAS's threads wait for each other longer than they compute products of smaller matrices
    SYMV = 0                # the routines,
    SYMM = 1
    SYRK = 2
    GEMV = 3
    ALL = 4

cdef void* ROUTINES[2][ALL]     # [0] of float, [1] of double
cdef get_threads_t GET_THREADS = NULL
cdef set_threads_t SET_THREADS = NULL
cdef int n_passes = 0       # that have one thread
cdef int n_threads = 1      # before the first of them
CHANGING = Lock()


def load():
    """Find the routines."""
    global GET_THREADS, SET_THREADS
    import ctypes

    import scipy.linalg.cython_blas as blas

    library = ctypes.CDLL(blas.__file__)
    for prefix in ("scipy_openblas", "openblas"):   # (of another BLAS the number of threads stays)
        if hasattr(library, prefix + "_set_num_threads"):
            get, set = [ctypes.cast(library[f"{prefix}_{verb}_num_threads"], ctypes.c_void_p).value for verb in ("get", "set")]
            GET_THREADS, SET_THREADS = <get_threads_t><size_t>get, <set_threads_t><size_t>set
    for i in range(2):
        for j, name in enumerate(("symv", "symm", "syrk", "gemv")):
            capsule = blas.__pyx_capi__["sd"[i] + name]
            signature = PyCapsule_GetName(capsule)
            if b"int *" not in signature:
                raise ImportError(f"scipy's BLAS takes other integers than int: {name} is {signature!r}.")
            ROUTINES[i][j] = PyCapsule_GetPointer(capsule, signature)


cdef bint begin_pass(Py_ssize_t n):
    """Find the routines; give BLAS one thread while small matrices, of n rows, are multiplied: return True to `end_pass` it."""
    global n_passes, n_threads
    if ROUTINES[1][GEMV] == NULL:       # (another thread may be calling them)
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
    cdef int n = <int>S.shape[0], one = 1
    cdef floating alpha = 1.0, beta = 0.0
    (<symv_t>ROUTINES[floating is double][SYMV])(b"U", &n, &alpha, &S[0, 0], &n, &x[0], &one, &beta, &y[0], &one)


cdef void symm(const floating[:, ::1] S, const floating[:, ::1] X, floating[:, ::1] Y, int n_rows) noexcept nogil:
    cdef int n = <int>S.shape[0]
    cdef floating alpha = 1.0, beta = 0.0
    (<symm_t>ROUTINES[floating is double][SYMM])(
        b"L", b"U", &n, &n_rows, &alpha, &S[0, 0], &n, &X[0, 0], &n, &beta, &Y[0, 0], &n)


cdef void syrk(floating[:, ::1] S, const floating[:, ::1] U, int n_rows) noexcept nogil:
    cdef int n = <int>S.shape[0]
    cdef floating alpha = -1.0, beta = 1.0
    (<syrk_t>ROUTINES[floating is double][SYRK])(b"U", b"N", &n, &n_rows, &alpha, &U[0, 0], &n, &beta, &S[0, 0], &n)


cdef void gemv(const floating[:, ::1] U, int n_rows, const floating[::1] x, floating[::1] y, bint along_rows) noexcept nogil:
    cdef int n = <int>U.shape[1], one = 1
    cdef floating alpha = 1.0 if along_rows else -1.0, beta = not along_rows
    (<gemv_t>ROUTINES[floating is double][GEMV])(
        b"T" if along_rows else b"N", &n, &n_rows, &alpha, &U[0, 0], &n, &x[0], &one, &beta, &y[0], &one)
