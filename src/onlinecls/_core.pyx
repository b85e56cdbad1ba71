"""The kernels: one pass of a rule over rows, one function a task; and the reading of scores, and of inputs.

A kernel is three steps, task (what the row says: Stats), rule (Stats -> Step) and geometry (Step -> the model), and the counting
around them. Kernels trust their input: `check_rows`, `all_finite` and the Python layer have seen all of it before the first
write. Arrays not in use have length 0. State and counters are changed in place, row by row, so that an interrupt
leaves a whole number of rows.
"""
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

import numpy as np

from ._geometry.blas cimport symm
from ._geometry.full cimport (
    Full, dot, expand, foresee, form, is_sparse, keep_roots, make_products, move_full, open_window, present_at,
    roots_at, spread_full, write_down,
)
from ._geometry.sparse cimport (
    ADDITIVE, CENTRE, DUAL, EXP, FULL_GAUSSIAN, FULL_POTENTIAL, GAUSSIAN, MIRROR, POTENTIAL, P_NORM, SINH, Row, Sums, drift_score,
    floating, index_t, larger, move, peek, remember, row_at, scan, scan_as, scan_classes, spread,
)
from ._geometry.books cimport (
    ABSOLUTE, BINARY, CRAMMER_SINGER, LOSS, MISTAKES, N_SLOTS, OVR, QUANTUM, REACH, REGRESSION, ROUNDS, SEEN, SKIPPED, SQUARED,
    UPDATES, Party, Task, averaged, charge, enter, fits, look_up, note, party, readable, top,
)
from ._rules cimport (
    ADAGRAD, AGGRESSIVE_PERCEPTRON, AGGRESSIVE_P_NORM, AGGRESSIVE_SOP, AROW, CW_STDEV, CW_VARIANCE, LEAST_SQUARES, MULTIPLICATIVE,
    MULTIPLICATIVE_CENTRE, NAROW, PA1, PA2, PERCEPTRON, SCW1, SCW2, SOP, Params, Stats, Step, apply_rule, out_of_reach,
    precision, settled,
)

RULES = {
    "perceptron": PERCEPTRON, "aggressive_perceptron": AGGRESSIVE_PERCEPTRON, "pa1": PA1, "pa2": PA2, "adagrad": ADAGRAD,
    "aggressive_p_norm": AGGRESSIVE_P_NORM, "arow": AROW, "least_squares": LEAST_SQUARES, "cw_stdev": CW_STDEV,
    "cw_variance": CW_VARIANCE, "scw1": SCW1, "scw2": SCW2, "sop": SOP, "aggressive_sop": AGGRESSIVE_SOP, "narow": NAROW,
    "multiplicative": MULTIPLICATIVE, "multiplicative_centre": MULTIPLICATIVE_CENTRE,
}
GEOMETRIES = {"additive": ADDITIVE, "gaussian": GAUSSIAN, "potential": POTENTIAL, "mirror": MIRROR, "dual": DUAL,
              "full_gaussian": FULL_GAUSSIAN, "full_potential": FULL_POTENTIAL, "p_norm": P_NORM, "centre": CENTRE, "sinh": SINH,
              "exp": EXP}

TALLY = {
    "t": ROUNDS, "mistakes": MISTAKES, "updates": UPDATES, "skipped": SKIPPED, "seen": SEEN, "loss": LOSS, "reach": REACH,
    "squared": SQUARED, "absolute": ABSOLUTE,
}
TALLY_SIZE = N_SLOTS

# --- the tasks -----------------------------------------------------------------------------------------------------------------

