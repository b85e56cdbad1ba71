"""Values of tables to numbers and names, running means and variances, and rows of a few columns, in C.

A record holds what is known of a column of numbers: n, the sum of the weights of its rows, μ, their mean, S, the sum of squared
deviations from it, and 1 in the last place once a value other than 0 and 1 has come.
"""
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_Check
from libc.math cimport fabs, isnan, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, llabs, qsort, realloc
from libc.string cimport memcpy

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np

from .._hashing.murmur cimport murmur3
from ._persistent cimport Map, Records

from .._input import validate

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* n) except NULL
    bint PyUnicode_Check(object o)
    bint PyUnicode_CheckExact(object o)
    str PyUnicode_FromObject(object o)
    double PyLong_AsDouble(object o) except? -1.0
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1.0

cdef enum:
    N, MEAN, SQUARES, NOT_BINARY, N_RECORD      # places in a record
    LONGEST = 64                                # characters of a number at most
    FEW = 32                                    # entries of a row that are sorted by insertion at most
LARGEST = 1e150                                 # the square of a difference of two such numbers is finite
MISSING_TEXTS = frozenset(("", "?", "-", "NA", "NaN", "nan", "null"))
ABSENT = object()                               # in the place of a value where a row lacks the column

DAYS = ("datetime64[D]", "datetime64[M]", "datetime64[Y]")     # types of dates without a time of day
MICROSECOND = timedelta(microseconds=1)

cdef double largest = LARGEST
cdef object absent = ABSENT
cdef frozenset missing_texts = MISSING_TEXTS


# --- values --------------------------------------------------------------------------------------------------------------------


cdef inline bint is_digit(char c) noexcept nogil:
    return 48 <= c <= 57


cdef struct Copied:
    const char* text        # what is read, n characters, of which i have been
    Py_ssize_t n, i
    char[LONGEST] plain     # what is copied of it
    Py_ssize_t size


cdef inline bint copy_one(Copied* c, char a, char b) noexcept nogil:
    """Copy the next character if it is one of the two; return whether it is."""
    if c.i == c.n or (c.text[c.i] != a and c.text[c.i] != b):
        return False
    c.plain[c.size], c.size, c.i = c.text[c.i], c.size + 1, c.i + 1
    return True


cdef inline Py_ssize_t copy_digits(Copied* c) noexcept nogil:
    """Copy the digits that come next; return how many there are."""
    cdef Py_ssize_t first = c.i
    while c.i < c.n and is_digit(c.text[c.i]):
        c.plain[c.size], c.size, c.i = c.text[c.i], c.size + 1, c.i + 1
    return c.i - first


cdef inline bint skip(Copied* c, char a) noexcept nogil:
    """Skip the next character if it is this one; return whether it is."""
    if c.i == c.n or c.text[c.i] != a:
        return False
    c.i += 1
    return True


cdef bint number_in(const char* text, Py_ssize_t n, double* value) except -1:
    """Read a number such as 12, -1.5e3, $12, 12% or 1,234.5; return False for any other text, and for numbers out of range."""
    cdef Copied c
    cdef Py_ssize_t n_digits
    if n == 0 or n >= LONGEST:
        return False
    c.text, c.n, c.i, c.size = text, n, 0, 0
    copy_one(&c, b"+", b"-")
    if skip(&c, b"$") and c.size == 0:
        copy_one(&c, b"+", b"-")
    n_digits = copy_digits(&c)
    while 0 < n_digits <= 3 and skip(&c, b","):
        if copy_digits(&c) != 3:
            return False
    if copy_one(&c, b".", b"."):
        n_digits += copy_digits(&c)
    if n_digits == 0:
        return False
    if copy_one(&c, b"e", b"E"):
        copy_one(&c, b"+", b"-")
        if not copy_digits(&c):
            return False
    skip(&c, b"%")
    if c.i < n:
        return False
    c.plain[c.size] = 0
    value[0] = PyOS_string_to_double(c.plain, NULL, NULL)
    return fabs(value[0]) <= largest


cdef bint is_exponential(const char* text, Py_ssize_t n) noexcept nogil:
    """Return True for digits, an e and digits, which may as well be a hexadecimal name (12e45678)."""
    cdef Py_ssize_t i, e = -1
    for i in range(n):
        if text[i] == b"e" or text[i] == b"E":
            if e >= 0:
                return False
            e = i
        elif not is_digit(text[i]):
            return False
    return 0 < e < n - 1


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


def may_be_name(str text):
    """Return True for a text that is a number or a name by what its column has had."""
    cdef Py_ssize_t n
    text = text.strip()
    cdef const char* start = PyUnicode_AsUTF8AndSize(text, &n)
    return is_exponential(start, n)


