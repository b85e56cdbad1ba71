"""Values of tables to numbers and names, running means and variances, and rows of a few columns, in C.

A record holds what is known of a column of numbers: n, the sum of the weights of its rows, μ, their mean, S, the sum of squared
deviations from it, and 1 in the last place once a value other than 0 and 1 has come.
"""
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_Check
from libc.math cimport fabs, isnan, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, llabs, malloc, qsort
from libc.string cimport memcpy

import numpy as np

from .._hashing.murmur cimport murmur3

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* n) except NULL
    bint PyUnicode_Check(object o)
    bint PyBool_Check(object o)
    double PyLong_AsDouble(object o) except? -1.0
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1.0

cdef enum:
    N, MEAN, SQUARES, NOT_BINARY, N_RECORD      # places in a record
    LONGEST = 64                                # characters of a number at most
    FEW = 256                                   # cells of a row at most that `RowReader` reads
LARGEST = 1e150                                 # the square of a difference of two such numbers is finite
MISSING_TEXTS = frozenset(("", "?", "-", "NA", "NaN", "nan", "null"))
ABSENT = object()                               # in the place of a value where a row lacks the column

cdef double largest = LARGEST
cdef object absent = ABSENT
cdef frozenset missing_texts = MISSING_TEXTS


# --- values --------------------------------------------------------------------------------------------------------------------


cdef inline bint is_digit(char c) noexcept nogil:
    return 48 <= c <= 57


cdef bint number_in(const char* text, Py_ssize_t n, double* value) except -1:
    """Read a number such as 12, -1.5e3, $12, 12% or 1,234.5; return False for any other text."""
    cdef char[LONGEST] plain
    cdef Py_ssize_t i = 0, size = 0, n_digits = 0, since_comma = -1
    if n == 0 or n >= LONGEST:
        return False
    if text[i] == b"+" or text[i] == b"-":
        plain[0], size, i = text[i], 1, 1
    if i < n and text[i] == b"$":
        i += 1
        if size == 0 and i < n and (text[i] == b"+" or text[i] == b"-"):
            plain[0], size, i = text[i], 1, i + 1
    while i < n and (is_digit(text[i]) or text[i] == b","):
        if text[i] == b",":
            if n_digits == 0 or (since_comma != 3 if since_comma >= 0 else n_digits > 3):
                return False
            since_comma = 0
        else:
            plain[size], size, n_digits = text[i], size + 1, n_digits + 1
            if since_comma >= 0:
                since_comma += 1
        i += 1
    if since_comma >= 0 and since_comma != 3:
        return False
    if i < n and text[i] == b".":
        plain[size], size, i = text[i], size + 1, i + 1
        while i < n and is_digit(text[i]):
            plain[size], size, i, n_digits = text[i], size + 1, i + 1, n_digits + 1
    if n_digits == 0:
        return False
    if i < n and (text[i] == b"e" or text[i] == b"E"):
        plain[size], size, i = text[i], size + 1, i + 1
        if i < n and (text[i] == b"+" or text[i] == b"-"):
            plain[size], size, i = text[i], size + 1, i + 1
        if i == n or not is_digit(text[i]):
            return False
        while i < n and is_digit(text[i]):
            plain[size], size, i = text[i], size + 1, i + 1
    if i < n and text[i] == b"%":
        i += 1
    if i < n:
        return False
    plain[size] = 0
    value[0] = PyOS_string_to_double(plain, NULL, NULL)
    return True


cdef bint looks_dated(const char* text, Py_ssize_t n) noexcept nogil:
    """Return True for a text that begins as a date in ISO 8601 does: four digits, a hyphen, two digits, a hyphen."""
    cdef Py_ssize_t i
    if not 10 <= n <= 40:
        return False
    for i in range(10):
        if (text[i] != b"-") if i == 4 or i == 7 else not is_digit(text[i]):
            return False
    return True


cdef double double_of(value) except? -1.0:
    """Return an integer as a double, infinity if it is beyond all of them."""
    try:
        return PyLong_AsDouble(value)
    except OverflowError:
        return float("inf")