cdef inline void advance(floating[::1] state, double[::1] drift, Py_ssize_t n_classes, const int64_t* which, Py_ssize_t n,
                         const Step* steps, const floating[::1] data, const index_t[::1] indices, Row row,
                         double[::1] tally, const Params* p) noexcept nogil:
    """Take steps[i] for class which[i], and keep the average's books."""
    cdef Py_ssize_t i, width = n_classes if p.geometry == ADDITIVE else 2 * n_classes
    if n == 0:
        return
    if p.average_from >= 0:
        for i in range(n):
            remember(p.geometry, state, drift, width, n_classes, which[i], data, indices, row, -averaged(tally, p), p)
    move(state, n_classes, which, n, steps, data, indices, row, p)
    if p.average_from >= 0:
        for i in range(n):
            remember(p.geometry, state, drift, width, n_classes, which[i], data, indices, row, averaged(tally, p), p)
    tally[UPDATES] += 1.0


def binary(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
           const int64_t[::1] order, const int32_t[::1] y, const double[::1] weights, const double[::1] class_weights,
           floating[::1] state, double[::1] drift, double[::1] counts, double[::1] tally, int32_t[::1] predictions):
    """One pass over rows: one vector of weights, label 1 on its positive side.

    data, indices, indptr : the rows; order : row numbers, or empty for storage order; y : labels 0 and 1 of all rows;
    weights, class_weights : c is the product of both, either may be empty; state, drift, counts, tally : the model;
    predictions : empty, or for the class that predict would have named just before each row of weight > 0 was learnt.
    """
    cdef Py_ssize_t i, at, budget = QUANTUM, n = order.shape[0] if order.shape[0] else y.shape[0]
    cdef int32_t label
    cdef int64_t only = 0
    cdef bint newcomer
    cdef double sign, score
    cdef Row row
    cdef Sums sums
    cdef Stats s
    cdef Step step
    with nogil:
        for i in range(n):
            row = row_at(indptr, order, i)
            budget = look_up(budget, row.hi - row.lo + 8)
            at = order[i] if order.shape[0] else i
            label = y[at]
            s.weight = enter(at, label, weights, class_weights, counts, tally, &p)
            if s.weight == 0.0:
                continue

            sums = scan(state, data, indices, row, &p)
            sign = 2 * label - 1            # (no branch: labels cannot be predicted)
            s.margin = sign * sums.score
            s.q = sums.q
            s.v = sums.v
            score = sums.score
            if averaged(tally, &p) > 0.0:
                score -= drift_score(drift, 1, 0, data, indices, row, &p) / averaged(tally, &p)
            newcomer = p.open_classes & (counts[label] == 1.0)
            tally[MISTAKES] += ((score > 0.0) != label) | newcomer
            if predictions.shape[0]:
                predictions[at] = 1 - label if newcomer else score > 0.0
            if not readable(&s, tally):
                continue
            charge(&s, tally, &p)

            if p.geometry == POTENTIAL:
                s.margin = sign * peek(state, 2, 1, 0, data, indices, row, precision(&s, &p), &p)
            step = apply_rule(&s, &p)
            if step.tau != 0.0 and fits(&s, step, tally, &p):
                step.tau *= sign
                advance(state, drift, 1, &only, 1, &step, data, indices, row, tally, &p)


def regression(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
               const int64_t[::1] order, const double[::1] y, const double[::1] weights, const double[::1] class_weights,
               floating[::1] state, double[::1] drift, double[::1] counts, double[::1] tally):
    """One pass over rows: one vector of weights, whose scores are to be the targets y.

    Arguments as in `binary`; class_weights is empty, counts has one number.
    """
    cdef Py_ssize_t i, at, budget = QUANTUM, n = order.shape[0] if order.shape[0] else y.shape[0]
    cdef int64_t only = 0
    cdef double residual, error
    cdef Row row
    cdef Sums sums
    cdef Stats s
    cdef Step step
    with nogil:
        for i in range(n):
            row = row_at(indptr, order, i)
            budget = look_up(budget, row.hi - row.lo + 8)
            at = order[i] if order.shape[0] else i
            s.weight = enter(at, 0, weights, class_weights, counts, tally, &p)
            if s.weight == 0.0:
                continue

            sums = scan(state, data, indices, row, &p)
            residual = y[at] - sums.score
            s.margin = p.epsilon - fabs(residual)
            s.q = sums.q
            s.v = sums.v
            error = residual
            if averaged(tally, &p) > 0.0:
                error += drift_score(drift, 1, 0, data, indices, row, &p) / averaged(tally, &p)
            note(error, tally)
            if not readable(&s, tally):
                continue
            charge(&s, tally, &p)

            step = apply_rule(&s, &p)
            # Least squares learns from a residual of 0 too: how certain the model is.
            if (step.tau != 0.0 or step.beta >= p.tiny) and fits(&s, step, tally, &p):
                if residual < 0.0:
                    step.tau = -step.tau
                advance(state, drift, 1, &only, 1, &step, data, indices, row, tally, &p)