def is_valid(text):
    """Return True unless a text has halves of surrogate pairs, which no file or hash can hold."""
    cdef Py_ssize_t n
    try:
        PyUnicode_AsUTF8AndSize(text, &n)
    except UnicodeEncodeError:
        return False
    return True


def in_microseconds(values):
    """Return dates or durations of numpy in microseconds, and where these fit 64 bits. (Numpy itself lets them overflow.)"""
    found = values.astype(f"{values.dtype.kind}8[us]")
    if np.datetime_data(values.dtype)[0] in ("ns", "ps", "fs", "as"):
        return found, np.ones(np.shape(values), bool)
    return found, (found.astype(values.dtype) == values) | np.isnat(values)


cdef object plain_of(value):
    """Return Python's own value for one of numpy, pandas or the decimal module."""
    if isinstance(value, np.datetime64 | np.timedelta64):       # (whose items may be integers)
        found, fits = in_microseconds(value)
        item = (value.astype("datetime64[D]") if value.dtype in DAYS else found).item()
        if not fits or not (item is None or isinstance(item, date | timedelta)):
            return value
        value = item
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, Decimal):
        return value if value.is_snan() else float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if validate.is_missing(value):
        return None
    return float(value // MICROSECOND) / 1e6 if isinstance(value, timedelta) else value


cdef object date_of(str text):
    """Return the date, or date and time, that a text is in ISO 8601, or None."""
    try:
        return datetime.fromisoformat(text) if len(text) > 10 else date.fromisoformat(text)
    except ValueError:
        return None


cdef enum:
    NUMBER, NAME, MISSING, NONE_THERE, OTHER    # kinds of a value; other: dates, lists, and what is not valid


cdef class Reading:
    """Read values of a table, one at a time.

    number : the last one, if it is one. value : the text of a name, or what is neither number nor name: dates, lists, texts with
    halves of surrogate pairs. may_be_name : whether a number has the form of `is_exponential`.
    """
    cdef double number
    cdef object value
    cdef bint may_be_name

    cdef int read(self, value, bint parse) except -1:
        """Return the kind of a value. parse : whether texts may be numbers and dates."""
        self.may_be_name = False
        if not (PyFloat_Check(value) or PyUnicode_Check(value) or PyLong_Check(value) or value is None or value is absent):
            value = plain_of(value)
        if PyFloat_Check(value):
            self.number = PyFloat_AS_DOUBLE(value)
            return MISSING if isnan(self.number) else NUMBER
        if PyUnicode_Check(value):
            return self.read_text(PyUnicode_FromObject(value).strip(), parse)
        if PyLong_Check(value):
            self.number = double_of(value)
            return NUMBER
        if value is None:
            return MISSING
        self.value = value
        return NONE_THERE if value is absent else OTHER

    cdef int read_text(self, str text, bint parse) except -1:
        cdef Py_ssize_t n
        cdef const char* start
        self.value = text
        if text in missing_texts:
            return MISSING
        try:
            start = PyUnicode_AsUTF8AndSize(text, &n)
        except UnicodeEncodeError:
            return OTHER
        if parse and number_in(start, n, &self.number):
            self.may_be_name = is_exponential(start, n)
            return NUMBER
        if parse and looks_dated(start, n):
            found = date_of(text)
            if found is not None:
                self.value = found
                return OTHER
        return NAME


def read_values(list values, list names, double[::1] numbers, int32_t[::1] codes, bint parse, bint has_names, bint has_numbers,
                const unsigned char[::1] live):
    """Sort values into numbers and names, a place each; return {place: value} of all others (dates, lists ..).

    numbers : NaN where there is none. codes : places in `names`, 0 for a missing value, -1 where there is no name. parse :
    whether texts may be numbers and dates. has_names, has_numbers : what the column has had before. live : the rows that count
    for those behind them; empty if none does.
    """
    cdef Py_ssize_t i
    cdef int kind
    cdef Reading reading = Reading()
    cdef dict others = {}, code_of = {}, seen = {}      # seen: numbers and codes of texts that are the same in any row
    for i in range(len(values)):
        value = values[i]
        found = seen.get(value) if PyUnicode_CheckExact(value) else None
        if found is None:
            kind = reading.read(value, parse)
            if kind == NUMBER and reading.may_be_name and has_names and not has_numbers:
                kind = NAME
            if kind == NUMBER:
                found = reading.number
            elif kind == NAME:
                found = code_of.get(reading.value)
                if found is None:
                    found = code_of[reading.value] = len(names)
                    names.append(reading.value)
            elif kind == MISSING:
                found = 0
            elif kind == OTHER:
                others[i] = reading.value
            if found is not None and PyUnicode_CheckExact(value) and not reading.may_be_name:
                seen[value] = found
        if found is None:
            continue
        if PyFloat_Check(found):
            numbers[i] = PyFloat_AS_DOUBLE(found)
            has_numbers |= len(live) > 0 and live[i]
        else:
            codes[i] = found
            has_names |= found > 0 and len(live) > 0 and live[i]
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
                 double[::1] before, Py_ssize_t n_sharing):
    """Write the standardised values of a column into z, each by the record that has it and what is before it in it, and into
    `before`, if there is room, by the record just before its row, which has n_sharing values. (No weights: all are 1.)"""
    cdef Py_ssize_t i
    cdef double[N_RECORD] start
    cdef bint weighted = len(weights) > 0, both = len(before) > 0
    with nogil:
        for i in range(len(x)):
            if both:
                if i % n_sharing == 0:
                    memcpy(&start[0], &record[0], N_RECORD * sizeof(double))
                before[i] = 0.0 if isnan(x[i]) else standard(&start[0], x[i], clip)
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


