"""The training loops, the updates of a diagonal and of a full covariance, and the model they belong to.

For each row the task turns scores into a margin (`Stats`), the paper's rule turns it into a step (`Step`, _rules.pxd), and the
geometry applies the step. The two updates that shrink a covariance are here:

    sparse, diagonal    `apply_step_feature`    μ_i += τ σ_i x_i,   σ_i <- σ_i / (1 + β x_i² σ_i)   for the non-zeros of a row
    dense, full         `sherman_morrison`      μ += τ u,   Σ <- Σ - k u u',   u = Σx,   k = β / (1 + β x'u)
                        `write_down`            Σ <- Σ - s s',   s = √k u, of one step or of several that waited

The hooks `next_round`, `before_step`, `count_loss` and `after_step` of _compiled/rounds.pxd do the rest (weights, mistakes,
averages, signals). Loops do not check their input: the Python layer has checked all of it before the first write. State
and counters are changed in place, row by row, so that an interrupt leaves a whole number of rows.
"""
from libc.math cimport NAN, fabs, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

import numpy as np

from ._compiled.classes cimport are_many, scan_classes, score_classes, sort_by_class, variances
from ._compiled.full cimport (
    FALL, LEFT, NOISE, WAITING, Full, cannot_step, capped, caps_of, dot, expand, grow,
    keep_roots, look_ahead, lookahead, multiply, open_full, open_window, product, rank_one_gain, row_of,
    shrink_to_diagonal, write_growth,
)
from ._compiled.model cimport Model, begin_pass, end_pass, syrk
from ._compiled.rounds cimport (
    BINARY, CRAMMER_SINGER, DECISION, DEVIATION, OVR, QUANTUM, REGRESSION, Batch, Example, PassContext,
    Round, Task, after_step, average_lags, averaged, before_step, check_signals, correction_scores, count_loss,
    example, is_usable, measure, next_round, row_at, step_fits, top,
)
from ._compiled.sparse cimport (
    HAS_LANES, ROWS, Layout, Row, Steps, Sums, apply_step_two, column, dense_t, floating, index_t, larger,
    lookahead_margin, narrow4, place_of, pulled, root_of_sum, scan, scan_rows, smaller, weight_of, write_variances_down,
)
from ._rows cimport Rows
from ._rules cimport (
    ADDITIVE, DUAL, FORGETTING, FULL_GAUSSIAN, FULL_POTENTIAL, GAUSSIAN, MIRROR, POTENTIAL, PROXIMAL, Params, Stats, Step,
    apply_rule, margin_suffices, precision, slots_of,
)


DEPTH = 64              # of a full covariance: steps that wait, and products made at once


# --- the diagonal update -------------------------------------------------------------------------------------------------------

cdef inline void apply_step_feature(int geometry, floating[::1] state, Py_ssize_t a, Py_ssize_t b, floating x, floating tau,
                                    floating beta, const Params* p) noexcept nogil:
    """Apply the step (tau, beta) along x to one feature, whose slots are a and b.

    It computes in the model's precision, in which the result is stored: converting float32 to double and back would take as long
    as the step. _compiled/lanes.h has the same operations in the same order for several features at a time.
    """
    cdef floating second, one = 1.0, g = tau * x
    if geometry == ADDITIVE:            # w += τ x
        state[a] += g
    elif geometry == GAUSSIAN:          # w += τ σ x,   σ /= 1 + β x² σ
        second = state[b]
        g = x * second
        state[a] += tau * g
        state[b] = larger(second / (one + beta * (x * g)), <floating>p.floor)
    elif geometry == FORGETTING:        # the same with σ = s min(b, σ_0/s)
        second = smaller(state[b], <floating>p.stored_cap)
        g = x * (second * <floating>p.growth)
        state[a] += tau * g
        if x != 0.0:                    # (a stored zero changes nothing, not even the stored number)
            state[b] = larger(second / (one + beta * (x * g)), <floating>p.floor / <floating>p.growth)
    elif geometry == POTENTIAL:         # θ += τ x,   σ /= 1 + β x² σ
        second = state[b]
        state[a] += g
        state[b] = larger(second / (one + beta * (x * (x * second))), <floating>p.floor)
    elif geometry == MIRROR:            # w += η g / (δ + √(G + g²)),   G += g²
        state[a] += <floating>(p.eta0 * (g / (p.delta + root_of_sum(state[b], g))))
        state[b] += g * g
    elif geometry == DUAL:              # z += g,   G += g²
        state[a] += g
        state[b] += g * g
    elif geometry == PROXIMAL:          # z += g + (√(n + g²) - √n) w/η,   n += g²
        if g != 0.0:                    # (so that |g| <= √n even where g² underflows; see `step_fits`)
            second = state[b]
            state[b] = larger(second + g * g, <floating>p.tiny)
            state[a] += <floating>pulled(state[a], second, state[b], g, p.l1_sum, p.delta)
    else:                               # (a geometry that is missing here learns no numbers)
        state[a] = NAN


