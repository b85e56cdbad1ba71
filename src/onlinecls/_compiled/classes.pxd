"""Loops over the non-zeros of a row with a vector of weights for each class: scores, variances, steps.

The layout of the classes' numbers is described in sparse.pxd. Each class has its own sum, in double and from left to right: its
bits do not depend on how many classes are computed at once.
"""
from libc.stdint cimport int32_t, int64_t

from .._rules cimport ADDITIVE, DUAL, FORGETTING, GAUSSIAN, POTENTIAL, Params
from .sparse cimport (
    CACHE_LINE, Row, Steps, column, dense_t, double2, double2_add, double2_at, double2_first, double2_mul, double2_of,
    double2_second, floating, forgetful_variance, index_t, lookahead_weight, prefetch, weight_of,
)

cdef extern from "_compiled/lanes.h":
    void gaussian_classes_floats(float* w, const float* tau, const float* beta, Py_ssize_t n, float x,
                                 float least) noexcept nogil
    void gaussian_classes_doubles(double* w, const double* tau, const double* beta, Py_ssize_t n, double x,
                                  double least) noexcept nogil
    void additive_classes_floats(float* w, const float* tau, Py_ssize_t n, float x) noexcept nogil
    void additive_classes_doubles(double* w, const double* tau, Py_ssize_t n, double x) noexcept nogil


ctypedef struct Run:        # which numbers of each feature are summed
    Py_ssize_t first        # place of the first of them in the feature's run
    Py_ssize_t width        # length of a feature's run
    bint squared            # Σ x² σ, not Σ x w
    bint leads              # the first loop over a row: it prefetches the rows to come


# --- sums: scores and variances ------------------------------------------------------------------------------------------------

cdef inline double sum_pairs(int n, const floating[::1] state, Run run, const floating[::1] data, const index_t[::1] indices,
                             Row row, double bias, double* sums) noexcept nogil:
    """Compute the sums of 2n numbers that lie side by side, in registers; return ||x||². (n is a constant.)"""
    cdef double2 totals[10]
    cdef double2 factor
    cdef Py_ssize_t k, at, line, per_line = CACHE_LINE // sizeof(floating), n_lines = (run.width + per_line - 1) // per_line
    cdef double x, q = bias * bias
    cdef int j
    for j in range(n):
        totals[j] = double2_of(0.0, 0.0)
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            if run.leads:
                at = run.width * <Py_ssize_t>indices[k + row.ahead]
                for line in range(n_lines):
                    prefetch(&state[at + line * per_line])
        at = run.width * column(indices, k, row.lo) + run.first
        x = data[k]
        q += x * x
        x = x * x if run.squared else x
        factor = double2_of(x, x)
        for j in range(n):
            totals[j] = double2_add(totals[j], double2_mul(factor, double2_at(state, at + 2 * j)))
    at = state.shape[0] - run.width + run.first
    x = bias * bias if run.squared else bias
    factor = double2_of(x, x)
    for j in range(n):
        totals[j] = double2_add(totals[j], double2_mul(factor, double2_at(state, at + 2 * j)))
        sums[2 * j] = double2_first(totals[j])
        sums[2 * j + 1] = double2_second(totals[j])
    return q


cdef inline double sum_classes(const floating[::1] state, Run run, const floating[::1] data, const index_t[::1] indices, Row row,
                               double bias, double* sums, Py_ssize_t n_classes) noexcept nogil:
    """Compute the sums of all classes, at least two, as many at a time as fit into registers; return ||x||²."""
    cdef Py_ssize_t done = 0, start = run.first
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


cdef inline void add_scores(int geometry, const floating[::1] state, Py_ssize_t at, double x, double* scores,
                            Py_ssize_t n_classes, const Params* p) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(n_classes):
        scores[c] += x * weight_of(geometry, state[at + c], state[at + n_classes + c], p)


cdef inline double scan_classes(int geometry, const floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                                Row row, double* scores, Py_ssize_t n_classes, const Params* p) noexcept nogil:
    """Compute the scores of all classes; return ||x||²."""
    cdef Py_ssize_t k, c, line, at, width = n_classes if geometry == ADDITIVE else 2 * n_classes
    cdef Py_ssize_t per_line = CACHE_LINE // sizeof(floating), n_lines = (width + per_line - 1) // per_line
    cdef double q = p.bias * p.bias
    if geometry != POTENTIAL and geometry != DUAL:      # the weight is stored as it is
        return sum_classes(state, Run(0, width, False, True), data, indices, row, p.bias, scores, n_classes)
    for c in range(n_classes):
        scores[c] = 0.0
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            at = width * <Py_ssize_t>indices[k + row.ahead]
            for line in range(n_lines):
                prefetch(&state[at + line * per_line])
        add_scores(geometry, state, width * column(indices, k, row.lo), data[k], scores, n_classes, p)
        q += <double>data[k] * data[k]
    add_scores(geometry, state, state.shape[0] - width, p.bias, scores, n_classes, p)
    return q