cdef int compare(const void* a, const void* b) noexcept nogil:
    return (<const int64_t*>a)[0] > (<const int64_t*>b)[0] or -((<const int64_t*>a)[0] < (<const int64_t*>b)[0])


cdef Py_ssize_t add_up(int64_t* keys, const double* values, Py_ssize_t n, int32_t* columns, double* sums) noexcept nogil:
    """Write the entries of a row in the order of columns, with what shares a column added up, and no zeros; return how many.

    keys : columns * 2^32 + places in values, which are added in the order of these places.
    """
    cdef Py_ssize_t i, k, size = 0
    cdef int64_t key
    if n > FEW:
        qsort(keys, n, sizeof(int64_t), compare)
    else:
        for i in range(1, n):
            key, k = keys[i], i
            while k > 0 and keys[k - 1] > key:
                keys[k], k = keys[k - 1], k - 1
            keys[k] = key
    for i in range(n):
        if i == 0 or keys[i] >> 32 != keys[i - 1] >> 32:
            if size == 0 or sums[size - 1] != 0.0:
                size += 1
            columns[size - 1], sums[size - 1] = <int32_t>(keys[i] >> 32), 0.0
        sums[size - 1] += values[keys[i] & 0x7fffffff]
    return size - 1 if size > 0 and sums[size - 1] == 0.0 else size


def assemble(const int32_t[:, ::1] columns, const double[:, ::1] values):
    """Return (data, indices, indptr) of rows; entry [p, i] is one of row i, none where the column is -1 or the value 0."""
    cdef Py_ssize_t i, n, total = 0, p, n_parts = columns.shape[0], n_rows = columns.shape[1]
    data, indices, indptr = np.empty(n_parts * n_rows), np.empty(n_parts * n_rows, np.int32), np.zeros(n_rows + 1, np.int64)
    cdef double[::1] out = data, row = np.empty(n_parts)
    cdef int32_t[::1] places = indices
    cdef int64_t[::1] ends = indptr, keys = np.empty(n_parts, np.int64)
    with nogil:
        for i in range(n_rows):
            n = 0
            for p in range(n_parts):
                if columns[p, i] >= 0 and values[p, i] != 0.0:
                    keys[n], row[n] = <int64_t>columns[p, i] << 32 | n, values[p, i]
                    n += 1
            if n:
                total += add_up(&keys[0], &row[0], n, &places[total], &out[total])
            ends[i + 1] = total
    return data[:total].copy(), indices[:total].copy(), indptr


