"""The geometry of the simplex: weights that a step multiplies and that share a sum.

    signed      w_j = W sinh θ_j / Σ cosh θ      EG±: x and -x share a simplex, w is the difference of their weights
    unsigned    w_j = W e^θ_j / Σ e^θ            the probability simplex

A step moves θ along x. (θ here is Wθ/σ in dual ascent.) The first slot of a feature keeps the power r, the second θ, and the
weights are a common factor times r, so that scores take multiplications only:

                r                  Z                   w
    signed      e^-K sinh θ_j      e^-K Σ cosh θ       (W / Z) r_j
    unsigned    e^(θ_j - K)        Σ e^(θ - K)         (W / Z) r_j

A group is the vectors that share Z: all classes of a joint learner, or one vector. Z is kept in two doubles: each term is a
function of the stored r, so that a step takes out exactly what was added. K is the largest |θ| (unsigned: θ) of the group when
all of its powers were last computed. They are computed anew, in O(features), when some θ exceeds K by SPREAD, or Z has fallen by
2^40 from its largest.

Steps go along a row whose non-zeros have been gathered side by side (`GatheredRow`), for any vectors of a group at a time.
"""
from libc.math cimport fabs

from .powers cimport exp_all
from ..._compiled.sparse cimport Row, column, dense_t, floating, index_t, larger, prefetch

cdef extern from "_wings/shared/powers.h":
    void powers_of "onlinecls_powers" (size_t size, void* r, const void* theta, double shift, double root, bint is_signed,
                                       Py_ssize_t n) noexcept nogil     # r of θ, root = e^-shift
    void cosh_of "onlinecls_cosh" (size_t size, void* r, double root, Py_ssize_t n) noexcept nogil
    void masses "onlinecls_masses" (size_t size, const void* r, double* up, double* down, double root,
                                    Py_ssize_t n) noexcept nogil    # e^(θ - K)/2 and e^(-θ - K)/2 (signed): weights without W/Z


ctypedef struct Group:      # the numbers of a group: a run of an array of doubles, which is part of the model
    double ages             # with an average: the sum of W/Z over its rounds, since the powers were last computed
    double squares          # a sum of squares, where one is kept (Euclidean dual ascent: ||θ||²)
    double high             # Z = high + low
    double low
    double shift            # K
    double peak             # the largest Z since the powers were last computed
    double top              # the largest |θ| (unsigned: θ) since then


ctypedef struct Simplex:    # where a group is in a model
    bint is_signed          # EG±
    Py_ssize_t k            # vectors in the state
    Py_ssize_t first, last  # the group's are first .. last - 1
    Py_ssize_t n            # features of each; the constant one only with an intercept
    const double* counts    # vectors whose count is 0 have not joined the sum yet; NULL: all have
    double* correction      # the average's sums, see rounds.pxd: ages times r less the true sum; NULL: no average
    double rate             # a step d moves θ by rate d x
    Group* group


ctypedef struct GatheredRow:    # a row without its zeros, side by side
    Py_ssize_t n
    Py_ssize_t capacity     # the most there may be, from `round_up`
    Py_ssize_t* places      # of their first slots in the state, those of vector 0
    void* x                 # in the model's type: `capacity` numbers, then the workspace of a step, see `n_work`


cdef inline Py_ssize_t round_up(Py_ssize_t n) noexcept nogil:
    """Return n rounded up to whole registers of the widest kind: the loops of powers.h then have no remainder."""
    return (n + 7) // 8 * 8


cdef inline Py_ssize_t n_work(Py_ssize_t n_vectors) noexcept nogil:
    """Return the size of `GatheredRow.x`, in multiples of `capacity`, for steps of n_vectors at once: θ and the old term of each,
    and the power and term of one vector at a time."""
    return 2 * n_vectors + 3


cdef void compute_powers(floating[::1] state, Simplex* s, double factor) noexcept nogil
cdef void start_group(floating[::1] state, Simplex* s) noexcept nogil
cdef void join(floating[::1] state, Simplex* s, Py_ssize_t c) noexcept nogil
cdef void step_group(floating[::1] state, Simplex* s, const GatheredRow* row, const Py_ssize_t* vectors, const double* d,
                     Py_ssize_t n) noexcept nogil


cdef inline double normaliser(const Group* group) noexcept nogil:
    return group.high + group.low


cdef inline floating root_of(floating shift) noexcept nogil:
    """Return e^-K with the rounding of the features' powers, so that the r of θ = 0 is exactly 0 (unsigned: exactly this)."""
    cdef floating root = -shift
    exp_all(&root, 1)
    return root


# --- a row ---------------------------------------------------------------------------------------------------------------------

ctypedef struct Size:       # of a row
    double q                # ||x||²
    double largest          # max |x_i|


cdef inline Size scan_sums(const floating[::1] state, Py_ssize_t width, Py_ssize_t k, const floating[::1] data,
                           const index_t[::1] indices, Row row, double bias, double* sums) noexcept nogil:
    """Compute sums[c] = Σ x_i (the first slot of feature i, vector c), from left to right; return the size of the row.

    width : slots of a feature in the state, k or 2k.
    """
    cdef Py_ssize_t i, c, at
    cdef double x, total = 0.0, q = 0.0, largest = 0.0
    if k == 1:
        for i in range(row.lo, row.hi):
            if index_t is not dense_t:
                prefetch(&state[width * <Py_ssize_t>indices[i + row.ahead]])
            x = data[i]
            total += x * state[width * column(indices, i, row.lo)]
            q += x * x
            largest = larger(largest, fabs(x))
        sums[0] = total + bias * state[state.shape[0] - width]
    else:
        for c in range(k):
            sums[c] = 0.0
        for i in range(row.lo, row.hi):
            x = data[i]
            at = width * column(indices, i, row.lo)
            for c in range(k):
                sums[c] += x * state[at + c]
            q += x * x
            largest = larger(largest, fabs(x))
        for c in range(k):
            sums[c] += bias * state[state.shape[0] - width + c]
    return Size(q + bias * bias, larger(largest, bias))


cdef inline void gather(GatheredRow* entries, Py_ssize_t k, const floating[::1] data, const index_t[::1] indices, Row row,
                        double bias, double inverse, Py_ssize_t constant) noexcept nogil:
    """Gather the non-zeros of a row times 1/s; constant : the place of the constant feature, of this bias."""
    cdef Py_ssize_t j, n = 0
    cdef floating* x = <floating*>entries.x
    for j in range(row.lo, row.hi):
        if data[j] != 0.0:
            entries.places[n] = 2 * k * column(indices, j, row.lo)
            x[n] = <floating>(data[j] * inverse)
            n += 1
    if bias > 0.0:
        entries.places[n], x[n], n = constant, <floating>(bias * inverse), n + 1
    entries.n = n


cdef inline void terms_of(floating* r, const Simplex* s, floating root, Py_ssize_t n) noexcept nogil:
    """Turn r into terms of Z, without computing powers, so that equal r give equal terms."""
    if s.is_signed:
        cosh_of(sizeof(floating), r, root, n)