cdef inline Py_ssize_t predicted(Py_ssize_t label, const floating[::1] data, const index_t[::1] indices, Row row,
                                 const double[::1] drift, const double[::1] counts, const double[::1] tally,
                                 double[:, ::1] scores, const Params* p) noexcept nogil:
    """What predict, asked just before the update, would have said. A label never seen could not have been predicted."""
    cdef Py_ssize_t c, k = counts.shape[0], newcomer = label if p.open_classes and counts[label] == 1.0 else -1
    cdef double rounds = averaged(tally, p)
    if rounds == 0.0:
        return top(scores, 0, counts, newcomer, p)
    for c in range(k):
        scores[1, c] = scores[0, c] - drift_score(drift, k, c, data, indices, row, p) / rounds
    return top(scores, 1, counts, newcomer, p)


def crammer_singer(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
                   const int64_t[::1] order, const int32_t[::1] y, const double[::1] weights, const double[::1] class_weights,
                   floating[::1] state, double[::1] drift, double[::1] counts, double[::1] tally, int32_t[::1] predictions):
    """One pass over rows: the multi-vector construction, z = phi(x, y) - phi(x, r) for the top wrong class r.

    Arguments as in `binary`, of `counts.shape[0]` classes; y : their numbers.
    """
    cdef Py_ssize_t i, at, label, guess, rival
    cdef Py_ssize_t k = counts.shape[0], width = k if p.geometry == ADDITIVE else 2 * k, gap = width - k
    cdef Py_ssize_t n = order.shape[0] if order.shape[0] else y.shape[0], budget = QUANTUM
    cdef double[:, ::1] scores = np.empty((2, k))
    cdef int64_t[2] which
    cdef double[2] v
    cdef Step[2] steps
    cdef Row row
    cdef Stats s
    with nogil:
        for i in range(n):
            row = row_at(indptr, order, i)
            budget = look_up(budget, (row.hi - row.lo + 8) * k)
            at = order[i] if order.shape[0] else i
            label = y[at]
            s.weight = enter(at, label, weights, class_weights, counts, tally, &p)
            if s.weight == 0.0:
                continue

            s.q = 2.0 * scan_classes(p.geometry, state, width, data, indices, row, scores, 0, &p)
            s.v = 0.0
            guess = predicted(label, data, indices, row, drift, counts, tally, scores, &p)
            tally[MISTAKES] += guess != label
            if predictions.shape[0]:
                predictions[at] = guess
            rival = top(scores, 0, counts, label, &p)
            s.margin = scores[0, label] - scores[0, rival]
            if not readable(&s, tally):
                continue
            charge(&s, tally, &p)

            if settled(s.margin, &p):
                continue
            which[0] = label
            which[1] = rival
            if p.geometry == GAUSSIAN or p.geometry == POTENTIAL:
                spread(state, width, gap, which, 2, data, indices, row, v, &p)
                s.v = v[0] + v[1]
            if p.geometry == POTENTIAL:
                s.margin = (peek(state, width, gap, label, data, indices, row, precision(&s, &p), &p)
                            - peek(state, width, gap, rival, data, indices, row, precision(&s, &p), &p))
            steps[0] = apply_rule(&s, &p)
            if steps[0].tau != 0.0 and fits(&s, steps[0], tally, &p):
                steps[1] = Step(-steps[0].tau, steps[0].beta)
                advance(state, drift, k, which, 2, steps, data, indices, row, tally, &p)