cdef class RowReader:
    """Read single rows of tables, which are dicts, as one reads a table: by what has been learnt, and learning it or not.

    Columns are read in the order in which they came first. A reader holds nothing but the options of its vectorizer.
    """
    cdef dict how
    cdef frozenset ignored, crossed
    cdef tuple crosses
    cdef bint is_strict
    cdef double clip, keep
    cdef Py_ssize_t slots, n_hashed
    cdef object as_text, features_of, words_of

    def __init__(self, options, as_text, features_of, words_of):
        """Take the functions of these names of _columns.py and _parts.py, and one from a column's text to columns and values."""
        self.how, self.ignored, self.crosses, self.is_strict = options.how, options.ignore, options.crosses, options.is_strict
        self.clip, self.keep, self.slots, self.n_hashed = options.clip, options.keep, options.slots, options.n_hashed
        self.crossed = frozenset(name for pair in options.crosses for name in pair)
        self.as_text, self.features_of, self.words_of = as_text, features_of, words_of

    def read(self, dict row, learnt, bint learn):
        """Return values and columns of a row, and what has been learnt after it; None where the long way has to raise an
        error."""
        cdef RowRead reading = RowRead()
        cdef Py_ssize_t order, last = 0
        if self.is_strict and (learnt.expected is None or learnt.expected != row.keys()):
            return None
        reading.start(self, learnt, learn)
        for name, value in row.items():
            known = reading.columns.find(name)
            order = LAST if known is None else (<tuple>known)[ORDER]
            if order < last or not PyUnicode_CheckExact(name):
                row = in_order(row, reading.columns)
                return None if row is None else self.read(row, learnt, learn)
            last = order
            if known is None and not is_valid(name):
                return None
            if not (self.ignored and name in self.ignored) and not reading.cell(name, value, known):
                return None
        for a, b in self.crosses:
            reading.cross(a, b)
        return reading.end()


cdef enum:
    ORDER, KINDS, TYPED, ORIGIN         # places in a `Known`
    NEW = -2                            # the record of a hashed column that has had no number
cdef Py_ssize_t LAST = 1 << 62          # the order of a column that is new


cdef dict in_order(dict row, Map columns):
    """Return a row in the order of columns, new ones last, with texts as names; None if two names are the same or one is none."""
    cdef list cells = []
    for name, value in row.items():
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            name = str(name)
        if not PyUnicode_Check(name):
            return None
        name = PyUnicode_FromObject(name)
        known = columns.find(name)
        cells.append((LAST if known is None else (<tuple>known)[ORDER], len(cells), name, value))
    cells.sort()
    found = {name: value for _, _, name, value in cells}
    return found if len(found) == len(row) else None


