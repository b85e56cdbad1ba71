"""A committee: its members learn block after block while the rows are in the cache, and their scores are added.

    score = Σ_k a_k s_k,      a_k = (m_0/m_k)^16 / rms_k

s_k is member k's score of a row before it learns the row, m_k is 1 + its mistakes so far, m_0 the least of them, and rms_k the
root mean square of its scores so far (of several classes: of those of all classes that have come), 1 while all of them are 0. A
mistake is a row whose class has not the highest score alone, so that ties prefer no class.
"""
from cython cimport critical_section
from libc.math cimport fabs, sqrt

import numpy as np

from ..._compiled.model cimport Model
from ..._compiled.rounds cimport (
    DECISION, Batch, Counters, PassContext, Round, Task, before_step, check_signals, next_round,
)

cdef enum:
    MOST_OUTPUTS = 1 << 12  # most scores of all members in a block,
    MOST_WORK = 1 << 15     # most non-zeros, and
    MOST_SUMS = 1 << 19     # most non-zeros times vectors of weights: all members learn a block between two checks of signals

cdef Py_ssize_t ENDLESS = <Py_ssize_t>1 << 60      # a budget that no block uses up, so that no signal is handled within it
cdef double FAR = 1e100     # larger scores, and sums of their squares beyond FAR², count as these; and
cdef double FARTHEST = 1e300    # weighted scores beyond this, so that sums are finite


ctypedef struct Tally:
    Py_ssize_t k            # members
    double* mistakes        # [k]
    double* squares         # [k] sums of squared scores
    double* scored          # [1] scores in each of these sums
    double* shares          # [k] a


cdef inline void weigh(Tally* tally) noexcept nogil:
    """Compute the weights of the members' scores."""
    cdef Py_ssize_t j
    cdef double least = tally.mistakes[0], share
    for j in range(1, tally.k):
        least = min(least, tally.mistakes[j])
    for j in range(tally.k):
        share = (1.0 + least) / (1.0 + tally.mistakes[j])
        share = share * share
        share = share * share
        share = share * share
        share = share * share
        tally.shares[j] = share / sqrt(tally.squares[j] / tally.scored[0]) if tally.squares[j] > 0.0 else share


cdef inline double mixed(const double* shares, const double* outputs, Py_ssize_t stride, Py_ssize_t k) noexcept nogil:
    """Return the weighted sum of k numbers `stride` apart: the committee's score from its members'."""
    cdef Py_ssize_t j
    cdef double total = 0.0, part
    for j in range(k):
        part = shares[j] * outputs[j * stride]
        total += part if fabs(part) < FARTHEST else FARTHEST * ((part > 0.0) - (part < 0.0))
    return total


cdef inline bint has_come(Py_ssize_t c, const Round* r, const PassContext* context) noexcept nogil:
    """Return True if class c has a score: if it was named, or had a row before this one. ("None of these" has no rows.)"""
    return not context.open_classes or (
        c < context.n_classes and context.counts[c] > 0.0 and not (r.newcomer and c == r.label))


cdef inline void judge(Tally* tally, Py_ssize_t j, const double* scores, const Round* r,
                       const PassContext* context) noexcept nogil:
    """Count a mistake of member j, and the squares of its scores."""
    cdef Py_ssize_t c
    cdef double square = 0.0, size, mine = scores[r.label] if context.columns > 1 else (scores[0] if r.label else -scores[0])
    cdef bint wrong = r.newcomer
    for c in range(2 if context.columns == 1 else context.columns):
        if has_come(c, r, context):
            size = fabs(scores[c] if context.columns > 1 else mine)
            size = size if size < FAR else FAR  # (NaN, too, of a score that overflowed)
            square += size * size
            wrong |= c != r.label and not mine > (scores[c] if context.columns > 1 else -mine)
    tally.mistakes[j] += wrong
    tally.squares[j] = min(tally.squares[j] + square, FAR * FAR)


cdef int combine(Tally* tally, const Batch* b, PassContext* context, const double* outputs, Py_ssize_t stride, double* scores,
                 bint counts) except -1 nogil:
    """Judge the rows of a block; outputs[j * stride + i] is the i-th score of member j. counts : True if the rows are new."""
    cdef Py_ssize_t c, j, n = 0
    cdef Round r
    context.next = 0
    while next_round(&r, b, context):
        weigh(tally)
        for c in range(context.columns):
            scores[c] = mixed(tally.shares, &outputs[n + c], stride, tally.k)
        before_step(context.task, scores, 0.0, &r, b, context)
        for j in range(tally.k if counts else 0):
            judge(tally, j, &outputs[j * stride + n], &r, context)
        for c in range(max(context.columns, 2) if counts else 0):
            tally.scored[0] += has_come(c, &r, context)
        n += context.columns
    return 0


cdef Py_ssize_t end_of_block(const Batch* b, Py_ssize_t start, Py_ssize_t columns, Py_ssize_t most,
                             Py_ssize_t* work) noexcept nogil:
    """Return the end of the block of rows that begins at `start`; its non-zeros come to `work`."""
    cdef Py_ssize_t i = start, at, n
    work[0] = 0
    while i < b.n and i - start < most:
        at = i if b.order == NULL else b.order[i]
        n = b.indptr[at + 1] - b.indptr[at] + 8
        if i > start and (work[0] + n > MOST_WORK or (work[0] + n) * columns > MOST_SUMS):
            break
        work[0] += n
        i += 1
    return i