def ovr(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
        const int64_t[::1] order, const int32_t[::1] y, const double[::1] weights, const double[::1] class_weights,
        floating[::1] state, double[::1] drift, double[::1] counts, double[::1] tally, int32_t[::1] predictions):
    """One pass over rows: for each class an independent binary learner, that class against the rest.

    Arguments as in `binary`, of `counts.shape[0]` classes; y : their numbers.
    """
    cdef Py_ssize_t i, j, at, c, label, guess
    cdef Py_ssize_t k = counts.shape[0], width = k if p.geometry == ADDITIVE else 2 * k, gap = width - k
    cdef Py_ssize_t n = order.shape[0] if order.shape[0] else y.shape[0], budget = QUANTUM, n_open, n_steps
    cdef double[:, ::1] scores = np.empty((2, k))
    cdef double[::1] v = np.empty(k)
    cdef int64_t[::1] which = np.empty(k, np.int64)
    cdef double[:, ::1] both = np.empty((k, 2))
    cdef Step* steps = <Step*>&both[0, 0]
    cdef double sign, skipped
    cdef Row row
    cdef Stats s
    with nogil:
        for i in range(n):
            row = row_at(indptr, order, i)
            budget = look_up(budget, (row.hi - row.lo + 8) * k)
            at = order[i] if order.shape[0] else i
            label = y[at]
            s.weight = enter(at, label, weights, class_weights, counts, tally, &p)
            if s.weight == 0.0:
                continue

            skipped = tally[SKIPPED]
            s.q = scan_classes(p.geometry, state, width, data, indices, row, scores, 0, &p)
            s.v = 0.0
            guess = predicted(label, data, indices, row, drift, counts, tally, scores, &p)
            tally[MISTAKES] += guess != label
            if predictions.shape[0]:
                predictions[at] = guess
            n_open = 0                          # the classes whose margin alone does not settle the row come to which[:n_open]
            for c in range(k):
                s.margin = scores[0, c] if c == label else -scores[0, c]
                if (p.open_classes and counts[c] == 0.0) or not readable(&s, tally):
                    continue
                charge(&s, tally, &p)
                if not settled(s.margin, &p):
                    which[n_open] = c
                    n_open += 1
            if p.geometry == GAUSSIAN or p.geometry == POTENTIAL:
                spread(state, width, gap, &which[0], n_open, data, indices, row, &v[0], &p)

            n_steps = 0                         # and of these, the classes that take a step to which[:n_steps]
            for j in range(n_open):
                c = which[j]
                sign = 1.0 if c == label else -1.0
                s.margin = sign * scores[0, c]
                if p.geometry == GAUSSIAN or p.geometry == POTENTIAL:
                    s.v = v[j]
                if p.geometry == POTENTIAL:
                    s.margin = sign * peek(state, width, gap, c, data, indices, row, precision(&s, &p), &p)
                steps[n_steps] = apply_rule(&s, &p)
                if steps[n_steps].tau != 0.0 and fits(&s, steps[n_steps], tally, &p):
                    steps[n_steps].tau *= sign
                    which[n_steps] = c
                    n_steps += 1
            if tally[SKIPPED] > skipped:        # rows are counted, not classes
                tally[SKIPPED] = skipped + 1.0
            advance(state, drift, k, &which[0], n_steps, steps, data, indices, row, tally, &p)


# --- the tasks with a full covariance ------------------------------------------------------------------------------------------

TASKS = {"binary": BINARY, "crammer_singer": CRAMMER_SINGER, "ovr": OVR, "regression": REGRESSION}

cdef enum Foresight:        # which products Σx are made ahead, many at once
    NEVER
    LIKELY                  # those of rows that ask for one if the weights stay as they are
    ALWAYS

FORESIGHT = {"never": NEVER, "likely": LIKELY, "always": ALWAYS}

cdef enum:
    SPAN = 4                # rows looked at for each product that is to be made ahead
    WORTH = 64              # to look at D/64 rows costs as much as one product made ahead saves
    RARELY = 16             # where it is not worth it, rows that are not looked at for each that is
    NOISE = 4               # the error of a number of Σ, in units of the dtype's spacing
    BLOCK = 64              # dense rows that meet Σ at once when their deviations are read


