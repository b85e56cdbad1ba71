# The one ladder of types, included by each module with loops: Cython has no virtual fused methods. The module defines the fused
# function visit_rows(model, data, indices, b, context).
from libc.stdint cimport int32_t

cimport numpy as cnp

from onlinecls._compiled.model cimport Model
from onlinecls._compiled.rounds cimport Batch, PassContext
from onlinecls._compiled.sparse cimport dense_t
from onlinecls._rows cimport Rows, has_type


cdef inline int visit_any_rows(Model model, Rows rows, const Batch* b, PassContext* context) except -1:
    """Call `visit_rows` for the types of the model's values and of the rows' columns, which have been checked."""
    cdef bint is_dense = has_type(rows.indices, cnp.NPY_UINT8)
    if has_type(model.values, cnp.NPY_FLOAT32):
        if is_dense:
            return visit_rows[float, dense_t](model, rows.data, rows.indices, b, context)
        return visit_rows[float, int32_t](model, rows.data, rows.indices, b, context)
    if is_dense:
        return visit_rows[double, dense_t](model, rows.data, rows.indices, b, context)
    return visit_rows[double, int32_t](model, rows.data, rows.indices, b, context)