def number_of(str text):
    """Return the number that a text is, or None."""
    cdef double value
    cdef Py_ssize_t n
    cdef const char* start = PyUnicode_AsUTF8AndSize(text, &n)
    return value if number_in(start, n, &value) else None


def read_values(list values, dict seen, list names, double[::1] numbers, int32_t[::1] codes, bint parse):
    """Sort values into numbers and names, a place each; return the places of all others (dates, lists ..).

    numbers : NaN where there is none. codes : places in `names`, 0 for a missing value, -1 where there is no name.
    seen : texts of this column so far, with their number, their code, or None if they are dates. parse : whether texts may be
    numbers and dates.
    """
    cdef Py_ssize_t i, n
    cdef double number
    cdef const char* start
    cdef list others = []
    for i in range(len(values)):
        value = values[i]
        if PyFloat_Check(value):
            number = PyFloat_AS_DOUBLE(value)
            if isnan(number):
                codes[i] = 0
            else:
                numbers[i] = number
        elif PyUnicode_Check(value):
            found = seen.get(value, absent)
            if found is absent:
                text = value.strip()
                found = None
                if text in missing_texts:
                    found = 0
                else:
                    start = PyUnicode_AsUTF8AndSize(text, &n)
                    if parse and number_in(start, n, &number):
                        found = number
                    elif not (parse and looks_dated(start, n)):
                        names.append(text)
                        found = len(names) - 1
                seen[value] = found
            if found is None:
                others.append(i)
            elif PyFloat_Check(found):
                numbers[i] = found
            else:
                codes[i] = found
        elif PyLong_Check(value):
            numbers[i] = double_of(value)
        elif value is None:
            codes[i] = 0
        elif value is not absent:
            others.append(i)
    return others


def hash_of(str text):
    """Return the signed 32-bit MurmurHash3 of a text's UTF-8."""
    cdef Py_ssize_t n
    cdef const char* start = PyUnicode_AsUTF8AndSize(text, &n)
    return <int32_t>murmur3(<const unsigned char*>start, n, 0)


def column_of(str text, Py_ssize_t first, Py_ssize_t n_hashed):
    """Return (column, sign) of a hashed name: abs(h) mod n_hashed, behind the first columns."""
    cdef int64_t h = hash_of(text)
    return first + llabs(h) % n_hashed, 1.0 if h >= 0 else -1.0


# --- running means and variances -----------------------------------------------------------------------------------------------


cdef inline void take(double* record, double x, double c, double keep) noexcept nogil:
    """Take a value of weight c into a record (Welford), after everything before it has lost the factor `keep`."""
    cdef double d = x - record[MEAN]
    record[N] = record[N] * keep + c
    record[MEAN] += d * (c / record[N])             # (c / n is 1 at the first row: the mean is then x to the bit)
    record[SQUARES] = record[SQUARES] * keep + c * d * (x - record[MEAN])
    if x != 0.0 and x != 1.0:
        record[NOT_BINARY] = 1.0


cdef inline double standard(const double* record, double x, double clip) noexcept nogil:
    """Return (x - μ) / √(S/n) within [-clip, clip], 0 while S is 0; x itself as long as all values are 0 or 1."""
    cdef double variance
    if record[NOT_BINARY] == 0.0 and (x == 0.0 or x == 1.0):
        return x
    if record[N] == 0.0:
        return 0.0
    variance = record[SQUARES] / record[N]
    if not 0.0 < variance <= 1e308:                 # (the sum of squares may overflow)
        return 0.0
    return min(max((x - record[MEAN]) / sqrt(variance), -clip), clip)


def learn_column(const double[::1] x, const double[::1] weights, double[::1] record, double clip, double keep, double[::1] z,
                 double[::1] before):
    """Write the standardised values of a column into z, each by the record that has its row in it, and into `before` by the
    record just before, if there is room. (No weights: all are 1.)"""
    cdef Py_ssize_t i
    cdef bint weighted = len(weights) > 0, both = len(before) > 0
    with nogil:
        for i in range(len(x)):
            if both:
                before[i] = 0.0 if isnan(x[i]) else standard(&record[0], x[i], clip)
            if isnan(x[i]):
                z[i] = 0.0
            else:
                take(&record[0], x[i], weights[i] if weighted else 1.0, keep)
                z[i] = standard(&record[0], x[i], clip)