cdef inline double gain(double beta, double v, const Params* p) noexcept nogil:
    """k of Σ -= k u u'. The variance left, v - k v², is never less than rounding can tell from 0."""
    cdef double k = beta / (1.0 + beta * v)
    return k if k * v < 1.0 - 8.0 * p.spacing else (1.0 - 8.0 * p.spacing) / v


cdef inline double peeked(const Party* members, const double[:, ::1] scores, Py_ssize_t i, double beta, const double* v,
                          const Params* p) noexcept nogil:
    """m' = z'Σ_tθ, for Σ_t x = (1 - kv) Σx."""
    cdef Py_ssize_t j
    cdef double margin = 0.0
    for j in range(members.n):
        margin += members.sign[j] * scores[i, members.c[j]] * (1.0 - gain(beta, v[j], p) * v[j])
    return margin


cdef inline bint passes(const Party* members, const double[:, ::1] scores, Py_ssize_t i, double q,
                        const Params* p) noexcept nogil:
    """True if the scores alone tell that there is no step: no variance is above the initial one times ||x||^2."""
    cdef Py_ssize_t j
    cdef double[2] v
    cdef Stats s
    s.v = p.variance * q * members.n
    s.margin = members.margin
    if p.geometry == FULL_POTENTIAL:        # the least m': all of the shrinking where it hurts
        for j in range(members.n):
            v[j] = p.variance * q if members.sign[j] * scores[i, members.c[j]] > 0.0 else 0.0
        s.margin = peeked(members, scores, i, precision(&s, p), v, p)
    return out_of_reach(&s, p)


cdef inline double score_all(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                             double[:, ::1] scores, Py_ssize_t i, const Params* p) noexcept nogil:
    """The scores of all vectors, into scores[i]; returns ||x||^2."""
    cdef Sums sums
    if scores.shape[1] > 1:
        return scan_classes(ADDITIVE, state, scores.shape[1], data, indices, row, scores, i, p)
    sums = scan_as(ADDITIVE, state, 1, data, indices, row, p)
    scores[i, 0] = sums.score
    return sums.q


cdef void look_ahead(Task task, int foresight, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
                     const int64_t[::1] order, const double[::1] y, const double[::1] counts, const floating[::1] state,
                     floating[:, :, ::1] sigma, floating[:, ::1] work, Full* f, double[:, ::1] scores, Py_ssize_t i,
                     const Params* p) noexcept nogil:
    """Open a window at row i, and make the products that its rows will ask for if the weights stay as they are."""
    cdef Py_ssize_t at, j, number, n = order.shape[0] if order.shape[0] else y.shape[0]
    cdef Py_ssize_t n_steps = f.k if task == OVR else 1, n_products = 0
    cdef double q
    cdef bint full = False
    cdef Row row
    cdef Party members
    open_window(sigma, work, f, i)
    while f.stop < n and f.stop - f.start < f.span and not full:
        row = row_at(indptr, order, f.stop)
        at = order[f.stop] if order.shape[0] else f.stop
        f.stop += 1
        for j in range(f.k):
            f.slots[j * f.span + f.stop - 1 - f.start] = -1
        if is_sparse(indices, row, f):
            continue
        q = score_all(state, data, indices, row, scores, 1, p)
        for number in range(n_steps):
            members = party(task, number, y[at], scores, 1, counts, p)
            if foresight == ALWAYS or not passes(&members, scores, 1, q, p):
                for j in range(members.n):
                    foresee(f, members.c[j], f.stop - 1, at)
        for j in range(f.k):
            full |= f.n_ahead[j] == f.aim
    for j in range(f.k):
        n_products += f.n_ahead[j]
    if foresight == LIKELY and n_products * f.D < WORTH * f.k * (f.stop - f.start):
        f.resume = f.stop + RARELY * (f.stop - f.start)
    make_products(sigma, work, f, data, indices, indptr, p)