cdef class RowRead:
    """Hold a row while it is read.

    learnt : what has been learnt, a copy of it where the row is learnt. column, at, sign : of the last feature that had its place
    looked up; the column is -1 where it has none, and the record is -1 where it is no number's, NEW where it has had no number.
    cells : the features and values of columns that are crossed. words : columns and values of texts.
    """
    cdef RowReader reader
    cdef object learnt
    cdef Map columns, features, hashed
    cdef Records records
    cdef Reading value
    cdef bint learn, is_refused
    cdef Py_ssize_t column, at
    cdef double sign
    cdef dict cells
    cdef list words
    cdef int64_t* keys
    cdef double* values
    cdef Py_ssize_t n, room

    def __dealloc__(self):
        free(self.keys)
        free(self.values)

    cdef int start(self, RowReader reader, learnt, bint learn) except -1:
        self.reader, self.learn, self.learnt = reader, learn, learnt.copy() if learn else learnt
        self.columns, self.features, self.hashed = self.learnt.columns, self.learnt.features, self.learnt.hashed
        self.records, self.value, self.cells, self.words = self.learnt.records, Reading(), {}, []
        self.keys, self.values = NULL, NULL
        return 0

    cdef bint cell(self, str name, value, known) except -1:
        """Read a cell; return False if an error has to be raised."""
        cdef RowReader reader = self.reader
        how = reader.how.get(name)
        typed = None if known is None else (<tuple>known)[TYPED]
        if how == "text":
            return self.text(name, value)
        if how == "category" and not PyUnicode_Check(value):
            value = reader.as_text(value)
        cdef int kind = self.value.read(value, how != "category" and typed != "category")
        if kind == NUMBER and self.value.may_be_name and how != "number" and known is not None:
            if "category" in (<tuple>known)[KINDS] and "number" not in (<tuple>known)[KINDS]:
                kind = NAME
        if kind == NUMBER:
            if not fabs(self.value.number) <= largest:
                return False
            seen = "number"
            self.keep(name, name, self.number(name, self.value.number))
        elif kind == NAME or kind == MISSING:
            seen = "category" if kind == NAME else "missing"
            feature = f"{name}={self.value.value}" if kind == NAME else f"{name}=?"
            self.keep(name, feature, self.name(feature, 1.0, True))
        elif kind == NONE_THERE:
            return True
        else:
            found = reader.features_of(name, self.value.value, None if known is None else (<tuple>known)[ORIGIN])
            if found is None:
                return False
            seen, features, origin = found
            for feature, x, given in features:
                self.keep(name, feature, self.name(feature, given, True) if x is None else self.number(feature, x))
            if self.learn and origin is not None and (known is None or (<tuple>known)[ORIGIN] is None):
                self.learnt.see(name, (seen,), None, origin)
        if seen != "missing" and (how == "number" and seen != "number" or typed is not None and typed != seen):
            return False
        self.see(name, known, seen)
        return not self.is_refused

    cdef bint text(self, str name, value) except -1:
        """Read a text by its words."""
        if not self.reader.n_hashed:
            return False
        seen = "missing" if validate.is_missing(value) else "text"
        if seen == "missing":
            self.name(f"{name}=?", 1.0, True)
        elif isinstance(value, str | bytes):
            self.words.append(self.reader.words_of(name, value))
        elif value is not absent:
            return False
        if value is not absent:
            self.see(name, self.columns.find(name), seen)
        return not self.is_refused

    cdef int see(self, str name, known, seen) except -1:
        if self.learn and (known is None or seen not in (<tuple>known)[KINDS]):
            self.learnt.see(name, (seen,))
        return 0

    cdef int keep(self, str name, feature, double value) except -1:
        if self.reader.crosses and name in self.reader.crossed:
            self.cells.setdefault(name, []).append((feature, value))
        return 0

    cdef int find(self, str feature, bint is_number, bint is_given) except -1:
        """Look up the column of a feature, its sign there, and its record; give it a slot if it has none and learns."""
        found = self.features.find(feature)
        cdef bint is_full = found is None and len(self.features) == self.reader.slots
        if found is None and self.learn and not is_full:
            self.learnt.add_slot(feature, is_number)
            self.features = self.learnt.features
            found = self.features.find(feature)
        self.sign, self.column, self.at = 1.0, -1, -1
        if found is not None:
            self.column, self.at = (<tuple>found)[0], (<tuple>found)[1]
        elif self.reader.n_hashed and is_full:
            self.column, self.sign = column_of(feature, self.reader.slots, self.reader.n_hashed)
            if is_number and self.learn:
                self.at = self.learnt.add_hashed(self.column)
                self.hashed = self.learnt.hashed
            elif is_number:
                found = self.hashed.find(self.column)
                self.at = NEW if found is None else found
        elif self.reader.is_strict and is_given and not feature.endswith("=?"):
            self.is_refused = True
        return 0

    cdef double number(self, str feature, double x) except? -1.0:
        """Learn a number if it is to be learnt, and add it to the row, standardised; return what it is then."""
        cdef double[N_RECORD] none
        cdef double* record
        cdef double value = 0.0
        self.find(feature, True, True)
        if self.at >= 0 and self.learn:
            record = self.records.to_change(self.at)
            take(record, x, 1.0, self.reader.keep)
            value = standard(record, x, self.reader.clip)
        elif self.at >= 0:
            value = standard(self.records.at(self.at), x, self.reader.clip)
        elif self.at == NEW:
            none[N], none[MEAN], none[SQUARES], none[NOT_BINARY] = 0.0, 0.0, 0.0, 0.0
            value = standard(none, x, self.reader.clip)
        self.add(self.column, self.sign * value)
        return value

    cdef double name(self, str feature, double value, bint is_given) except? -1.0:
        """Add a feature of this value to the row."""
        self.find(feature, False, is_given)
        self.add(self.column, self.sign * value)
        return value

    cdef int cross(self, str a, str b) except -1:
        for one, x in self.cells.get(a, ()):
            for other, z in self.cells.get(b, ()):
                self.name(f"{one}^{other}", <double>x * <double>z, False)
        return 0

    cdef int add(self, Py_ssize_t column, double value) except -1:
        cdef void* more
        if column < 0 or value == 0.0:
            return 0
        if self.n == self.room:
            self.room = 2 * self.room + FEW
            more = realloc(self.keys, self.room * sizeof(int64_t))
            if more == NULL:
                raise MemoryError
            self.keys = <int64_t*>more
            more = realloc(self.values, self.room * sizeof(double))
            if more == NULL:
                raise MemoryError
            self.values = <double*>more
        self.keys[self.n], self.values[self.n] = <int64_t>column << 32 | self.n, value
        self.n += 1
        return 0

    cdef end(self):
        """Return values, columns and what has been learnt."""
        cdef int32_t[::1] columns
        cdef double[::1] values
        cdef Py_ssize_t size = 0
        for places, numbers in self.words:
            for column, value in zip(places.tolist(), numbers.tolist()):
                self.add(column, value)
        found, where = np.empty(self.n), np.empty(self.n, np.int32)
        if self.n:
            columns, values = where, found
            size = add_up(self.keys, self.values, self.n, &columns[0], &values[0])
        if self.learn:
            self.learnt.t += 1
        return found[:size], where[:size], self.learnt
