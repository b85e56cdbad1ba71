# The one ladder of types, included by each module with loops: Cython has no virtual fused methods. The module defines the fused
# function visit_rows(model, data, indices, b, context).
from libc.stdint cimport int32_t, int64_t

from onlinecls._compiled.rounds cimport Batch, PassContext
from onlinecls._compiled.sparse cimport dense_t


cdef inline int visit_any_rows(model, rows, const Batch* b, PassContext* context) except -1:
    """Call `visit_rows` for the types of a model's values and of the rows' columns, which have been checked."""
    cdef Py_ssize_t size = rows.indices.itemsize
    if model.values.itemsize == 4:
        if size == sizeof(int32_t):
            return visit_rows[float, int32_t](model, rows.data, rows.indices, b, context)
        elif size == sizeof(int64_t):
            return visit_rows[float, int64_t](model, rows.data, rows.indices, b, context)
        return visit_rows[float, dense_t](model, rows.data, rows.indices, b, context)
    elif size == sizeof(int32_t):
        return visit_rows[double, int32_t](model, rows.data, rows.indices, b, context)
    elif size == sizeof(int64_t):
        return visit_rows[double, int64_t](model, rows.data, rows.indices, b, context)
    return visit_rows[double, dense_t](model, rows.data, rows.indices, b, context)