def full(Params p, Task task, int foresight, Py_ssize_t depth, const floating[::1] data, const index_t[::1] indices,
         const int64_t[::1] indptr, const int64_t[::1] order, const double[::1] y, const double[::1] weights,
         const double[::1] class_weights, floating[::1] state, double[::1] drift, double[::1] counts, double[::1] tally,
         int32_t[::1] predictions, floating[:, :, ::1] sigma):
    """One pass over rows with a full covariance, any task.

    Arguments as in `binary`, y as numbers (labels 0, 1, .. or targets; these are not predicted); sigma : (vectors, D, D), of
    which the lower triangles count; foresight : see above; depth : how many steps wait before Σ is written, and how many products
    are made at once. 1 is Sherman-Morrison row by row.
    """
    cdef Py_ssize_t i, j, at, label, guess, number, k = sigma.shape[0], n = order.shape[0] if order.shape[0] else y.shape[0]
    cdef Py_ssize_t budget = QUANTUM, n_steps = k if task == OVR else 1
    cdef double[:, ::1] scores = np.empty((2, k))
    cdef double q, score, skipped, rounds
    cdef double[2] v, k_of, tau
    cdef bint expanded, updated
    cdef Full f
    cdef Row row
    cdef Stats s
    cdef Step step
    cdef Party members
    f.k, f.D, f.depth = k, sigma.shape[1], min(depth, sigma.shape[1], max(n, 1))
    f.span, f.start, f.stop, f.resume, f.aim, f.made, f.used = SPAN * f.depth, 0, 0, 0, (f.depth + 3) // 4, 0, 0
    f.noise = NOISE * p.spacing
    cdef int64_t[::1] books = np.zeros(k * (3 + f.span + f.depth), np.int64)
    f.n_waiting, f.n_ahead, f.place = &books[0], &books[k], &books[2 * k]
    f.slots, f.chosen = &books[3 * k], &books[k * (3 + f.span)]
    cdef floating[:, ::1] work = np.empty((present_at(&f) + 2, f.D), np.float32 if floating is float else np.float64)
    for i in range(k * f.span):
        f.slots[i] = -1
    for i in range(k):
        for j in range(f.D):
            work[roots_at(&f, i), j] = 0.0
        keep_roots(sigma[i], work, &f, i, 0.0)
    try:
        with nogil:
            for i in range(n):
                row = row_at(indptr, order, i)
                budget = look_up(budget, (row.hi - row.lo + 8) * k)
                at = order[i] if order.shape[0] else i
                label = 0 if task == REGRESSION else <Py_ssize_t>y[at]
                s.weight = enter(at, label, weights, class_weights, counts, tally, &p)
                if s.weight == 0.0:
                    continue
                if i >= max(f.stop, f.resume) and foresight != NEVER and f.depth > 1:
                    budget -= QUANTUM       # (pending signals wait for the end of the row)
                    look_ahead(task, foresight, data, indices, indptr, order, y, counts, state, sigma, work, &f, scores, i, &p)

                q = score_all(state, data, indices, row, scores, 0, &p)
                rounds = averaged(tally, &p)
                if k == 1:
                    score = scores[0, 0]
                    if rounds > 0.0:
                        score -= drift_score(drift, 1, 0, data, indices, row, &p) / rounds
                    if task == REGRESSION:
                        note(y[at] - score, tally)
                    else:
                        guess = 1 - label if p.open_classes and counts[label] == 1.0 else score > 0.0
                else:
                    guess = predicted(label, data, indices, row, drift, counts, tally, scores, &p)
                if task != REGRESSION:
                    tally[MISTAKES] += guess != label
                    if predictions.shape[0]:
                        predictions[at] = <int32_t>guess

                expanded = updated = False
                skipped = tally[SKIPPED]
                for number in range(n_steps):
                    members = party(task, number, y[at], scores, 0, counts, &p)
                    s.margin, s.q, s.v = members.margin, members.n * q, 0.0
                    if members.n == 0 or not readable(&s, tally):
                        continue
                    charge(&s, tally, &p)
                    if passes(&members, scores, 0, q, &p):
                        continue
                    if not expanded:
                        expand(data, indices, row, work[present_at(&f)], &p)
                        expanded = True
                    for j in range(members.n):
                        budget -= f.D * f.D // 4
                        v[j] = spread_full(sigma[members.c[j]], work, &f, members.c[j], i, data, indices, row, &p)
                        s.v += v[j]
                    if not readable(&s, tally):     # u or x'Σx overflows
                        continue
                    if p.geometry == FULL_POTENTIAL:
                        s.margin = peeked(&members, scores, 0, precision(&s, &p), v, &p)
                    step = apply_rule(&s, &p)
                    if step.tau == 0.0 and not (task == REGRESSION and step.beta >= p.tiny):
                        continue
                    for j in range(members.n):
                        k_of[j] = gain(step.beta, v[j], &p)
                        tau[j] = members.sign[j] * step.tau
                        if p.geometry == FULL_POTENTIAL:    # w = Σθ:  Δw = Σ_t τx - k u u'θ
                            tau[j] = tau[j] * (1.0 - k_of[j] * v[j]) - k_of[j] * scores[0, members.c[j]]
                    step.tau = larger(fabs(tau[0]), fabs(tau[members.n - 1]))
                    if fits(&s, step, tally, &p):
                        for j in range(members.n):
                            move_full(state, sigma[members.c[j]], work, &f, members.c[j], tau[j], k_of[j], drift, rounds)
                        updated = True
                if tally[SKIPPED] > skipped:
                    tally[SKIPPED] = skipped + 1.0
                tally[UPDATES] += updated
    finally:
        for i in range(k):
            write_down(sigma[i], work, &f, i)