cdef Batch part(const Batch* b, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Return rows [start, stop) of a batch."""
    cdef Batch found = b[0]
    found.n = stop - start
    if b.order != NULL:
        found.order = b.order + start
        return found
    found.n_rows = found.n
    found.indptr = b.indptr + start
    found.labels = b.labels + start
    if b.weights != NULL:
        found.weights = b.weights + start
    if b.predictions != NULL:
        found.predictions = b.predictions + start
    return found


cdef int learn_member(Model member, Task task, rows, const Batch* block, double* outputs) except -1:
    """Let a member learn a block by its own rule, and store its scores of each row from before it learnt the row."""
    cdef PassContext context
    cdef Batch b
    cdef double[::1] counts = member.counts, counters = member.counters, correction = member.correction
    member.bind()
    member.enter(&b, &context, &counts[0], counts.shape[0], &counters[0], &correction[0] if correction.shape[0] else NULL)
    b = block[0]
    b.predictions = NULL
    context.budget, context.scores_out, context.has_observers = ENDLESS, outputs, True
    try:
        member.run(task, rows, &b, &context)
    finally:
        (<Counters*>&counters[0])[0] = context.counters
    return 0


cdef class CommitteeModel(Model):
    """members : a tuple of models. mistakes, squares : (K,), scored : (1,), see Tally; float64."""

    cdef public tuple members
    cdef public object mistakes, squares, scored

    cdef int bind(self) except -1:
        if self.bound is not self.params:
            params = self.params
            with critical_section(self):        # several threads may read at once
                self.p.open_classes, self.p.balanced = params.open_classes, params.balanced
                self.p.average_from, self.p.limit, self.p.scale, self.p.constant = -1, params.limit, 1.0, 0.0
                self.bound = params
        return 0

    cdef Tally tally(self, double[::1] shares):
        """Return where the numbers are; a reader's may be read-only."""
        cdef const double[::1] mistakes = self.mistakes, squares = self.squares, scored = self.scored
        return Tally(mistakes.shape[0], <double*>&mistakes[0], <double*>&squares[0], <double*>&scored[0], &shares[0])

    @property
    def shares(self):
        """The weights of the members' scores, (K,)."""
        found = np.empty(len(self.members))
        cdef Tally tally = self.tally(found)
        weigh(&tally)
        return found

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        if context.task == DECISION:
            return self.decide(rows, b, context.found, context.n_found)
        return self.learn_blocks(rows, b, context)

    cdef int learn_blocks(self, rows, const Batch* b, PassContext* context) except -1:
        """Let the members learn one block of rows after another, and add their scores."""
        cdef Py_ssize_t start = 0, stop, j, work, columns = context.columns, k = len(self.members), budget = context.budget
        cdef Py_ssize_t most = max(1, min(b.n, MOST_OUTPUTS // (columns * k))), stride = most * columns
        cdef double[::1] outputs = np.empty(stride * k), scores = np.empty(columns), shares = np.empty(k), theirs
        cdef Tally tally = self.tally(shares)
        cdef Batch block
        cdef bint counts = not self.are_seen
        cdef double updates = 0.0, skipped = 0.0
        context.budget = ENDLESS
        while start < b.n:
            stop = end_of_block(b, start, columns, most, &work)
            block = part(b, start, stop)
            budget = check_signals(budget, work * columns * k)
            for j in range(k):
                learn_member(self.members[j], context.task, rows, &block, &outputs[j * stride])
            with nogil:
                combine(&tally, &block, context, &outputs[0], stride, &scores[0], counts)
            for j in range(k):      # (a row changes the committee if it changes a member, and is skipped if all skip it)
                theirs = self.members[j].counters
                updates = max(updates if j else 0.0, (<Counters*>&theirs[0]).updates)
                skipped = min(skipped if j else 1e300, (<Counters*>&theirs[0]).skipped)
            context.counters.updates, context.counters.skipped = updates, skipped
            start = stop
        return 0

    cdef int decide(self, rows, const Batch* b, double* scores, Py_ssize_t k) except -1:
        """Compute scores[i, c] = Σ_j a_j s_j[i, c] of the members' scores."""
        cdef Py_ssize_t start = 0, stop, i, j, n_members = len(self.members)
        cdef Py_ssize_t most = max(1, min(b.n, MOST_OUTPUTS // (k * n_members))), stride = most * k
        cdef double[::1] outputs = np.empty(stride * n_members), shares = self.shares
        cdef Batch block
        cdef PassContext reading
        cdef Model member
        block.order = NULL
        while start < b.n:
            stop = min(start + most, b.n)
            block.n = block.n_rows = stop - start
            block.indptr = b.indptr + start
            for j in range(n_members):
                member = self.members[j]
                member.open_reading(&reading, DECISION, &outputs[j * stride], k)
                member.visit(rows, &block, &reading)
            with nogil:
                for i in range((stop - start) * k):
                    scores[start * k + i] = mixed(&shares[0], &outputs[i], stride, n_members)
            start = stop
        return 0