cdef inline bint are_many(const Steps* steps, Py_ssize_t n_classes) noexcept nogil:
    """Return True if all classes side by side take less time than these one by one."""
    return 3 * steps.n >= n_classes


cdef inline double variance_at(const floating[::1] state, Py_ssize_t at, const Params* p) noexcept nogil:
    """Return σ of a feature and class."""
    if p.geometry == FORGETTING:
        return forgetful_variance(state[at], p)
    return state[at]


cdef inline void variances(const floating[::1] state, Py_ssize_t n_classes, const Steps* steps, const floating[::1] data,
                           const index_t[::1] indices, Row row, double* v, const Params* p) noexcept nogil:
    """Compute v[i] = x'Σx of class steps.classes[i], in rising order. (v has a number for each class.)"""
    cdef Py_ssize_t k, i, at, width = 2 * n_classes
    cdef double x
    if p.geometry != FORGETTING and n_classes > 1 and are_many(steps, n_classes):
        sum_classes(state, Run(n_classes, width, True, False), data, indices, row, p.bias, v, n_classes)
        for i in range(steps.n):
            v[i] = v[steps.classes[i]]
        return
    for i in range(steps.n):
        v[i] = 0.0
    for k in range(row.lo, row.hi + 1):
        at = width * column(indices, k, row.lo) if k < row.hi else state.shape[0] - width
        x = data[k] if k < row.hi else p.bias
        for i in range(steps.n):
            v[i] += x * x * variance_at(state, at + n_classes + steps.classes[i], p)


cdef inline void variances_of_two(const floating[::1] state, Py_ssize_t n_classes, const int64_t* classes,
                                  const floating[::1] data, const index_t[::1] indices, Row row, double* v,
                                  const Params* p) noexcept nogil:
    """Compute v = x'Σx of two classes, in any order."""
    cdef double2 totals = double2_of(0.0, 0.0)
    cdef Py_ssize_t k, at
    cdef double x
    for k in range(row.lo, row.hi):
        at = 2 * n_classes * column(indices, k, row.lo) + n_classes
        x = data[k]
        totals = double2_add(totals, double2_mul(double2_of(x * x, x * x), double2_of(
            variance_at(state, at + classes[0], p), variance_at(state, at + classes[1], p))))
    at = state.shape[0] - n_classes
    x = p.bias
    totals = double2_add(totals, double2_mul(double2_of(x * x, x * x), double2_of(
        variance_at(state, at + classes[0], p), variance_at(state, at + classes[1], p))))
    v[0], v[1] = double2_first(totals), double2_second(totals)


cdef inline double lookahead_margin(const floating[::1] state, Py_ssize_t n_classes, Py_ssize_t c, const floating[::1] data,
                                    const index_t[::1] indices, Row row, double beta, const Params* p) noexcept nogil:
    """Return x'Σ_tθ of class c with x already in Σ_t:  Σ_i x_i θ_i σ_i / (1 + β x_i² σ_i)."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(row.lo, row.hi):
        total += lookahead_weight(state, 2 * n_classes * column(indices, k, row.lo) + c, n_classes, data[k], beta)
    return total + lookahead_weight(state, state.shape[0] - 2 * n_classes + c, n_classes, p.bias, beta)


# --- steps ---------------------------------------------------------------------------------------------------------------------

cdef inline void apply_step_classes(int geometry, floating[::1] state, Py_ssize_t at, floating x, const floating* taus,
                                    Py_ssize_t n_classes, const Params* p) noexcept nogil:
    """Apply the steps of all classes to one feature, whose run begins at `at`. Their betas follow their taus."""
    if geometry == ADDITIVE:
        if floating is float:
            additive_classes_floats(&state[at], taus, n_classes, x)
        else:
            additive_classes_doubles(&state[at], taus, n_classes, x)
    else:
        if floating is float:
            gaussian_classes_floats(&state[at], taus, taus + n_classes, n_classes, x, <float>p.floor)
        else:
            gaussian_classes_doubles(&state[at], taus, taus + n_classes, n_classes, x, p.floor)


cdef inline void apply_step_all(int geometry, floating[::1] state, Py_ssize_t n_classes, const Steps* steps,
                                const floating[::1] data, const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Apply the steps of a row to all classes side by side, with τ = β = 0 for those without one (ADDITIVE and GAUSSIAN)."""
    cdef floating* taus = <floating*>steps.workspace
    cdef Py_ssize_t k, c, i, width = n_classes if geometry == ADDITIVE else 2 * n_classes
    for c in range(2 * n_classes):
        taus[c] = 0.0
    for i in range(steps.n):
        taus[steps.classes[i]] = <floating>steps.each[i].tau
        taus[n_classes + steps.classes[i]] = <floating>steps.each[i].beta
    for k in range(row.lo, row.hi):
        apply_step_classes(geometry, state, width * column(indices, k, row.lo), data[k], taus, n_classes, p)
    apply_step_classes(geometry, state, state.shape[0] - width, <floating>p.bias, taus, n_classes, p)
