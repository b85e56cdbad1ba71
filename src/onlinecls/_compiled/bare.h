/* A one-dimensional typed memoryview of numbers that belong to no Python object: made, passed and dropped without the GIL.
 * (None owns it, for which Cython counts no references.) */
#ifndef ONLINECLS_BARE_H
#define ONLINECLS_BARE_H

#define onlinecls_view_at(start, n) \
    ((__Pyx_memviewslice){(struct __pyx_memoryview_obj*)Py_None, (char*)(start), {(n)}, {0}, {-1}})

#endif
