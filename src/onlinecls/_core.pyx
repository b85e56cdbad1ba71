"""The training loops, the updates of a diagonal and of a full covariance, and the model they belong to.

For each row the task says what the row is about (`Stats`), the rule which step to take (`Step`, _rules.pxd), and the geometry
takes it. The two updates that narrow a covariance are

    sparse, diagonal    `move_feature` of _compiled/sparse.pxd     σ_i <- σ_i / (1 + β x_i² σ_i)  for the non-zeros of a row
    dense, full         `sherman_morrison` of _compiled/full.pxd   Σ <- Σ - k u u',  u = Σx,  k = β / (1 + β x'u)

Loops trust their input: the Python layer has checked all of it before the first write. State and counters are changed in place,
row by row, so that an interrupt leaves a whole number of rows.
"""
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from ._compiled.average cimport correction_score, update_average
from ._compiled.blas cimport symm
from ._compiled.classes cimport are_many, move_all, move_some, lookahead_margin, scan_classes, variances, variances_of_two
from ._compiled.full cimport (
    ALWAYS, LIKELY, NEVER, NOISE, SPAN, Full, close_full, dot, expand, form, grow_full, look_ahead, open_full, cannot_step,
    lookahead, product, score_all, sherman_morrison,
)
from ._compiled.rounds cimport (
    BINARY, OVR, QUANTUM, REGRESSION, Batch, PassContext, Example, Record, Round, Counters, Task, averaged, add_loss,
    check_signals, example, step_fits, count_mistake, count_error, begin_row, is_usable, observe_scores, row_at, predict_class,
    top, unlikely,
)
from ._compiled.sparse cimport (
    Moves, Row, Sums, column, dense_t, floating, index_t, larger, move_one, lookahead_margin_one, scan, write_variances_down,
)
from ._rules cimport (
    ADDITIVE, DUAL, FORGETTING, FULL_GAUSSIAN, FULL_POTENTIAL, GAUSSIAN, MIRROR, POTENTIAL, Params, Stats, Step, apply_rule,
    precision, margin_suffices,
)


FORESIGHT = {"never": NEVER, "likely": LIKELY, "always": ALWAYS}


cdef inline bint has_variances(const Params* p) noexcept nogil:
    return p.geometry == GAUSSIAN or p.geometry == FORGETTING or p.geometry == POTENTIAL


cdef inline void grow(floating[::1] state, PassContext* context, Params* p) noexcept nogil:
    """Before a row of a learner that forgets: all variances grow by 1/(1 - λ), up to the initial one."""
    context.counters.growth = (context.counters.growth if context.counters.growth else 1.0) / (1.0 - p.forgetting)
    p.growth, p.threshold = context.counters.growth, p.variance / context.counters.growth
    if p.growth * p.tiny > p.floor:     # (what is stored of the least variance would be no normal number)
        write_variances_down(state, context.columns, p)
        context.counters.growth = p.growth


cdef void note_step(Record* record, double sign, double v, const floating[::1] state, const floating[::1] data,
                    const index_t[::1] indices, Row row, double beta, const Params* p) noexcept nogil:
    """Note of a diagonal potential what its variances are about to become by the step beta. (9 arguments: a row and its step.)"""
    cdef Py_ssize_t k, a
    cdef double x, theta, sigma, after
    record.v = v
    for k in range(row.lo, row.hi):
        a = 2 * column(indices, k, row.lo)
        x, theta, sigma = data[k], state[a], state[a + 1]
        after = larger(sigma / (1.0 + beta * x * x * sigma), p.floor)
        record.spread += x * x * after
        record.lookahead += sign * x * theta * after
        record.forgotten += theta * theta * (after - sigma)


# --- one vector of weights -----------------------------------------------------------------------------------------------------