cdef inline void apply_step_one(int geometry, floating[::1] state, Step step, const floating[::1] data,
                                const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Apply a step to the only vector of weights, several features at a time in geometries that divide."""
    cdef Py_ssize_t i, a, k = row.lo, width = slots_of(geometry).n
    cdef floating tau = <floating>step.tau, beta = <floating>step.beta, least = <floating>p.floor
    cdef floating *places[4]
    if geometry == FORGETTING:
        least /= <floating>p.growth
    if floating is float:
        while HAS_LANES and (geometry == GAUSSIAN or geometry == FORGETTING or geometry == POTENTIAL) and k + 4 <= row.hi:
            for i in range(4):
                places[i] = &state[2 * column(indices, k + i, row.lo)]
            narrow4(geometry == POTENTIAL, geometry == FORGETTING, places, &data[k], tau, beta, least, <float>p.growth,
                    <float>p.stored_cap)
            k += 4
    while HAS_LANES and (geometry == MIRROR or geometry == PROXIMAL) and k + 2 <= row.hi:
        apply_step_two(geometry, &state[2 * column(indices, k, row.lo)], &state[2 * column(indices, k + 1, row.lo)],
                       tau * data[k], tau * data[k + 1], p)
        k += 2
    for k in range(k, row.hi):
        a = width * column(indices, k, row.lo)
        apply_step_feature(geometry, state, a, a + 1, data[k], tau, beta, p)
    apply_step_feature(geometry, state, state.shape[0] - width, state.shape[0] - 1, <floating>p.bias, tau, beta, p)


cdef inline void apply_step_all(int geometry, floating[::1] state, PassContext* context, const Steps* steps,
                                const floating[::1] data, const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Apply the steps of a row, feature by feature: many of them to all vectors side by side, with τ = β = 0 for those without
    one; few of them, and those of an average, which they update (see `averaged`), one by one.

    A concurrent reader sees a partly applied step, never a weight without its correction: both change together.
    """
    cdef Py_ssize_t k, i, j, a, n = context.layout.n, room = context.layout.room
    cdef Py_ssize_t width = slots_of(geometry).n * room, gap = width - room
    cdef double before = 0.0, rounds = averaged(context)
    cdef double* correction
    cdef floating* taus = <floating*>steps.workspace
    cdef floating x
    cdef bint side_by_side = ((geometry == ADDITIVE or geometry == GAUSSIAN) and taus != NULL and context.correction == NULL
                              and are_many(steps.n, n))
    if context.correction != NULL:
        context.published.rounds = context.counters.rounds
    for i in range(2 * n if side_by_side else 0):
        taus[i] = 0.0
    for i in range(steps.n if side_by_side else 0):
        taus[steps.places[i]], taus[n + steps.places[i]] = <floating>steps.each[i].tau, <floating>steps.each[i].beta
    for k in range(row.lo, row.hi + 1):
        j = column(indices, k, row.lo) if k < row.hi else state.shape[0] // width - 1
        x = data[k] if k < row.hi else <floating>p.bias
        for i in range(n if side_by_side else 0):
            apply_step_feature(geometry, state, width * j + i, width * j + gap + i, x, taus[i], taus[n + i], p)
        for i in range(0 if side_by_side else steps.n):
            a = width * j + steps.places[i]
            if context.correction != NULL:
                before = weight_of(geometry, state[a], state[a + gap], p)
            apply_step_feature(geometry, state, a, a + gap, x, <floating>steps.each[i].tau, <floating>steps.each[i].beta, p)
            if context.correction != NULL and (k == row.hi or x != 0.0):    # (a zero that is stored leaves no rounding)
                correction = &context.correction[room * j + steps.places[i]]
                correction[0] = (correction[0] - rounds * before) + rounds * weight_of(geometry, state[a], state[a + gap], p)


cdef inline void advance(int geometry, floating[::1] state, PassContext* context, Params* p) noexcept nogil:
    """Update what depends on the number of rounds: dual averaging's λt, and the growth of variances by 1/(1 - λ) before each row
    of a learner that forgets, up to the initial variance."""
    if geometry == DUAL:
        p.l1_sum = p.l1 * (context.counters.rounds - 1.0)
    elif geometry == PROXIMAL:
        p.l1_sum = p.l1
    elif geometry == FORGETTING:
        context.counters.growth = (context.counters.growth if context.counters.growth else 1.0) / (1.0 - p.forgetting)
        p.growth, p.stored_cap = context.counters.growth, p.variance / context.counters.growth
        if p.growth * p.tiny > p.floor:     # (the least variance would be stored as a subnormal number)
            write_variances_down(state, context.layout.room, p)
            context.counters.growth = p.growth


# --- one vector of weights -----------------------------------------------------------------------------------------------------

cdef inline int learn_one(Task task, int geometry, const Batch* b, PassContext* context, floating[::1] state,
                          const floating[::1] data, const index_t[::1] indices, Params* p) except -1 nogil:
    """Learn rows with one vector, from labels (BINARY: label 1 on its positive side) or targets (REGRESSION).

    (task and geometry are constants in each call, so that the compiler makes a loop for each.)
    """
    cdef double score, lag
    cdef int64_t only = 0
    cdef bint is_measured
    cdef Round r
    cdef Sums sums
    cdef Example z
    cdef Stats s = Stats(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    cdef Step step
    cdef Steps steps = Steps(1, &only, &step, NULL)
    while next_round(&r, b, context):
        advance(geometry, state, context, p)
        is_measured = False
        while True:         # (once, or twice: two scans in the code would cost all rows more than a branch)
            sums = in_units(scan(geometry, state, data, indices, r.row, p), context)
            if is_measured:
                break
            score = sums.score          # (a copy: sums stays in registers if its address is not taken)
            average_lags(context, data, indices, r.row, p.bias, &lag)
            before_step(task, &score, &lag, &r, b, context)
            is_measured = measure(data, &r, context, &p.bias)
            if not is_measured:
                break
        z = example(task, 0, &r, b, &sums.score, context, p.epsilon)
        s.weight, s.shift, s.margin, s.q, s.v = r.weight, r.shift, z.margin, sums.q, sums.v
        if not count_loss(&s, context, p):
            continue
        if geometry == POTENTIAL and precision(&s, p) != 0.0:       # (else Σ stays as it is, and m' = m)
            s.margin = z.sign[0] * context.inverse * lookahead_margin(
                state, 1, 0, data, indices, r.row, precision(&s, p) * context.inverse * context.inverse, p)
        step = apply_rule(&s, p)
        # Least squares learns from a residual of 0 too: its variances shrink.
        if (step.tau != 0.0 or (task == REGRESSION and step.beta >= p.tiny)) and step_fits(geometry, &s, step, context, p):
            step.tau *= z.sign[0]
            step = along_x(step, context)
            if context.correction != NULL:
                apply_step_all(geometry, state, context, &steps, data, indices, r.row, p)
            else:
                apply_step_one(geometry, state, step, data, indices, r.row, p)
            after_step(&r, True, context)
    return 0


cdef inline Sums in_units(Sums sums, const PassContext* context) noexcept nogil:
    """Return the sums over a row x as those over z = x / s."""
    return Sums(sums.score * context.inverse, sums.q * (context.inverse * context.inverse),
                sums.v * (context.inverse * context.inverse))


cdef inline Step along_x(Step step, const PassContext* context) noexcept nogil:
    """Return a step along z = x / s as one along x."""
    return Step(step.tau * context.inverse, step.beta * (context.inverse * context.inverse))


cdef inline bint is_plain(const Batch* b, const PassContext* context) noexcept nogil:
    """Return True for a pass over rows of weight 1, in storage order, without an average and without observers."""
    return (b.order == NULL and b.weights == NULL and b.class_weights == NULL and b.predictions == NULL
            and not context.open_classes and not context.balanced and context.correction == NULL
            and not context.has_observers)


cdef inline int run_loop(Task task, int geometry, bint plain, const Batch* batch, PassContext* caller, floating[::1] state,
                         const floating[::1] data, const index_t[::1] indices, const Params* given) except -1 nogil:
    """Run `learn_one` on local copies, whose numbers stay in registers. (9 arguments: the constants that choose a loop.)

    plain : True for a plain pass, in which all fields that would give the hooks work are constants.
    """
    cdef Batch b = batch[0]
    cdef PassContext context = caller[0]
    cdef Params p = given[0]
    p.geometry, p.bias, context.columns, context.layout = geometry, context.bias, 1, Layout(1, 1, NULL)
    if task == BINARY:
        b.targets = NULL
    else:
        b.labels, b.class_weights, b.predictions = NULL, NULL, NULL
        context.open_classes, context.balanced, context.has_observers = False, False, False
    if plain:
        b.order, b.weights, b.class_weights, b.predictions = NULL, NULL, NULL, NULL
        context.open_classes, context.balanced = False, False
        context.correction, context.has_observers = NULL, False
    try:
        return learn_one(task, geometry, &b, &context, state, data, indices, &p)
    finally:
        caller.counters = context.counters


cdef int refuse(const Params* p) except -1 with gil:
    raise RuntimeError(f"onlinecls: a geometry and a rule must have a loop, got geometry {p.geometry} and rule {p.rule}.")


cdef inline int run(int geometry, const Batch* b, PassContext* context, floating[::1] state, const floating[::1] data,
                    const index_t[::1] indices, const Params* p) except -1 nogil:
    """Run the loop of a pass's task. (No rule for targets has computed weights or sums of squares.)"""
    if context.task == BINARY and index_t is int32_t and is_plain(b, context):
        return run_loop(BINARY, geometry, True, b, context, state, data, indices, p)
    elif context.task == BINARY:
        return run_loop(BINARY, geometry, False, b, context, state, data, indices, p)
    elif slots_of(geometry).weight and not slots_of(geometry).squares:
        return run_loop(REGRESSION, geometry, False, b, context, state, data, indices, p)
    return refuse(p)


cdef int learn_vector(const Batch* b, PassContext* context, floating[::1] state, const floating[::1] data,
                      const index_t[::1] indices, const Params* p) except -1 nogil:
    """Run the loop of a geometry, a constant in it, with one vector of weights."""
    if p.geometry == ADDITIVE:
        return run(ADDITIVE, b, context, state, data, indices, p)
    elif p.geometry == GAUSSIAN:
        return run(GAUSSIAN, b, context, state, data, indices, p)
    elif p.geometry == FORGETTING:
        return run(FORGETTING, b, context, state, data, indices, p)
    elif p.geometry == POTENTIAL:
        return run(POTENTIAL, b, context, state, data, indices, p)
    elif p.geometry == MIRROR:
        return run(MIRROR, b, context, state, data, indices, p)
    elif p.geometry == DUAL:
        return run(DUAL, b, context, state, data, indices, p)
    elif p.geometry == PROXIMAL:
        return run(PROXIMAL, b, context, state, data, indices, p)
    return refuse(p)


# --- a vector of weights for each class ----------------------------------------------------------------------------------------

ctypedef struct Workspace:  # numbers of each class
    double* scores
    double* averages        # what the average's scores lack, then these scores
    double* v
    double* signs           # 1 for the row's class, -1 for the others
    int64_t* open           # the classes whose margin alone does not rule out a step
    Steps steps


cdef inline int apply_steps(floating[::1] state, PassContext* context, const Steps* steps, const floating[::1] data,
                            const index_t[::1] indices, Row row, const Params* p) except -1 nogil:
    """Apply the steps of a row."""
    if p.geometry == ADDITIVE:
        apply_step_all(ADDITIVE, state, context, steps, data, indices, row, p)
    elif p.geometry == GAUSSIAN:
        apply_step_all(GAUSSIAN, state, context, steps, data, indices, row, p)
    elif p.geometry == FORGETTING:
        apply_step_all(FORGETTING, state, context, steps, data, indices, row, p)
    elif p.geometry == POTENTIAL:
        apply_step_all(POTENTIAL, state, context, steps, data, indices, row, p)
    elif p.geometry == MIRROR:
        apply_step_all(MIRROR, state, context, steps, data, indices, row, p)
    elif p.geometry == DUAL:
        apply_step_all(DUAL, state, context, steps, data, indices, row, p)
    elif p.geometry == PROXIMAL:
        apply_step_all(PROXIMAL, state, context, steps, data, indices, row, p)
    else:
        return refuse(p)
    return 0


cdef inline Py_ssize_t find_open(Task task, const Round* r, PassContext* context, Workspace* work, Stats* s,
                                 const Params* p) noexcept nogil:
    """Find the classes whose margin alone does not rule out a step: the label's and its rival, the top wrong class, or those of
    one against the rest. Return their number. The losses of all are counted."""
    cdef Py_ssize_t c, n = 0
    for c in range(context.columns):
        work.signs[c] = -1.0
    work.signs[r.label] = 1.0
    if task == CRAMMER_SINGER:
        work.open[0], work.open[1] = r.label, top(work.scores, context, r.label)
        s.margin = work.scores[r.label] - work.scores[work.open[1]] - r.shift
        return 2 if count_loss(s, context, p) and not margin_suffices(s.margin, p) else 0
    for c in range(context.columns):
        s.margin = work.signs[c] * work.scores[c] - r.shift
        if count_loss(s, context, p):
            work.open[n] = c        # (branch-free: which margins suffice is unpredictable)
            n += not margin_suffices(s.margin, p)
    return n


cdef inline int learn_several(Task task, const Batch* b, PassContext* context, Workspace* work, floating[::1] state,
                              const floating[::1] data, const index_t[::1] indices, Params* p) except -1 nogil:
    """Learn rows with a vector for each class: by the multi-vector construction, z = phi(x, y) - phi(x, r) for the rival r, or
    with an independent binary learner for each class, that class against the rest."""
    cdef Py_ssize_t i, j, n_open, each = 2 if task == CRAMMER_SINGER else 1      # vectors of a step
    cdef int64_t* c
    cdef double* v
    cdef double square
    cdef Step step
    cdef Steps steps = work.steps
    cdef Round r
    cdef Stats s = Stats(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    while next_round(&r, b, context):
        advance(p.geometry, state, context, p)
        s.weight, s.shift, s.v = r.weight, r.shift, 0.0
        s.q = each * score_classes(p.geometry, True, state, context, work.scores, work.v, data, indices, r.row, p)
        average_lags(context, data, indices, r.row, p.bias, work.averages)
        sort_by_class(work.averages, &context.layout, work.v)
        before_step(task, work.scores, work.averages, &r, b, context)
        if measure(data, &r, context, &p.bias):
            s.q = each * score_classes(p.geometry, True, state, context, work.scores, work.v, data, indices, r.row, p)
        square = context.inverse * context.inverse
        n_open = find_open(task, &r, context, work, &s, p)
        if slots_of(p.geometry).variance:
            variances(state, &context.layout, work.open, n_open, data, indices, r.row, work.v, work.averages, p)
        steps.n = 0
        for j in range(n_open // each):
            c, v = &work.open[each * j], &work.v[each * j]
            s.margin = work.signs[c[0]] * work.scores[c[0]]
            if each == 2:
                s.margin -= work.scores[c[1]]
            s.margin -= r.shift
            if slots_of(p.geometry).variance:
                s.v = (v[0] + v[1] if each == 2 else v[0]) * square
            if p.geometry == POTENTIAL and precision(&s, p) != 0.0:
                s.margin = 0.0
                for i in range(each):
                    s.margin += work.signs[c[i]] * lookahead_margin(
                        state, context.layout.room, place_of(&context.layout, c[i]), data, indices, r.row,
                        precision(&s, p) * square, p)
                s.margin *= context.inverse
            step = apply_rule(&s, p)
            if step.tau != 0.0 and step_fits(p.geometry, &s, step, context, p):
                for i in range(each):
                    steps.each[steps.n], steps.places[steps.n] = along_x(step, context), place_of(&context.layout, c[i])
                    steps.each[steps.n].tau *= work.signs[c[i]]
                    steps.n += 1
        if steps.n > 0:
            apply_steps(state, context, &steps, data, indices, r.row, p)
        after_step(&r, steps.n > 0, context)
    return 0


cdef int learn_classes(const Batch* b, PassContext* context, floating[::1] state, const floating[::1] data,
                       const index_t[::1] indices, const Params* p) except -1:
    """Run the loop of a task with a vector of weights for each class."""
    cdef Py_ssize_t k = context.columns
    cdef double* numbers = <double*>malloc(10 * k * sizeof(double))     # (a small call would spend a fifth of its time on arrays)
    cdef int64_t* places = <int64_t*>(numbers + 8 * k)
    cdef Params own = p[0]
    cdef Workspace work = Workspace(numbers, numbers + k, numbers + 2 * k, numbers + 7 * k, places + k,
                                    Steps(0, places, <Step*>(numbers + 3 * k), numbers + 5 * k))
    if numbers == NULL:
        raise MemoryError
    own.bias = context.bias
    try:
        with nogil:
            if context.task == OVR:
                return learn_several(OVR, b, context, &work, state, data, indices, &own)
            return learn_several(CRAMMER_SINGER, b, context, &work, state, data, indices, &own)
    finally:
        free(numbers)


# --- a full covariance, any task -----------------------------------------------------------------------------------------------

cdef inline void write_down(floating[:, ::1] S, floating[:, ::1] work, Full* f, Py_ssize_t c) noexcept nogil:
    """Write all steps that wait, Σ_c -= Σ_i s_i s_i'. Products made ahead with the old matrix become invalid."""
    cdef Py_ssize_t i, j, n = f.n_waiting[c], at = row_of(f, c, WAITING)
    cdef floating si
    if n == 1:
        for i in range(f.D):
            si = work[at, i]
            for j in range(i + 1):
                S[i, j] -= si * work[at, j]
    elif n > 1:
        syrk(S, work[at:], <int>n)
    f.n_waiting[c] = f.n_ahead[c] = 0
    keep_roots(S, work, f, c, f.noise)


cdef inline void apply_rank_one(Full* f, Py_ssize_t c, double tau, double k, floating[::1] state, floating[:, ::1] S,
                                floating[:, ::1] work, const PassContext* context) noexcept nogil:
    """Apply w_c += τ u, and keep s = √k u beside Σ_c until `write_down` does Σ_c -= s s'.

    No step takes more from a Σ_jj than is left of it, as rounding noise otherwise could.
    """
    cdef Py_ssize_t j, at = f.place[c], waiting = row_of(f, c, WAITING) + f.n_waiting[c], left = row_of(f, c, LEFT)
    cdef floating before, s, step = <floating>tau, root = <floating>sqrt(k), shrink = 1.0
    cdef double rounds = averaged(context)
    cdef const double* caps = caps_of(f, c)
    cdef bint fallen = False
    for j in range(f.D):
        before = state[j * f.k + c]
        state[j * f.k + c] = before + step * <floating>capped(work[at, j], caps, j)
        if rounds != 0.0:
            context.correction[j * f.k + c] += rounds * (<double>state[j * f.k + c] - before)
        s = root * work[at, j]
        if s * s > work[left, j]:
            shrink = smaller(shrink, <floating>(sqrt(work[left, j]) / fabs(s)))
    if k == 0.0:
        return
    for j in range(f.D):
        s = shrink * root * work[at, j]
        work[waiting, j] = s
        work[left, j] = larger(work[left, j] - s * s, <floating>0.0)       # (its root is taken; rounding may go below 0)
        fallen |= FALL * work[left, j] < work[left - 1, j] * work[left - 1, j]
    f.n_waiting[c] += 1
    if fallen or f.n_waiting[c] == f.depth:
        write_down(S, work, f, c)


cdef inline bint sherman_morrison(Full* f, const Example* z, const Stats* s, Step step, floating[::1] state,
                                  floating[:, :, ::1] sigma, floating[:, ::1] work, PassContext* context) noexcept nogil:
    """Take a step along the joint example: w += τ Σz and Σ^-1 += β z z', that is, Σ -= k u u' for each of its vectors.

    A potential's stored weights are w = Σθ:  Δw = Σ_t τx - k u u'θ. Return False if the model would leave the dtype's range.
    """
    cdef Py_ssize_t j
    cdef double[2] k, tau
    cdef double grown
    for j in range(z.n):
        k[j] = rank_one_gain(step.beta, f.v[j], f.p.spacing)
        tau[j] = z.sign[j] * step.tau
        if f.p.geometry == FULL_POTENTIAL:
            tau[j] = tau[j] * (1.0 - k[j] * f.v[j]) - k[j] * f.scores[z.c[j]]
    step.tau = larger(fabs(tau[0]), fabs(tau[z.n - 1]))
    if not step_fits(f.p.geometry, s, step, context, f.p):
        return False
    for j in range(z.n):
        grown = f.growth[z.c[j]]
        apply_rank_one(f, z.c[j], tau[j] * grown, k[j] * grown, state, sigma[z.c[j]], work, context)
    return True


cdef inline double variance_full(Full* f, Py_ssize_t c, floating[:, ::1] S, floating[:, ::1] work, const floating[::1] data,
                                 const index_t[::1] indices, Row row) noexcept nogil:
    """Compute u = Σx of vector c and return x'Σx, which is never so small that it could be noise."""
    cdef double v = product(f, c, S, work, data, indices, row)
    if not isfinite(v):
        return v
    if v < f.least:
        write_down(S, work, f, c)
        shrink_to_diagonal(S, work, f, c, v)
        v = f.least
    return larger(v, f.most * f.most / f.p.variance)       # u_j² <= Σ_jj x'Σx


cdef int learn_full(QuadraticModel model, floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                    const Batch* b, PassContext* context) except -1:
    """Learn rows of any task with a full covariance for each vector, kept as a lower triangle."""
    cdef floating[:, :, ::1] sigma = model.sigma
    cdef double[::1] growth = model.growth
    cdef double[:, ::1] caps = model.caps
    cdef Py_ssize_t c, j, number, k = sigma.shape[0], D = sigma.shape[1], depth = min(DEPTH, D, max(b.n, 1))
    cdef double[:, ::1] numbers = np.empty((3, k))
    cdef int64_t[::1] places = np.zeros(k * (3 + depth + D), np.int64)
    cdef floating[:, ::1] work = np.empty((k * (2 * depth + 3) + 2, D), np.float32 if floating is float else np.float64)
    cdef double q
    cdef bint updated
    cdef Step step
    cdef Params own = model.p
    cdef const Params* p = &own
    cdef Full full
    cdef Full* f = &full
    cdef Round r
    cdef Stats s = Stats(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    cdef Example z
    own.bias = context.bias
    f.context, f.p, f.k, f.D, f.depth = context, &own, k, D, depth
    f.noise, f.growth, f.caps = NOISE * p.spacing, &growth[0], &caps[0, 0]
    f.scores, f.ahead_scores, f.spare = &numbers[0, 0], &numbers[1, 0], &numbers[2, 0]
    open_full(f, &places[0], sigma, work)
    try:
        with nogil:
            while next_round(&r, b, context):
                f.now = r.i
                for c in range(k if p.forgetting > 0.0 else 0):
                    if grow(f, c, work):
                        write_down(sigma[c], work, f, c)
                        write_growth(sigma[c], work, f, c)
                if r.i >= max(f.stop, f.resume) and f.depth > 1 and not context.measures:
                    context.budget -= QUANTUM     # (signals are handled at the end of the row)
                    open_window(f)
                    for c in range(k):
                        if f.n_waiting[c] + f.aim > f.depth:    # (products need rows of the workspace)
                            write_down(sigma[c], work, f, c)
                    look_ahead(f, b, state, sigma, work, data, indices)
                q = score_classes(ADDITIVE, False, state, context, f.scores, f.spare, data, indices, r.row, p)
                average_lags(context, data, indices, r.row, p.bias, f.spare)
                before_step(context.task, f.scores, f.spare, &r, b, context)
                if measure(data, &r, context, &f.p.bias):
                    q = score_classes(ADDITIVE, False, state, context, f.scores, f.spare, data, indices, r.row, p)
                updated = False
                for number in range(k if context.task == OVR else 1):
                    z = example(context.task, number, &r, b, f.scores, context, p.epsilon)
                    s.weight, s.shift, s.margin, s.q, s.v = r.weight, r.shift, z.margin, z.n * q, 0.0
                    if z.n == 0 or not count_loss(&s, context, p) or cannot_step(f, &z, f.scores, q):
                        continue
                    for j in range(z.n):
                        c = z.c[j]
                        context.budget -= D * D // 4
                        f.v[j] = growth[c] * variance_full(f, c, sigma[c], work, data, indices, r.row)
                        s.v += f.v[j]
                    if not is_usable(&s, context):      # u or x'Σx overflows
                        continue
                    if p.geometry == FULL_POTENTIAL:
                        s.margin = lookahead(&z, f.scores, precision(&s, p), f.v, p)
                    step = apply_rule(&s, p)
                    if step.tau != 0.0 or (context.task == REGRESSION and step.beta >= p.tiny):
                        updated |= sherman_morrison(f, &z, &s, step, state, sigma, work, context)
                after_step(&r, updated, context)
    finally:
        for c in range(k):
            write_down(sigma[c], work, f, c)
    return 0


# --- scores --------------------------------------------------------------------------------------------------------------------

cdef inline int score_rows(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                           PassContext* context, const Params* given, double* spare) except -1 nogil:
    """Compute the scores of rows by the weights, or by their average. spare : room for (ROWS + 1) numbers a vector."""
    cdef Py_ssize_t i = 0, j, n, k = context.n_found
    cdef double rounds = 0.0
    cdef double* scores
    cdef double* lags = spare + k
    cdef const Layout* layout = &context.layout
    cdef Params p = given[0]
    cdef Row row
    if p.l1 > 0.0:
        p.l1_sum = p.l1 * (context.published.rounds if p.geometry == DUAL else 1.0)
    p.bias = context.bias
    while i < b.n:
        row = row_at(b, i)
        scores = &context.found[i * k]
        n = 1
        if index_t is dense_t and k == 1 and b.order == NULL and i + ROWS <= b.n and row.lo < row.hi:
            n = ROWS
        if context.correction != NULL:      # (first: a thread that learns meanwhile changes it last)
            rounds = context.published.rounds - p.average_from
            for j in range(n if rounds > 0.0 else 0):
                correction_scores(context.correction, layout, context.constant, data, indices, row_at(b, i + j), p.bias,
                                  &lags[j * k])
        if n > 1:
            scan_rows(p.geometry, state, &data[row.lo], row.hi - row.lo, scores, &p)
        else:
            scan_classes(p.geometry, False, state, data, indices, row, scores, layout, &p)
            sort_by_class(scores, layout, spare)
            if rounds > 0.0:
                sort_by_class(lags, layout, spare)
        for j in range(n * k if rounds > 0.0 else 0):
            scores[j] -= lags[j] / rounds
        context.budget = check_signals(context.budget, n * (row.hi - row.lo + 8) * k * (2 if rounds > 0.0 else 1))
        i += n
    for i in range(b.n * k):
        context.found[i] *= context.inverse
    return 0


# --- a model -------------------------------------------------------------------------------------------------------------------

cdef class QuadraticModel(Model):
    """A model whose potential is quadratic: with the identity, a diagonal or a full matrix.

    Its state is a flat array: for each feature the first slots of all vectors, then the second slots; the constant feature last.
    """

    cdef public object growth, caps     # of a full covariance, see Full

    cdef int visit(self, Rows rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)

    cdef int decide(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1:
        """Compute found[i, c] = w_c.x_i of the weights, or of their average."""
        cdef const floating[::1] state = self.values
        cdef double* spare = <double*>malloc((ROWS + 1) * context.n_found * sizeof(double))
        if spare == NULL:
            raise MemoryError
        try:
            with nogil:
                return score_rows(state, data, indices, b, context, &self.p, spare)
        finally:
            free(spare)

    cdef int deviate(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1:
        """Compute found[i, c] = √(x_i'Σ_c x_i)."""
        cdef Py_ssize_t i, c, k = context.n_found
        cdef const floating[::1] state = self.values
        cdef const floating[:, :, ::1] sigma = self.sigma
        cdef int64_t[::1] every = np.arange(k)
        cdef floating[:, ::1] work = np.empty((2, sigma.shape[1]), np.float32 if floating is float else np.float64)
        cdef const double[::1] growth = self.growth
        cdef const double[:, ::1] caps = self.caps
        cdef double* found = context.found
        cdef double[::1] spare = np.empty(k)
        cdef Params p = self.p
        cdef Row row
        p.bias = context.bias
        p.growth = context.counters.growth or 1.0
        p.stored_cap = p.variance / p.growth
        with nogil:
            for i in range(b.n):
                row = row_at(b, i)
                context.budget = check_signals(context.budget, (row.hi - row.lo + 8) * k * max(sigma.shape[1], 1))
                if sigma.shape[0] == 0:
                    variances(state, &context.layout, &every[0], k, data, indices, row, &found[i * k], &spare[0], &p)
                for c in range(sigma.shape[0]):
                    expand(data, indices, row, work[0], p.bias, 1.0, &caps[c, 0])
                    multiply(sigma[c], work[0], indices, row, work[1])
                    found[i * k + c] = growth[c] * dot(work[0], work[1])
            for i in range(b.n * k):
                found[i] = sqrt(larger(found[i], <double>0.0)) * context.inverse
        return 0


cdef int visit_rows(QuadraticModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    cdef floating[::1] state
    cdef bint has_begun
    if context.task == DECISION:
        return self.decide(data, indices, b, context)
    elif context.task == DEVIATION or self.p.geometry == FULL_GAUSSIAN or self.p.geometry == FULL_POTENTIAL:
        has_begun = begin_pass(self.sigma.shape[1])
        try:
            if context.task == DEVIATION:
                return self.deviate(data, indices, b, context)
            state = self.values
            return learn_full(self, state, data, indices, b, context)
        finally:
            end_pass(has_begun)
    state = self.values
    if context.columns > 1:
        return learn_classes(b, context, state, data, indices, &self.p)
    with nogil:
        return learn_vector(b, context, state, data, indices, &self.p)


include "_compiled/visit.pxi"
