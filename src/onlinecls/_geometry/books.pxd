"""What every task does with a row beside the mathematics: counting it in, its loss, whether a step fits, and Ctrl-C."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int64_t

from .sparse cimport DUAL, FULL_GAUSSIAN, FULL_POTENTIAL, GAUSSIAN, MIRROR, Row
from .._rules cimport Params, Stats, Step, smaller


cdef enum:                  # the slots of tally
    ROUNDS                  # rows of weight > 0
    MISTAKES                # of them, those that predict would have got wrong just before the update
    UPDATES                 # of them, those that changed the model
    SKIPPED                 # of them, those whose step would have left the range of the dtype
    SEEN                    # classes that have had a row
    LOSS                    # sum of weighted losses before the update: what the margin lacks
    REACH                   # no |w_i| (θ_i, z_i) is larger than this
    CURVATURE               # no G_i is larger than this
    SQUARED                 # regression: sum of the squared errors of predict, asked just before the update
    ABSOLUTE                # and of the absolute ones
    N_SLOTS

cdef enum:
    QUANTUM = 1 << 21       # weights read between two looks at pending signals: well under 50 ms

cdef enum Task:
    BINARY
    CRAMMER_SINGER
    OVR
    REGRESSION


cdef inline double enter(Py_ssize_t at, Py_ssize_t label, const double[::1] weights, const double[::1] class_weights,
                         double[::1] counts, double[::1] tally, Params* p) noexcept nogil:
    """`count_in`, and the threshold of this round."""
    p.threshold = p.l1 * tally[ROUNDS]
    return count_in(at, label, weights, class_weights, counts, tally, p.balanced)


cdef inline double count_in(Py_ssize_t at, Py_ssize_t label, const double[::1] weights, const double[::1] class_weights,
                            double[::1] counts, double[::1] tally, bint balanced) noexcept nogil:
    """Count a row in and return its weight c; a row of weight 0 is an exact no-op."""
    cdef double c = 1.0
    if weights.shape[0]:
        c = weights[at]
    if class_weights.shape[0]:
        c *= class_weights[label]
    if c <= 0.0:
        return 0.0
    tally[ROUNDS] += 1.0
    counts[label] += 1.0
    if counts[label] == 1.0:
        tally[SEEN] += 1.0
    if balanced:            # N_t / (k_t n_{y,t}), this row among them
        c *= tally[ROUNDS] / (tally[SEEN] * counts[label])
    return c


cdef inline double averaged(const double[::1] tally, const Params* p) noexcept nogil:
    """Over how many w_t the average runs, before the present row."""
    cdef double rounds = tally[ROUNDS] - 1.0 - p.average_from
    return rounds if p.average_from >= 0 and rounds > 0.0 else 0.0


cdef inline void charge(const Stats* s, double[::1] tally, const Params* p) noexcept nogil:
    """Add the row's loss to the sum by which epochs end; not where that would take the sum out of double's range."""
    cdef double loss = s.weight * (p.margin - s.margin)
    if 0.0 < loss < 1e290:
        tally[LOSS] += loss


cdef inline bint fits(const Stats* s, Step step, double[::1] tally, const Params* p) noexcept nogil:
    """True, and the reach of the model moved on, if neither the step nor the model after it leaves the range of the dtype.

    max |Δw_i| from O(1) numbers: |τ| max|x_i| <= |τ| √q; gaussian, |τ| σ_i |x_i| <= |τ| √(σ_max v); AdaGrad, <= η; G: <= τ² q.
    What is computed on the way must fit too: x_i σ_i <= √(σ_max v), x_i² σ_i <= v, dual averaging's η |z_i| / δ.
    """
    cdef double stride, reach, curvature = tally[CURVATURE]
    if p.geometry == GAUSSIAN or p.geometry == FULL_GAUSSIAN or p.geometry == FULL_POTENTIAL:
        stride = fabs(step.tau) * sqrt(p.variance * s.v)
    else:
        stride = fabs(step.tau) * sqrt(s.q)
    if p.geometry == MIRROR or p.geometry == DUAL:
        curvature += stride * stride
        if p.geometry == MIRROR:
            stride = p.eta0
    reach = tally[REACH] + stride
    if not (reach <= p.limit and curvature <= p.limit and step.beta <= p.limit and step.beta * s.v <= p.limit
            and (p.tiny <= fabs(step.tau) <= p.limit or step.tau == 0.0)        # NaN is not <= either
            and s.v <= p.limit and sqrt(p.variance * s.v) <= p.limit
            and (p.geometry != DUAL or p.eta0 * reach <= p.limit * p.delta)):
        tally[SKIPPED] += 1.0
        return False
    tally[REACH] = reach
    tally[CURVATURE] = curvature
    return True


cdef inline bint readable(const Stats* s, double[::1] tally) noexcept nogil:
    """False for a zero row, which teaches nothing, and (counted) for one whose scores overflow double."""
    if isfinite(s.margin) and isfinite(s.q) and isfinite(s.v):
        return s.q > 0.0 or s.v > 0.0
    tally[SKIPPED] += 1.0
    return False


cdef inline Py_ssize_t look_up(Py_ssize_t budget, Py_ssize_t work) except -1 nogil:
    """Let Ctrl-C through, between two rows, every QUANTUM of work."""
    budget -= work
    if budget < 0:
        with gil:
            PyErr_CheckSignals()
        budget = QUANTUM
    return budget


cdef inline void note(double error, double[::1] tally) noexcept nogil:
    """Add an error of predict to its sums, which stay numbers whatever the scores were."""
    error = smaller(fabs(error), 1e140)
    tally[SQUARED] += error * error
    tally[ABSOLUTE] += error


# --- whom a step moves ---------------------------------------------------------------------------------------------------------

cdef inline Py_ssize_t top(const double[:, ::1] scores, Py_ssize_t i, const double[::1] counts, Py_ssize_t but,
                           const Params* p) noexcept nogil:
    """`best_of` scores[i]."""
    return best_of(&scores[i, 0], counts, but, p.open_classes)


cdef inline Py_ssize_t best_of(const double* scores, const double[::1] counts, Py_ssize_t but, bint open_classes) noexcept nogil:
    """First argmax of scores over the classes that have joined, leaving out one."""
    cdef Py_ssize_t c, best = -1
    for c in range(counts.shape[0]):
        if c != but and not (open_classes and counts[c] == 0.0) and (best < 0 or scores[c] > scores[best]):
            best = c
    return best


ctypedef struct Party:      # the vectors that one step moves, with the sign of x in each, and the margin of the joint example
    Py_ssize_t n
    int64_t[2] c
    double[2] sign
    double margin


cdef inline Party party(Task task, Py_ssize_t number, double y, const double[:, ::1] scores, Py_ssize_t i,
                        const double[::1] counts, const Params* p) noexcept nogil:
    """Of a task's steps for a row the one with this number; n = 0 if there is none."""
    cdef Party members
    members.n = 1
    members.c[0], members.c[1], members.sign[1] = number, 0, -1.0
    if task == BINARY:
        members.sign[0] = 2.0 * y - 1.0
    elif task == OVR:
        members.sign[0] = 1.0 if number == y else -1.0
        members.n = not (p.open_classes and counts[number] == 0.0)
    elif task == REGRESSION:
        members.sign[0] = 1.0 if y - scores[i, 0] >= 0.0 else -1.0
    else:
        members.c[0], members.sign[0] = <Py_ssize_t>y, 1.0
        members.c[1] = top(scores, i, counts, <Py_ssize_t>y, p)
        members.n = 2 if members.c[1] >= 0 else 0       # (no learning leaves a class without a rival, but a file might)
    members.margin = members.sign[0] * scores[i, members.c[0]]
    if task == REGRESSION:
        members.margin = p.epsilon - fabs(y - scores[i, 0])
    elif members.n == 2:
        members.margin -= scores[i, members.c[1]]
    return members


cdef inline Row row_at(const int64_t[::1] indptr, const int64_t[::1] order, Py_ssize_t i) noexcept nogil:
    cdef Row row
    cdef Py_ssize_t n = indptr.shape[0] - 1, at = i
    if order.shape[0]:
        at = order[i]
    row.lo = indptr[at]
    row.hi = indptr[at + 1]
    row.ahead = max(80, min(row.hi - row.lo, 128))
    if order.shape[0]:
        row.ahead = indptr[order[i + 1]] - row.lo if i + 1 < order.shape[0] else 0
    if row.hi + row.ahead > indptr[n]:
        row.ahead = 0
    return row