cdef inline int learn_one(Task task, int geometry, const Batch* b, PassContext* caller, floating[::1] state,
                          const floating[::1] data, const index_t[::1] indices, const Params* given) except -1 nogil:
    """One pass over rows, label 1 on the positive side of the only vector (BINARY), or its scores towards targets (REGRESSION).

    (task and geometry are constants where this is called: a loop of its own for each.)
    """
    cdef Py_ssize_t i
    cdef int64_t only = 0
    cdef int taken
    cdef double sign, lag, said
    cdef PassContext context = caller[0]
    cdef Params p = given[0]
    cdef Round r
    cdef Sums sums
    cdef Stats s
    cdef Step step
    cdef Moves moves = Moves(1, &only, &step, NULL)
    try:
        for i in range(b.n):
            taken = begin_row(&r, i, b, &context)
            if taken == 0:
                continue
            p.threshold = p.l1 * (context.counters.rounds - 1.0)
            if geometry == FORGETTING:
                grow(state, &context, &p)
            sums = scan(geometry, state, data, indices, r.row, &p)
            s.weight, s.q, s.v = r.weight, sums.q, sums.v
            lag = 0.0
            if averaged(&context) > 0.0:          # what the average's score lacks
                lag = correction_score(context.correction, 1, 0, state.shape[0] // (1 if geometry == ADDITIVE else 2) - 1, data,
                                       indices, r.row, p.bias) / averaged(&context)
            if task == REGRESSION:
                sign = 1.0 if b.targets[r.at] - sums.score >= 0.0 else -1.0
                s.margin = p.epsilon - fabs(b.targets[r.at] - sums.score)
                count_error((b.targets[r.at] - sums.score) + lag, &context)
            else:
                sign = 2.0 * r.label - 1.0      # (branch-free: labels are unpredictable)
                s.margin = sign * sums.score
                said = sums.score - lag
                count_mistake(1 - r.label if r.newcomer else said > 0.0, &r, b, &context)
                observe_scores(&said, sums.q, &r, b, &context)
            if not is_usable(&s, &context):
                continue
            add_loss(s.weight * (p.margin - s.margin), &context)
            if geometry == POTENTIAL and precision(&s, &p) != 0.0:      # (else Σ stays as it is, and m' = m)
                s.margin = sign * lookahead_margin_one(state, data, indices, r.row, precision(&s, &p), &p)
            step = apply_rule(&s, &p)
            # Least squares learns from a residual of 0 too: how certain the model is.
            if (step.tau != 0.0 or (task == REGRESSION and step.beta >= p.tiny)) and step_fits(geometry, &s, step, &context, &p):
                step.tau *= sign
                if context.correction != NULL:
                    update_average(-1.0, state, &context, &moves, data, indices, r.row, &p)
                if geometry == POTENTIAL and unlikely(context.record != NULL):
                    note_step(context.record, sign, s.v, state, data, indices, r.row, step.beta, &p)
                move_one(geometry, state, step, data, indices, r.row, &p)
                if context.correction != NULL:
                    update_average(1.0, state, &context, &moves, data, indices, r.row, &p)
                context.counters.updates += 1.0
    finally:
        caller[0] = context
    return 0


cdef int learn_vector(Task task, const Batch* b, PassContext* context, floating[::1] state, const floating[::1] data,
                      const index_t[::1] indices, const Params* p) except -1 nogil:
    if task == REGRESSION:
        if p.geometry == ADDITIVE:
            return learn_one(REGRESSION, ADDITIVE, b, context, state, data, indices, p)
        elif p.geometry == FORGETTING:
            return learn_one(REGRESSION, FORGETTING, b, context, state, data, indices, p)
        return learn_one(REGRESSION, GAUSSIAN, b, context, state, data, indices, p)
    if p.geometry == ADDITIVE:
        return learn_one(BINARY, ADDITIVE, b, context, state, data, indices, p)
    elif p.geometry == GAUSSIAN:
        return learn_one(BINARY, GAUSSIAN, b, context, state, data, indices, p)
    elif p.geometry == FORGETTING:
        return learn_one(BINARY, FORGETTING, b, context, state, data, indices, p)
    elif p.geometry == POTENTIAL:
        return learn_one(BINARY, POTENTIAL, b, context, state, data, indices, p)
    elif p.geometry == MIRROR:
        return learn_one(BINARY, MIRROR, b, context, state, data, indices, p)
    return learn_one(BINARY, DUAL, b, context, state, data, indices, p)


# --- a vector of weights for each class ----------------------------------------------------------------------------------------

cdef enum:
    FEW_CLASSES = 16


