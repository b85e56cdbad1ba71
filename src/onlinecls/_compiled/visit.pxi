# The one ladder of types, included by each module with loops: Cython has no virtual fused methods. The module defines the fused
# function visit_rows(model, data, indices, b, context).
from libc.stdint cimport int32_t

from onlinecls._compiled.rounds cimport Batch, PassContext
from onlinecls._compiled.sparse cimport dense_t


cdef inline int visit_any_rows(model, rows, const Batch* b, PassContext* context) except -1:
    """Call `visit_rows` for the types of the model's values and of the rows' columns, which have been checked."""
    cdef bint is_dense = rows.indices.itemsize == sizeof(dense_t)
    if model.values.itemsize == sizeof(float):
        if is_dense:
            return visit_rows[float, dense_t](model, rows.data, rows.indices, b, context)
        return visit_rows[float, int32_t](model, rows.data, rows.indices, b, context)
    if is_dense:
        return visit_rows[double, dense_t](model, rows.data, rows.indices, b, context)
    return visit_rows[double, int32_t](model, rows.data, rows.indices, b, context)
