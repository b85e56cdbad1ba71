"""Loops over the non-zeros of a row with a vector of weights for each class: scores, variances, steps.

The layout of the classes' numbers is described in sparse.pxd. Each class has its own sum, in double and from left to right: its
bits do not depend on how many classes are computed at once.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t

from .._rules cimport DUAL, FORGETTING, POTENTIAL, PROXIMAL, Params, slots_of
from .rounds cimport PassContext
from .sparse cimport (
    Layout, Row, Sums, column, dense_t, double2, double2_add, double2_at, double2_first, double2_of, double2_second,
    floating, index_t, place_of, prefetch_run, scan, smaller, weight_of,
)


ctypedef struct Run:        # which numbers of each feature are summed
    Py_ssize_t first        # place of the first of them in the feature's run
    Py_ssize_t width        # length of a feature's run
    Py_ssize_t n            # vectors
    bint squared            # Σ x² σ, not Σ x w
    bint leads              # the first loop over a row: it prefetches the rows to come


# --- sums: scores and variances ------------------------------------------------------------------------------------------------

cdef inline double sum_pairs(int n, const floating[::1] state, Run run, const floating[::1] data, const index_t[::1] indices,
                             Row row, double bias, double* sums) noexcept nogil:
    """Compute the sums of 2n numbers that lie side by side, in registers; return ||x||². (n is a constant.)"""
    cdef double2 totals[10]
    cdef double2 factor
    cdef Py_ssize_t k, at
    cdef double x, q = bias * bias
    cdef int j
    for j in range(n):
        totals[j] = double2_of(0.0, 0.0)
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            if run.leads:
                prefetch_run(&state[run.width * <Py_ssize_t>indices[k + row.ahead]], run.width)
        at = run.width * column(indices, k, row.lo) + run.first
        x = data[k]
        q += x * x
        x = x * x if run.squared else x
        factor = double2_of(x, x)
        for j in range(n):
            totals[j] = double2_add(totals[j], factor, double2_at(state, at + 2 * j))
    at = state.shape[0] - run.width + run.first
    x = bias * bias if run.squared else bias
    factor = double2_of(x, x)
    for j in range(n):
        totals[j] = double2_add(totals[j], factor, double2_at(state, at + 2 * j))
        sums[2 * j] = double2_first(totals[j])
        sums[2 * j + 1] = double2_second(totals[j])
    return q


cdef inline double sum_classes(const floating[::1] state, Run run, const floating[::1] data, const index_t[::1] indices, Row row,
                               double bias, double* sums) noexcept nogil:
    """Compute the sums of all vectors, at least two, as many at a time as fit into registers; return ||x||²."""
    cdef Py_ssize_t done = 0, start = run.first, n_classes = run.n
    cdef double q = 0.0
    while done < n_classes:
        run.first = start + done
        if n_classes - done >= 20:
            q = sum_pairs(10, state, run, data, indices, row, bias, &sums[done])
            done += 20
        elif n_classes - done >= 10:
            q = sum_pairs(5, state, run, data, indices, row, bias, &sums[done])
            done += 10
        elif n_classes - done >= 4:
            q = sum_pairs(2, state, run, data, indices, row, bias, &sums[done])
            done += 4
        else:                       # (the last class may come twice)
            done = min(done, n_classes - 2)
            run.first = start + done
            q = sum_pairs(1, state, run, data, indices, row, bias, &sums[done])
            done += 2
        run.leads = False
    return q


cdef inline double scan_classes(int geometry, bint several, const floating[::1] state, const floating[::1] data,
                                const index_t[::1] indices, Row row, double* scores, const Layout* layout,
                                const Params* p) noexcept nogil:
    """Compute the scores of all vectors, in the order of their places; return ||x||², for one vector if the geometry has it.

    several : True where there are (a constant: loops of many vectors stay small).

    (No row is usable in a geometry that is missing here.)
    """
    cdef Run run = Run(0, slots_of(geometry).n * layout.room, layout.n, False, True)
    cdef Sums sums
    if not several and layout.n == 1:
        sums = scan(geometry, state, data, indices, row, p)
        scores[0] = sums.score
        return sums.q
    elif slots_of(geometry).weight:       # it is stored as it is
        return sum_classes(state, run, data, indices, row, p.bias, scores)
    elif geometry == POTENTIAL:
        return scan_computed(POTENTIAL, state, run, data, indices, row, scores, layout, p)
    elif geometry == DUAL or geometry == PROXIMAL:      # (one formula)
        return scan_computed(DUAL, state, run, data, indices, row, scores, layout, p)
    return NAN


cdef inline double scan_computed(int geometry, const floating[::1] state, Run run, const floating[::1] data,
                                 const index_t[::1] indices, Row row, double* scores, const Layout* layout,
                                 const Params* p) noexcept nogil:
    """Compute the scores of computed weights. (geometry is a constant. 9 arguments: a row and a run.)"""
    cdef Py_ssize_t k, c, at
    cdef double x, q = p.bias * p.bias
    for c in range(layout.n):
        scores[c] = 0.0
    for k in range(row.lo, row.hi + 1):
        at = run.width * column(indices, k, row.lo) if k < row.hi else state.shape[0] - run.width
        x = data[k] if k < row.hi else p.bias
        if index_t is not dense_t:
            if k < row.hi:
                prefetch_run(&state[run.width * <Py_ssize_t>indices[k + row.ahead]], run.width)
        for c in range(layout.n):
            scores[c] += x * weight_of(geometry, state[at + c], state[at + layout.room + c], p)
        q += x * x if k < row.hi else 0.0
    return q


cdef inline void sort_by_class(double* numbers, const Layout* layout, double* spare) noexcept nogil:
    """Sort numbers of vectors, which are in the order of their places, into that of the classes."""
    cdef Py_ssize_t c
    if layout.places != NULL:
        for c in range(layout.n):
            spare[c] = numbers[c]
        for c in range(layout.n):
            numbers[c] = spare[layout.places[c]]


cdef inline double score_classes(int geometry, bint several, const floating[::1] state, const PassContext* context,
                                 double* scores, double* spare, const floating[::1] data, const index_t[::1] indices,
                                 Row row, const Params* p) noexcept nogil:
    """Compute the scores of z = x / s, in the order of the classes; return ||z||². (spare has a number for each class.)"""
    cdef Py_ssize_t c
    cdef double q = scan_classes(geometry, several, state, data, indices, row, scores, &context.layout, p)
    for c in range(context.columns):
        scores[c] *= context.inverse
    sort_by_class(scores, &context.layout, spare)
    return q * (context.inverse * context.inverse)


cdef inline bint are_many(Py_ssize_t n, Py_ssize_t n_classes) noexcept nogil:
    """Return True if all classes side by side take less time than n one by one."""
    return 3 * n >= n_classes


cdef inline double variance_at(const floating[::1] state, Py_ssize_t at, const Params* p) noexcept nogil:
    """Return σ of a feature and class. (Of a learner that forgets it has grown with every row since it was stored.)"""
    return <floating>p.growth * smaller(state[at], <floating>p.stored_cap) if p.geometry == FORGETTING else state[at]


cdef inline void variances(const floating[::1] state, const Layout* layout, const int64_t* classes, Py_ssize_t n,
                           const floating[::1] data, const index_t[::1] indices, Row row, double* v, double* spare,
                           const Params* p) noexcept nogil:
    """Compute v[i] = x'Σx of n classes. (spare has a number for each class. 10 arguments: a row, and two places for numbers.)"""
    cdef Py_ssize_t k, i, j, a, b, at, width = 2 * layout.room
    cdef double x
    cdef double2 totals
    if p.geometry != FORGETTING and layout.n > 1 and are_many(n, layout.n):
        sum_classes(state, Run(layout.room, width, layout.n, True, False), data, indices, row, p.bias, spare)
        for i in range(n):
            v[i] = spare[place_of(layout, classes[i])]
        return
    for i in range(0, n, 2):        # (the last class may come twice)
        j = min(i + 1, n - 1)
        totals = double2_of(0.0, 0.0)
        a, b = layout.room + place_of(layout, classes[i]), layout.room + place_of(layout, classes[j])
        for k in range(row.lo, row.hi + 1):
            at = width * column(indices, k, row.lo) if k < row.hi else state.shape[0] - width
            x = data[k] if k < row.hi else p.bias
            totals = double2_add(totals, double2_of(x * x, x * x), double2_of(
                variance_at(state, at + a, p), variance_at(state, at + b, p)))
        v[i], v[j] = double2_first(totals), double2_second(totals)