# --- reading -------------------------------------------------------------------------------------------------------------------

def decision(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
             const floating[::1] state, const double[::1] drift, double rounds, double[:, ::1] scores):
    """scores[i, c] = w_c.x_i of the model, or of its average over `rounds` (if drift is not empty and rounds > 0)."""
    cdef Py_ssize_t i, c, k = scores.shape[1], width = k if p.geometry == ADDITIVE else 2 * k, budget = QUANTUM
    cdef int64_t[::1] order = np.empty(0, np.int64)
    cdef Row row
    with nogil:
        for i in range(scores.shape[0]):
            row = row_at(indptr, order, i)
            budget = look_up(budget, (row.hi - row.lo + 8) * k)
            if k == 1:
                scores[i, 0] = scan(state, data, indices, row, &p).score
            else:
                scan_classes(p.geometry, state, width, data, indices, row, scores, i, &p)
            if drift.shape[0] and rounds > 0.0:
                for c in range(k):
                    scores[i, c] -= drift_score(drift, k, c, data, indices, row, &p) / rounds


def deviation(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
              const floating[::1] state, const floating[:, :, ::1] sigma, double[:, ::1] deviations):
    """deviations[i, c] = √(x_i'Σ_c x_i). A full Σ (if sigma is not empty) meets many dense rows at once, sparse ones singly."""
    cdef Py_ssize_t i, j, c, k = deviations.shape[1], n = deviations.shape[0], n_dense = 0, budget = QUANTUM
    cdef Py_ssize_t D = sigma.shape[1], block = BLOCK if sigma.shape[0] else 0
    cdef int64_t[::1] order = np.empty(0, np.int64), which = np.arange(k), chosen = np.empty(block, np.int64)
    cdef floating[:, ::1] work = np.empty((2 * block, D), np.float32 if floating is float else np.float64)
    cdef Row row
    with nogil:
        for i in range(n):
            row = row_at(indptr, order, i)
            if sigma.shape[0] == 0:
                budget = look_up(budget, (row.hi - row.lo + 8) * k)
                spread(state, 2 * k, k, &which[0], k, data, indices, row, &deviations[i, 0], &p)
                continue
            if 4 * (row.hi - row.lo) < D:
                budget = look_up(budget, (row.hi - row.lo + 8) * (row.hi - row.lo + 8) * k)
                for c in range(k):
                    deviations[i, c] = form(sigma[c], data, indices, row, &p)
            else:
                chosen[n_dense] = i
                expand(data, indices, row, work[n_dense], &p)
                n_dense += 1
            if n_dense == block or (n_dense and i == n - 1):
                for c in range(k):
                    budget = look_up(budget, D * D)
                    symm(sigma[c], work, work[block:], <int>n_dense)
                    for j in range(n_dense):
                        deviations[chosen[j], c] = dot(work[j], work[block + j])
                n_dense = 0
        for i in range(n):
            for c in range(k):
                deviations[i, c] = sqrt(larger(deviations[i, c], <double>0.0))


