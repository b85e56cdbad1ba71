"""Check in C that the labels and weights of a small call are as the training loops require.

Each check returns True or False. A call with anything unusual (an unknown label, say) goes through
`validate.py`, which converts it or raises the error. Nothing is written before all checks have passed.
"""
from cpython.long cimport PyLong_AsLongLongAndOverflow
from libc.stdint cimport int32_t, int64_t, uint32_t

from .._rows cimport are_finite, start_of

cdef extern from "Python.h":
    bint PyBool_Check(object o)
    bint PyFloat_CheckExact(object o)
    bint PyLong_CheckExact(object o)
    bint PyUnicode_CheckExact(object o)
    int PyUnicode_Compare(object a, object b) except? -1

cdef enum:
    FEW = 1024              # most rows of a small call


cdef inline bint are_weights(const double* weights, Py_ssize_t n) noexcept nogil:
    """Return True for n finite numbers >= 0."""
    cdef Py_ssize_t i
    if not are_finite(weights, n):
        return False
    for i in range(n):
        if not weights[i] >= 0.0:
            return False
    return True


ctypedef fused number_t:
    int64_t
    double


cdef inline bint match_numbers(const number_t* y, Py_ssize_t n, const number_t* classes, Py_ssize_t n_classes,
                               int32_t* labels) noexcept nogil:
    """Find the place of each label among the classes; return False if one is not among them."""
    cdef Py_ssize_t i, c
    for i in range(n):
        for c in range(n_classes):
            if y[i] == classes[c]:
                break
        else:
            return False
        labels[i] = <int32_t>c
    return True


cdef inline bint match_texts(const uint32_t* y, Py_ssize_t n, Py_ssize_t y_width, const uint32_t* classes, Py_ssize_t n_classes,
                             Py_ssize_t class_width, int32_t* labels) noexcept nogil:
    """Do the work of `match_numbers` for NumPy's texts: a fixed number of code points each, padded with zeros."""
    cdef Py_ssize_t i, c, j, width = max(y_width, class_width)
    cdef uint32_t a, b
    for i in range(n):
        for c in range(n_classes):
            for j in range(width):
                a = y[i * y_width + j] if j < y_width else 0
                b = classes[c * class_width + j] if j < class_width else 0
                if a != b:
                    break
            else:
                break
        else:
            return False
        labels[i] = <int32_t>c
    return True


cdef inline bint match_list(list y, list classes, int32_t* labels) except -1:
    """Do the work of `match_numbers` for a list of integers, texts, booleans and numbers, Python's own or numpy's."""
    cdef Py_ssize_t i, c
    cdef int overflow = 0
    cdef long long number
    for i in range(len(y)):
        label = y[i]
        if not (PyLong_CheckExact(label) or PyUnicode_CheckExact(label)):
            kind = getattr(label, "dtype", None)
            if kind is not None and kind.kind in "iufbU" and label.ndim == 0:
                label = label.item()
        if PyLong_CheckExact(label):
            number = PyLong_AsLongLongAndOverflow(label, &overflow)
            if overflow:
                return False
            for c in range(len(classes)):
                if PyLong_CheckExact(classes[c]):
                    if number == PyLong_AsLongLongAndOverflow(classes[c], &overflow) and not overflow:
                        break
            else:
                return False
        elif PyUnicode_CheckExact(label):
            for c in range(len(classes)):
                if PyUnicode_CheckExact(classes[c]) and PyUnicode_Compare(label, classes[c]) == 0:
                    break
            else:
                return False
        elif PyBool_Check(label) or PyFloat_CheckExact(label):
            for c in range(len(classes)):
                if type(classes[c]) is type(label) and classes[c] == label:
                    break
            else:
                return False
        else:
            return False
        labels[i] = <int32_t>c
    return True