def apply_column(const double[::1] x, const double[::1] record, double clip, double[::1] z):
    """Write the standardised values of a column into z, by a record as it is."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(len(x)):
            z[i] = 0.0 if isnan(x[i]) else standard(&record[0], x[i], clip)


# --- rows ----------------------------------------------------------------------------------------------------------------------


cdef inline Py_ssize_t insert(int32_t* columns, double* values, Py_ssize_t n, int32_t column, double value) noexcept nogil:
    """Insert an entry into a row of n whose columns rise, adding to one that is there; return how many there are now."""
    cdef Py_ssize_t i, k = n
    while k > 0 and columns[k - 1] > column:
        k -= 1
    if k > 0 and columns[k - 1] == column:
        values[k - 1] += value
        return n
    for i in range(n, k, -1):
        columns[i], values[i] = columns[i - 1], values[i - 1]
    columns[k], values[k] = column, value
    return n + 1


cdef int compare(const void* a, const void* b) noexcept nogil:
    return (<const int64_t*>a)[0] > (<const int64_t*>b)[0] or -((<const int64_t*>a)[0] < (<const int64_t*>b)[0])


def assemble(const int32_t[:, ::1] columns, const double[:, ::1] values):
    """Return (data, indices, indptr) of rows; entry [p, i] is one of row i, none where the column is -1 or the value 0."""
    cdef Py_ssize_t i, k, n, size, total = 0, n_parts = columns.shape[0], n_rows = columns.shape[1]
    cdef int64_t p
    data, indices, indptr = np.empty(n_parts * n_rows), np.empty(n_parts * n_rows, np.int32), np.zeros(n_rows + 1, np.int64)
    cdef double[::1] out = data
    cdef int32_t[::1] places = indices
    cdef int64_t[::1] ends = indptr
    cdef int64_t* keys = <int64_t*>malloc((n_parts + 1) * sizeof(int64_t))      # a column, and the number of its part
    if keys == NULL:
        raise MemoryError
    with nogil:
        for i in range(n_rows):
            n = size = 0
            for p in range(n_parts):
                if columns[p, i] >= 0 and values[p, i] != 0.0:
                    keys[n] = <int64_t>columns[p, i] << 32 | p
                    n += 1
            if n_parts > FEW:       # (so that each is inserted at the end)
                qsort(keys, n, sizeof(int64_t), compare)
            for k in range(n):
                size = insert(&places[total], &out[total], size, <int32_t>(keys[k] >> 32), values[keys[k] & 0x7fffffff, i])
            total += size
            ends[i + 1] = total
    free(keys)
    return data[:total].copy(), indices[:total].copy(), indptr


cdef array_of(const double* values, Py_ssize_t n):
    found = np.empty(n)
    cdef double[::1] out = found
    if n:
        memcpy(&out[0], values, n * sizeof(double))
    return found


cdef columns_of(const int32_t* columns, Py_ssize_t n):
    found = np.empty(n, np.int32)
    cdef int32_t[::1] out = found
    if n:
        memcpy(&out[0], columns, n * sizeof(int32_t))
    return found


cdef class Cell:
    """Hold what `RowReader` knows of a column of the table; places are columns of the output, -1 where there is none yet.

    mode : see below. index : place of its record. number, missing : places of its number and of its missing indicator. names :
    places of its texts. hashes : whether a text that has no place is hashed.
    """
    cdef public int mode
    cdef public Py_ssize_t index, number, missing
    cdef public dict names
    cdef public bint hashes

    def __init__(self, mode):
        self.mode, self.index, self.number, self.missing, self.names, self.hashes = mode, -1, -1, -1, {}, False


cdef enum:
    SKIPPED, PLAIN, NAMES       # modes: no part of the rows; numbers and names by value; names alone
MODES = {"skipped": SKIPPED, "plain": PLAIN, "names": NAMES}


cdef enum:
    LEFT, NUMBER, NAMED, HASHED     # kinds of an entry: none here, to standardise, a name in a slot, a name behind the slots


cdef struct Entry:
    int kind
    int32_t column
    double value


cdef class RowReader:
    """Read single rows of a table whose columns and names are known, as dicts; leave all others to the vectorizer.

    Reading changes neither the reader nor the records.
    """
    cdef dict cells
    cdef double clip, keep
    cdef Py_ssize_t first, n_hashed, n_expected

    def __init__(self, cells, clip, keep, first, n_hashed, n_expected):
        """Take {name: Cell}; n_expected : columns that each row must have, -1 if any number is right."""
        self.cells, self.clip, self.keep = cells, clip, keep
        self.first, self.n_hashed, self.n_expected = first, n_hashed, n_expected

    def read(self, dict row, known, bint learn):
        """Return (values, columns, what is left, records after it) of a row, with what has to go the long way as a dict; None if
        all of it has."""
        cdef int32_t[FEW] columns
        cdef double[FEW] values
        cdef Py_ssize_t n = 0
        cdef bint is_hashed = False
        cdef Entry entry
        cdef double* record
        cdef dict left = {}
        cdef double[:, ::1] records
        known = known.copy() if learn else known
        records = known
        if len(row) > FEW or self.n_expected >= 0 and len(row) != self.n_expected:
            return None
        for name, value in row.items():
            found = self.cells.get(name)
            entry.kind = LEFT if found is None else self.kind_of(<Cell>found, name, value, &entry)
            if entry.kind == LEFT:
                left[name] = value
            elif entry.kind == NUMBER:
                record = &records[(<Cell>found).index, 0]
                if learn:
                    take(record, entry.value, 1.0, self.keep)
                entry.value = standard(record, entry.value, self.clip)
            if entry.kind != LEFT and entry.value != 0.0:
                n = insert(columns, values, n, entry.column, entry.value)
            is_hashed |= entry.kind == HASHED
        if left and (is_hashed or self.n_expected >= 0):    # (sums of what meets in a column are of one order)
            return None
        return array_of(values, n), columns_of(columns, n), left, known

    cdef int kind_of(self, Cell cell, str name, value, Entry* entry) except -1:
        """Find the column and value of a cell; return its kind. (A number's value is not standardised.)"""
        cdef Py_ssize_t size
        cdef const char* start
        entry.value, entry.column = 1.0, -1
        if cell.mode == SKIPPED:
            entry.value = 0.0
            return NAMED
        if PyFloat_Check(value):
            entry.value = PyFloat_AS_DOUBLE(value)
        elif PyUnicode_Check(value):
            found = cell.names.get(value)
            if found is not None:
                entry.column = found
                return NAMED
            start = PyUnicode_AsUTF8AndSize(value, &size)
            if cell.mode == NAMES or not number_in(start, size, &entry.value):
                if not self.can_hash(cell, value, start, size):
                    return LEFT
                entry.column, entry.value = column_of(f"{name}={value}", self.first, self.n_hashed)
                return HASHED
        elif PyLong_Check(value):
            entry.value = double_of(value)
        if value is None or isnan(entry.value):
            entry.column, entry.value = <int32_t>cell.missing, 1.0
            return NAMED if cell.missing >= 0 else LEFT
        if cell.mode == NAMES or cell.index < 0 or not fabs(entry.value) <= largest:
            return LEFT
        entry.column = <int32_t>cell.number
        return NUMBER if PyFloat_Check(value) or PyLong_Check(value) or PyUnicode_Check(value) else LEFT

    cdef bint can_hash(self, Cell cell, str value, const char* start, Py_ssize_t size) except -1:
        """Return True for a text that is a name beyond the slots: neither missing nor a date, without spaces around it."""
        if not cell.hashes or value in missing_texts or (cell.mode == PLAIN and looks_dated(start, size)):
            return False
        return value.strip() == value