# --- checking ------------------------------------------------------------------------------------------------------------------

ctypedef fused bits_t:
    uint32_t
    uint64_t


cdef inline bits_t exponents(const bits_t[::1] bits) noexcept nogil:
    """Sign bit set if some float among these bit patterns is NaN or infinite: an exponent of all ones carries into it."""
    cdef bits_t mask = 0x7f800000, one = 0x00800000, carry = 0
    cdef Py_ssize_t k
    if bits_t is uint64_t:
        mask = <bits_t>0x7ff0000000000000
        one = <bits_t>0x0010000000000000
    for k in range(bits.shape[0]):
        carry |= (bits[k] & mask) + one
    return carry


def all_finite(const bits_t[::1] bits):
    """True if no NaN and no infinity is among floats, given as a view of their bit patterns."""
    cdef bits_t carry
    with nogil:
        carry = exponents(bits)
    return not carry >> (8 * sizeof(bits_t) - 1)


ctypedef fused column_t:
    int32_t
    int64_t


cdef inline column_t outside(column_t column, column_t last) noexcept nogil:
    """Sign bit set if a column is below 0 or beyond the last. (The difference of unsigned numbers cannot overflow; where the
    column is not below 0, it is that of the signed ones.)"""
    if column_t is int32_t:
        return column | <int32_t>(<uint32_t>last - <uint32_t>column)
    else:
        return column | <int64_t>(<uint64_t>last - <uint64_t>column)


def check_rows(const column_t[::1] indices, const int64_t[::1] indptr, int64_t n_columns):
    """What is wrong with a CSR structure: "" (nothing), "indptr", "indices" or, harmless but not in order, "order".

    indptr must rise from 0 to at most the number of indices, columns must be in 0 .. n_columns - 1, and they should rise
    strictly within each row (else there may be duplicates).
    """
    cdef Py_ssize_t k, i, n = indptr.shape[0] - 1, lo, nnz
    cdef column_t wrong = 0, falls, last        # (falls of the columns' width: no widening in the loop)
    cdef int64_t all_falls = 0
    cdef Py_ssize_t stop
    cdef bint broken = False
    if n < 0 or indptr[0] != 0:
        return "indptr"
    with nogil:
        for i in range(n):
            broken |= indptr[i + 1] < indptr[i]
    if broken or indptr[n] > indices.shape[0]:
        return "indptr"
    nnz = indptr[n]
    n_columns = max(n_columns, 0)
    if column_t is int32_t:
        last = <column_t>min(n_columns - 1, <int64_t>0x7fffffff)
    else:
        last = n_columns - 1
    with nogil:
        if nnz:
            wrong = outside(indices[0], last)
        k = 1
        while k < nnz:
            falls, stop = 0, min(nnz, k + (1 << 30))  # so many falls that int32 counts them
            for k in range(k, stop):
                wrong |= outside(indices[k], last)
                falls += indices[k] <= indices[k - 1]
            all_falls += falls
            k = stop
        for i in range(n):                      # a fall from one row to the next is none
            lo = indptr[i]
            if 0 < lo < indptr[i + 1]:
                all_falls -= indices[lo] <= indices[lo - 1]
    if wrong < 0:
        return "indices"
    return "order" if all_falls else ""
