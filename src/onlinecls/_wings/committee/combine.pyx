"""A committee: its members learn block after block while the rows are in the cache, and their scores are added.

Weights, and the sums of which they are made, are those that `CommitteeClassifier` describes; rms_k is 1 while all scores are 0,
and a mistake is a row whose class has not the highest score alone, so that ties prefer no class.
"""
from libc.math cimport INFINITY, fmax, fmin, sqrt

import numpy as np

from ..._compiled.model cimport Model
from ..._compiled.rounds cimport Batch, PassContext, Round, Task, before_step, check_signals, next_round
from ..._rows cimport Rows

cdef enum:
    MOST_WORK = 1 << 16     # in a block, but for its last row: non-zeros times vectors of weights, where a row has
    LEAST_WORK = 64         # so many more, as there must be room for its scores

cdef Py_ssize_t ENDLESS = <Py_ssize_t>1 << 60      # a budget that no block uses up, so that no signal is handled within it
cdef double FAR = 1e100     # larger scores, and sums of their squares beyond FAR², count as these, so that all sums are finite


ctypedef double[3] Member   # a row of `tally`: its mistakes, the sum of its squared scores, and their number


cdef inline double bounded(double score) noexcept nogil:
    return fmax(fmin(score, FAR), -FAR)         # (FAR of NaN, of a score that overflowed)


cdef inline void weigh(const Member* tally, Py_ssize_t k, double* shares) noexcept nogil:
    """Compute the weights a of the members' scores."""
    cdef Py_ssize_t j, _
    cdef double least = INFINITY, share
    for j in range(k):
        least = min(least, tally[j][0])
    for j in range(k):
        share = (1.0 + least) / (1.0 + tally[j][0])
        for _ in range(4):
            share = share * share
        shares[j] = share / sqrt(tally[j][1] / tally[j][2]) if tally[j][1] > 0.0 else share


cdef inline void judge(double* member, const double* scores, const Round* r, const PassContext* context) noexcept nogil:
    """Count a member's mistake, and the squares of its scores, of the classes that were named or had a row before this one."""
    cdef double[2] pair
    cdef double square = 0.0
    cdef bint wrong = r.newcomer
    cdef Py_ssize_t c
    if context.columns == 1:
        pair[0], pair[1] = -scores[0], scores[0]
        scores = pair
    for c in range(max(context.columns, 2)):
        if not context.open_classes or (c < context.n_classes and not (r.newcomer and c == r.label)):   # ("none" has no rows)
            square += bounded(scores[c]) * bounded(scores[c])
            member[2] += 1.0
            wrong |= c != r.label and not scores[r.label] > scores[c]
    member[0] += wrong
    member[1] = min(member[1] + square, FAR * FAR)


cdef class CommitteeModel(Model):
    """members : a tuple of models. tally : float64 (members, 3), see Member."""

    cdef public tuple members
    cdef public object tally

    @property
    def shares(self):
        """The weights of the members' scores, (members,)."""
        cdef const double[:, ::1] tally = self.tally
        found = np.empty(len(tally))
        cdef double[::1] shares = found
        weigh(<const Member*>&tally[0, 0], len(tally), &shares[0])
        return found

    cdef int visit(self, Rows rows, const Batch* b, PassContext* context) except -1:
        """Let the members learn one block of rows after another, and judge the rows by the sums of their scores."""
        cdef Py_ssize_t start, at, work, j, c, k = len(self.members), columns = context.columns, budget = context.budget
        cdef Py_ssize_t stride = min(b.n, MOST_WORK // (LEAST_WORK * columns) + 1) * columns
        cdef double[::1] outputs = np.empty(stride * k), room = np.empty(columns + k)
        cdef double[:, ::1] numbers = self.tally
        cdef Member* tally = <Member*>&numbers[0, 0]
        cdef const double* output
        cdef double* scores = &room[0]
        cdef double* shares = scores + columns
        cdef double updates, skipped
        cdef Batch own, block = b[0]
        cdef PassContext theirs
        cdef Model member
        cdef Round r
        context.budget, block.n = ENDLESS, 0
        while block.n < b.n:
            start, work, updates, skipped, output = block.n, 0, 0.0, INFINITY, &outputs[0]
            while block.n < b.n and work < MOST_WORK:
                at = block.n if b.order == NULL else b.order[block.n]
                work += (b.indptr[at + 1] - b.indptr[at] + LEAST_WORK) * columns
                block.n += 1
            budget = check_signals(budget, work * k)
            for j in range(k):
                member = self.members[j]
                member.params = self.params.members[j]
                member.enter(rows, &own, &theirs)
                own = block         # (its predictions are the committee's)
                theirs.next, theirs.budget, theirs.scores_out, theirs.has_observers = start, ENDLESS, &outputs[j * stride], True
                theirs.task = context.task
                member.visit(rows, &own, &theirs)
                theirs.published[0] = theirs.counters
                # (A row changes the committee if it changes a member, and is skipped if all skip it.)
                updates, skipped = max(updates, theirs.counters.updates), min(skipped, theirs.counters.skipped)
            with nogil:
                while next_round(&r, &block, context):
                    weigh(tally, k, shares)
                    for c in range(columns):
                        scores[c] = 0.0
                        for j in range(k):
                            scores[c] += shares[j] * bounded(output[j * stride + c])
                    before_step(context.task, scores, NULL, &r, &block, context)
                    for j in range(0 if self.are_seen else k):
                        judge(tally[j], &output[j * stride], &r, context)
                    output += columns
            context.counters.updates, context.counters.skipped = updates, skipped
        return 0

    cdef int read(self, Task task, Rows rows, double* found) except -1:
        """Fill in the sums of the members' weighted scores."""
        cdef Py_ssize_t i, j, n = rows.n_rows * <Py_ssize_t>self.n_columns
        cdef double[::1] outputs = np.empty(n), shares = self.shares
        cdef Model member
        for j in range(shares.shape[0]):
            member = self.members[j]
            member.read(task, rows, &outputs[0])
            for i in range(n):
                found[i] = (found[i] if j else 0.0) + shares[j] * bounded(outputs[i])
        return 0
