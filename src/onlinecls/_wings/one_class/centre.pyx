"""The model of the passive-aggressive one-class learner: the centre of a ball around the rows (ball.pxd)."""
from ..._compiled.model cimport Model
from ..._compiled.rounds cimport DECISION, Batch, PassContext
from ..._compiled.sparse cimport floating, index_t
from .ball cimport Ball, Centre, learn_ball, read_ball

#: The numbers of a centre, by their names in Python.
FIELDS = ("high", "low", "peak", "scale")


cdef class CentreModel(Model):
    """groups : float64, (1, len(FIELDS)), a `Centre`."""

    cdef public object groups

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)


cdef int visit_rows(CentreModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    """Learn, or compute found[i] = ||x_i - w||."""
    cdef const floating[::1] shown = self.values
    cdef const double[:, ::1] groups = self.groups
    cdef floating[::1] state
    cdef Ball ball = Ball(<Centre*>&groups[0, 0], NULL, NULL, 0.0)
    if context.task == DECISION:
        with nogil:
            return read_ball(&ball, False, b, context, shown, data, indices, &self.p)
    state = self.values
    with nogil:
        return learn_ball(&ball, False, b, context, state, data, indices, &self.p)


include "../../_compiled/visit.pxi"