ctypedef struct Space:      # room for numbers of each class
    double* scores
    double* averages        # the scores by the average, by which predict goes; without one the scores themselves
    double* room            # for those by the average
    double* v
    Moves moves


cdef inline void take_steps(floating[::1] state, PassContext* context, const Moves* moves, const floating[::1] data,
                            const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Take the steps of a row, and update the average."""
    if moves.n == 0:
        return
    if context.correction != NULL:
        update_average(-1.0, state, context, moves, data, indices, row, p)
    if p.geometry == ADDITIVE and are_many(moves, context.columns):
        move_all(ADDITIVE, state, context.columns, moves, data, indices, row, p)
    elif p.geometry == GAUSSIAN and are_many(moves, context.columns):
        move_all(GAUSSIAN, state, context.columns, moves, data, indices, row, p)
    elif p.geometry == ADDITIVE:
        move_some(ADDITIVE, state, context.columns, moves, data, indices, row, p)
    elif p.geometry == GAUSSIAN:
        move_some(GAUSSIAN, state, context.columns, moves, data, indices, row, p)
    elif p.geometry == FORGETTING:
        move_some(FORGETTING, state, context.columns, moves, data, indices, row, p)
    elif p.geometry == POTENTIAL:
        move_some(POTENTIAL, state, context.columns, moves, data, indices, row, p)
    elif p.geometry == MIRROR:
        move_some(MIRROR, state, context.columns, moves, data, indices, row, p)
    else:
        move_some(DUAL, state, context.columns, moves, data, indices, row, p)
    if context.correction != NULL:
        update_average(1.0, state, context, moves, data, indices, row, p)
    context.counters.updates += 1.0


cdef inline double score_classes(const floating[::1] state, const PassContext* context, Space* space, const floating[::1] data,
                                 const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """The scores of all classes, and those by the average; returns ||x||²."""
    cdef Py_ssize_t c, k = context.columns, n_features = state.shape[0] // (k if p.geometry == ADDITIVE else 2 * k) - 1
    cdef double rounds = averaged(context), q = scan_classes(p.geometry, state, data, indices, row, space.scores, k, p)
    space.averages = space.scores
    if rounds > 0.0:
        space.averages = space.room
        for c in range(k):
            space.room[c] = space.scores[c] - correction_score(context.correction, k, c, n_features, data, indices, row,
                                                               p.bias) / rounds
    return q


cdef int crammer_singer(const Batch* b, PassContext* caller, Space* space, floating[::1] state, const floating[::1] data,
                        const index_t[::1] indices, const Params* given) except -1 nogil:
    """One pass over rows: the multi-vector construction, z = phi(x, y) - phi(x, r) for the top wrong class r."""
    cdef Py_ssize_t i, rival
    cdef int taken
    cdef double[2] v
    cdef PassContext context = caller[0]
    cdef Params p = given[0]
    cdef Moves moves = space.moves
    cdef Round r
    cdef Stats s
    try:
        for i in range(b.n):
            taken = begin_row(&r, i, b, &context)
            if taken == 0:
                continue
            p.threshold = p.l1 * (context.counters.rounds - 1.0)
            if p.geometry == FORGETTING:
                grow(state, &context, &p)
            s.weight, s.v = r.weight, 0.0
            s.q = 2.0 * score_classes(state, &context, space, data, indices, r.row, &p)
            count_mistake(predict_class(space.averages, &r, &context), &r, b, &context)
            observe_scores(space.averages, s.q, &r, b, &context)
            rival = top(space.scores, &context, r.label)
            s.margin = space.scores[r.label] - space.scores[rival]
            if not is_usable(&s, &context):
                continue
            add_loss(s.weight * (p.margin - s.margin), &context)
            if margin_suffices(s.margin, &p):
                continue
            moves.n, moves.which[0], moves.which[1] = 2, r.label, rival
            if has_variances(&p):
                variances_of_two(state, context.columns, moves.which, data, indices, r.row, v, &p)
                s.v = v[0] + v[1]
            if p.geometry == POTENTIAL and precision(&s, &p) != 0.0:
                s.margin = (lookahead_margin(state, context.columns, r.label, data, indices, r.row, precision(&s, &p), &p)
                            - lookahead_margin(state, context.columns, rival, data, indices, r.row, precision(&s, &p), &p))
            moves.steps[0] = apply_rule(&s, &p)
            moves.steps[1] = Step(-moves.steps[0].tau, moves.steps[0].beta)
            if moves.steps[0].tau != 0.0 and step_fits(p.geometry, &s, moves.steps[0], &context, &p):
                take_steps(state, &context, &moves, data, indices, r.row, &p)
    finally:
        caller[0] = context
    return 0


cdef int one_vs_rest(const Batch* b, PassContext* caller, Space* space, floating[::1] state, const floating[::1] data,
                     const index_t[::1] indices, const Params* given) except -1 nogil:
    """One pass over rows: for each class an independent binary learner, that class against the rest."""
    cdef Py_ssize_t i, j, c
    cdef int taken
    cdef double sign, skipped
    cdef PassContext context = caller[0]
    cdef Params p = given[0]
    cdef Moves open = space.moves       # the classes whose margin alone does not settle the row
    cdef Moves moves = space.moves      # and of these, those that take a step
    cdef Round r
    cdef Stats s
    try:
        for i in range(b.n):
            taken = begin_row(&r, i, b, &context)
            if taken == 0:
                continue
            p.threshold = p.l1 * (context.counters.rounds - 1.0)
            if p.geometry == FORGETTING:
                grow(state, &context, &p)
            s.weight, s.v = r.weight, 0.0
            s.q = score_classes(state, &context, space, data, indices, r.row, &p)
            count_mistake(predict_class(space.averages, &r, &context), &r, b, &context)
            observe_scores(space.averages, s.q, &r, b, &context)
            skipped = context.counters.skipped
            open.n = moves.n = 0
            for c in range(context.columns):
                s.margin = space.scores[c] if c == r.label else -space.scores[c]
                if (context.open_classes and context.counts[c] == 0.0) or not is_usable(&s, &context):
                    continue
                add_loss(s.weight * (p.margin - s.margin), &context)
                if not margin_suffices(s.margin, &p):
                    open.which[open.n] = c
                    open.n += 1
            if has_variances(&p):
                variances(state, context.columns, &open, data, indices, r.row, space.v, &p)

            for j in range(open.n):
                c = open.which[j]
                sign = 1.0 if c == r.label else -1.0
                s.margin = sign * space.scores[c]
                if has_variances(&p):
                    s.v = space.v[j]
                if p.geometry == POTENTIAL and precision(&s, &p) != 0.0:
                    s.margin = sign * lookahead_margin(state, context.columns, c, data, indices, r.row, precision(&s, &p), &p)
                moves.steps[moves.n] = apply_rule(&s, &p)
                if moves.steps[moves.n].tau != 0.0 and step_fits(p.geometry, &s, moves.steps[moves.n], &context, &p):
                    moves.steps[moves.n].tau *= sign
                    moves.which[moves.n] = c    # (compacts in place)
                    moves.n += 1
            if context.counters.skipped > skipped:   # rows are counted, not classes
                context.counters.skipped = skipped + 1.0
            take_steps(state, &context, &moves, data, indices, r.row, &p)
    finally:
        caller[0] = context
    return 0


cdef int learn_classes(Task task, const Batch* b, PassContext* context, floating[::1] state, const floating[::1] data,
                       const index_t[::1] indices, const Params* p) except -1:
    cdef Py_ssize_t k = context.columns
    cdef double[7 * FEW_CLASSES] few_numbers        # (on the stack: a small call would spend a fifth of its time on two arrays)
    cdef int64_t[FEW_CLASSES] few_places
    cdef double* numbers = few_numbers
    cdef int64_t* places = few_places
    cdef double[::1] many_numbers
    cdef int64_t[::1] many_places
    cdef Space space
    if k > FEW_CLASSES:
        many_numbers, many_places = np.empty(7 * k), np.empty(k, np.int64)
        numbers, places = &many_numbers[0], &many_places[0]
    space = Space(numbers, numbers, numbers + k, numbers + 2 * k, Moves(0, places, <Step*>(numbers + 3 * k), numbers + 5 * k))
    with nogil:
        if task == OVR:
            return one_vs_rest(b, context, &space, state, data, indices, p)
        return crammer_singer(b, context, &space, state, data, indices, p)


# --- a full covariance, any task -----------------------------------------------------------------------------------------------

cdef inline double score_and_count(const Full* f, double* averages, const Round* r, const Batch* b, PassContext* context,
                                   const floating[::1] state, const floating[::1] data,
                                   const index_t[::1] indices) noexcept nogil:
    """The scores of all vectors, and by the average's, which come to `averages`, what predict would have said. Returns ||x||²."""
    cdef Py_ssize_t j
    cdef double rounds = averaged(context), q = score_all(state, data, indices, r.row, f.scores, f.k, f.p)
    for j in range(f.k):
        averages[j] = f.scores[j]
        if rounds > 0.0:
            averages[j] -= correction_score(context.correction, f.k, j, f.D - 1, data, indices, r.row, f.p.bias) / rounds
    if f.task == REGRESSION:
        count_error(b.targets[r.at] - averages[0], context)
    else:
        count_mistake(predict_class(averages, r, context), r, b, context)
        observe_scores(averages, q, r, b, context)
    return q


cdef int learn_full(Full* f, const Batch* b, PassContext* caller, floating[::1] state, floating[:, :, ::1] sigma,
                    const floating[::1] data, const index_t[::1] indices) except -1:
    """One pass over rows with a full covariance of each vector, of which the lower triangles count. (62 lines: the round of every
    task, whose parts share a dozen numbers.)"""
    cdef Py_ssize_t i, j, number, k = f.k
    cdef double[:, ::1] numbers = np.empty((4, k))
    cdef int64_t[::1] places = np.zeros(k * (3 + f.span + f.depth), np.int64)
    cdef floating[:, ::1] work = np.empty((k * (2 * f.depth + 3) + 2, f.D), np.float32 if floating is float else np.float64)
    cdef double q, skipped
    cdef int taken
    cdef bint expanded, updated
    cdef PassContext context = caller[0]
    cdef Params p = f.p[0]
    cdef Round r
    cdef Stats s
    cdef Step step
    cdef Example z
    f.scores, f.ahead_scores, f.most = &numbers[0, 0], &numbers[1, 0], &numbers[3, 0]
    open_full(f, &places[0], sigma, work)
    try:
        with nogil:
            for i in range(b.n):
                taken = begin_row(&r, i, b, &context)
                if taken == 0:
                    continue
                f.now = i
                if p.forgetting > 0.0 and p.variance > 0.0:     # (0: it waits for the first row that is not all zeros)
                    grow_full(f, sigma, work)
                if i >= max(f.stop, f.resume) and f.foresight != NEVER and f.depth > 1:
                    context.budget -= QUANTUM     # (pending signals wait for the end of the row)
                    look_ahead(f, b, &context, state, sigma, work, data, indices)

                q = score_and_count(f, &numbers[2, 0], &r, b, &context, state, data, indices)
                expanded = updated = False
                skipped = context.counters.skipped
                for number in range(k if f.task == OVR else 1):
                    z = example(f.task, number, &r, b, f.scores, &context, p.epsilon)
                    s.weight, s.margin, s.q, s.v = r.weight, z.margin, z.n * q, 0.0
                    if z.n == 0 or not is_usable(&s, &context):
                        continue
                    add_loss(s.weight * (p.margin - s.margin), &context)
                    if cannot_step(f, &z, f.scores, q):
                        continue
                    if not expanded:
                        expand(data, indices, r.row, work[f.present], p.bias)
                        expanded = True
                    for j in range(z.n):
                        context.budget -= f.D * f.D // 4
                        f.v[j] = f.growth[z.c[j]] * product(f, z.c[j], sigma[z.c[j]], work, data, indices, r.row)
                        s.v += f.v[j]
                    if not is_usable(&s, &context):        # u or x'Σx overflows
                        continue
                    if p.geometry == FULL_POTENTIAL:
                        s.margin = lookahead(&z, f.scores, precision(&s, &p), f.v, &p)
                    step = apply_rule(&s, &p)
                    if step.tau == 0.0 and not (f.task == REGRESSION and step.beta >= p.tiny):
                        continue
                    if context.record != NULL:
                        context.record.v = s.v
                    updated |= sherman_morrison(f, &z, &s, step, state, sigma, work, &context)
                if context.counters.skipped > skipped:       # rows are counted, not classes
                    context.counters.skipped = skipped + 1.0
                context.counters.updates += updated
    finally:
        caller[0] = context
        close_full(f, sigma, work)
    return 0


# --- a model -------------------------------------------------------------------------------------------------------------------

cdef class QuadraticModel(Model):
    """A model whose potential is quadratic: with the identity, a diagonal or a full matrix.

    Its state is a flat array: for each feature the first slots of all vectors, then the second slots; the constant feature last.
    """

    cdef int run(self, Task task, rows, const Batch* b, PassContext* context) except -1:
        if self.values.itemsize == 4:
            return self.run_in[float](task, self.values, rows.data, rows.indices, b, context)
        return self.run_in[double](task, self.values, rows.data, rows.indices, b, context)

    cdef int run_in(self, Task task, floating[::1] state, const floating[::1] data, indices, const Batch* b,
                    PassContext* context) except -1:
        cdef const int32_t[::1] short_indices
        cdef const int64_t[::1] long_indices
        cdef const dense_t[::1] no_indices
        if indices.itemsize == 4:
            short_indices = indices
            return self.run_on(task, state, data, short_indices, b, context)
        elif indices.itemsize == 8:
            long_indices = indices
            return self.run_on(task, state, data, long_indices, b, context)
        no_indices = indices
        return self.run_on(task, state, data, no_indices, b, context)

    cdef int run_on(self, Task task, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
        """Which loop: other families of learners have loops of their own."""
        cdef floating[:, :, ::1] sigma
        cdef double[::1] growth
        cdef Full f
        if self.p.geometry == FULL_GAUSSIAN or self.p.geometry == FULL_POTENTIAL:
            sigma, growth = self.sigma, self.growth
            f.growth = &growth[0]
            f.task, f.foresight, f.p = task, self.foresight, &self.p
            f.k, f.D, f.depth = sigma.shape[0], sigma.shape[1], min(self.depth, sigma.shape[1], max(b.n, 1))
            f.span, f.noise = SPAN * f.depth, NOISE * self.p.spacing
            return learn_full(&f, b, context, state, sigma, data, indices)
        if context.columns > 1:
            return learn_classes(task, b, context, state, data, indices, &self.p)
        with nogil:
            return learn_vector(task, b, context, state, data, indices, &self.p)

    cdef int decide(self, rows, const Batch* b, double* scores, Py_ssize_t k) except -1:
        if self.values.itemsize == 4:
            return self.decision_in[float](self.values, rows.data, rows.indices, b, scores, k)
        return self.decision_in[double](self.values, rows.data, rows.indices, b, scores, k)

    cdef int decision_in(self, const floating[::1] state, const floating[::1] data, indices, const Batch* b, double* scores,
                         Py_ssize_t k) except -1:
        cdef const int32_t[::1] short_indices
        cdef const int64_t[::1] long_indices
        cdef const dense_t[::1] no_indices
        if indices.itemsize == 4:
            short_indices = indices
            return self.decision_on(state, data, short_indices, b, scores, k)
        elif indices.itemsize == 8:
            long_indices = indices
            return self.decision_on(state, data, long_indices, b, scores, k)
        no_indices = indices
        return self.decision_on(state, data, no_indices, b, scores, k)

    cdef int decision_on(self, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                         double* scores, Py_ssize_t k) except -1:
        cdef Py_ssize_t i, c, budget = QUANTUM, n_features
        cdef const double[::1] correction, counters
        cdef double rounds = 0.0
        cdef Params p = self.p
        cdef Row row
        if p.average_from >= 0 or p.l1 > 0.0:
            correction, counters = self.correction, self.counters
            rounds = (<const Counters*>&counters[0]).rounds - p.average_from if correction.shape[0] else 0.0
            p.threshold = p.l1 * (<const Counters*>&counters[0]).rounds
        if p.geometry == FULL_GAUSSIAN or p.geometry == FULL_POTENTIAL:     # the weights are stored as they are
            p.geometry = ADDITIVE
        elif p.geometry == FORGETTING:      # so are these
            p.geometry = GAUSSIAN
        n_features = state.shape[0] // (k if p.geometry == ADDITIVE else 2 * k) - 1
        with nogil:
            for i in range(b.n):
                row = row_at(b, i)
                budget = check_signals(budget, (row.hi - row.lo + 8) * k)
                if k == 1:
                    scores[i * k] = scan(p.geometry, state, data, indices, row, &p).score
                else:
                    scan_classes(p.geometry, state, data, indices, row, &scores[i * k], k, &p)
                if rounds > 0.0:
                    for c in range(k):
                        scores[i * k + c] -= correction_score(&correction[0], k, c, n_features, data, indices, row,
                                                              p.bias) / rounds
        return 0

    def deviation(self, rows, double[:, ::1] deviations):
        """deviations[i, c] = √(x_i'Σ_c x_i)."""
        self.bind()
        if self.values.itemsize == 4:
            self.deviation_in[float](self.values, self.sigma, rows.data, rows.indices, rows.indptr, deviations)
        else:
            self.deviation_in[double](self.values, self.sigma, rows.data, rows.indices, rows.indptr, deviations)

    cdef int deviation_in(self, const floating[::1] state, const floating[:, :, ::1] sigma, const floating[::1] data, indices,
                          const int64_t[::1] indptr, double[:, ::1] deviations) except -1:
        cdef const int32_t[::1] short_indices
        cdef const int64_t[::1] long_indices
        cdef const dense_t[::1] no_indices
        cdef const double[::1] counters = self.counters
        cdef Params p = self.p
        p.growth = (<const Counters*>&counters[0]).growth or 1.0
        p.threshold = p.variance / p.growth
        if indices.itemsize == 4:
            short_indices = indices
            return deviations_of(state, sigma, data, short_indices, indptr, deviations, &p)
        elif indices.itemsize == 8:
            long_indices = indices
            return deviations_of(state, sigma, data, long_indices, indptr, deviations, &p)
        no_indices = indices
        return deviations_of(state, sigma, data, no_indices, indptr, deviations, &p)


cdef enum:
    BLOCK = 64              # dense rows that meet Σ at once when their deviations are read


cdef int deviations_of(const floating[::1] state, const floating[:, :, ::1] sigma, const floating[::1] data,
                       const index_t[::1] indices, const int64_t[::1] indptr, double[:, ::1] deviations,
                       const Params* p) except -1:
    """√(x'Σx). A full Σ (if sigma is not empty) meets many dense rows at once, sparse ones singly."""
    cdef Py_ssize_t i, j, c, k = deviations.shape[1], n = deviations.shape[0], n_dense = 0, budget = QUANTUM
    cdef Py_ssize_t D = sigma.shape[1], block = BLOCK if sigma.shape[0] else 0
    cdef int64_t[::1] which = np.arange(k), chosen = np.empty(block, np.int64)
    cdef floating[:, ::1] work = np.empty((2 * block, D), np.float32 if floating is float else np.float64)
    cdef Batch b
    cdef Row row
    cdef Moves all_of_them = Moves(k, &which[0], NULL, NULL)
    b.n = b.n_rows = n
    b.order, b.indptr = NULL, &indptr[0]
    with nogil:
        for i in range(n):
            row = row_at(&b, i)
            if sigma.shape[0] == 0:
                budget = check_signals(budget, (row.hi - row.lo + 8) * k)
                variances(state, k, &all_of_them, data, indices, row, &deviations[i, 0], p)
                continue
            if 4 * (row.hi - row.lo) < D:
                budget = check_signals(budget, (row.hi - row.lo + 8) * (row.hi - row.lo + 8) * k)
                for c in range(k):
                    deviations[i, c] = form(sigma[c], data, indices, row, p.bias)
            else:
                chosen[n_dense] = i
                expand(data, indices, row, work[n_dense], p.bias)
                n_dense += 1
            if n_dense == block or (n_dense and i == n - 1):
                for c in range(k):
                    budget = check_signals(budget, D * D)
                    symm(sigma[c], work, work[block:], <int>n_dense)
                    for j in range(n_dense):
                        deviations[chosen[j], c] = dot(work[j], work[block + j])
                n_dense = 0
        for i in range(n):
            for c in range(k):
                deviations[i, c] = sqrt(larger(deviations[i, c], <double>0.0))
    return 0
