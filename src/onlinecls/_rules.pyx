"""For Python: the numbers of `Rule`, `Trigger`, `Geometry` and `Costs`, and the names of the fields of `Params` (_rules.pxd)."""
cdef Params EMPTY

FIELDS_IN_C = tuple(EMPTY)
