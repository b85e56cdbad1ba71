"""Running means and variances, and rows of a few columns, in C.

A record holds what is known of a column of numbers: n, the sum of the weights of its rows, μ, their mean, S, the sum of squared
deviations from it, and 1 in the last place once a value other than 0 and 1 has come.
"""
from cpython.float cimport PyFloat_AS_DOUBLE
from libc.math cimport M_PI as pi, cos, fabs, fmod, isnan, sin, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, llabs, qsort, realloc
from libc.string cimport memcpy, memset

import numpy as np

from .._hashing.murmur cimport murmur3
from ._persistent cimport Map, Records
from ._values cimport (
    AS_DATE, AS_NAME, AS_NUMBER, BOOLEAN, COMMA, DATE, LARGEST_NUMBER, MISSING, NAME, NONE_THERE, NUMBER, TEXT,
    Reading, absent,
)

from .._input import validate
from ._dates import is_day
from ._values import KINDS, dicts_of, is_valid, named_state

cdef extern from "Python.h":
    bint PyDict_Check(object o)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* n) except NULL
    bint PyUnicode_Check(object o)
    bint PyUnicode_CheckExact(object o)
    int PyUnicode_KIND(object text)             # bytes a character
    void* PyUnicode_1BYTE_DATA(object text)
    str PyUnicode_FromObject(object o)

cdef enum:
    N, MEAN, SQUARES, NOT_BINARY, N_RECORD      # places in a record
    FEW = 32                                    # entries of a row that are sorted by insertion at most
    NEW = -2                                    # the record of a hashed column that has had no number
    MOST_DIGITS = 15                            # of a number that a double surely holds
cdef double[MOST_DIGITS + 1] powers_of_ten = [float(f"1e{k}") for k in range(MOST_DIGITS + 1)]


def hash_of(str text):
    """Return the signed 32-bit MurmurHash3 of a text's UTF-8."""
    cdef Py_ssize_t n
    cdef const char* start = PyUnicode_AsUTF8AndSize(text, &n)
    return <int32_t>murmur3(<const unsigned char*>start, n, 0)


def column_of(str text, Py_ssize_t first, Py_ssize_t n_hashed):
    """Return (column, sign) of a hashed name: abs(h) mod n_hashed, behind the first columns."""
    cdef int64_t h = hash_of(text)
    return first + llabs(h) % n_hashed, 1.0 if h >= 0 else -1.0


def is_new_kind(int kind, int had):
    """Return True if a kind is another one than those that a column has had. Numbers and booleans are the same to it."""
    return is_new(kind, had)


cpdef bint may_be_told(int had) noexcept:
    """Return True unless a column has had names alone, of which learning has told what they look like."""
    return had & (1 << NUMBER | 1 << BOOLEAN | 1 << DATE) or not had & 1 << NAME


cdef bint is_new(int kind, int had) noexcept:
    cdef int alike = 1 << NUMBER | 1 << BOOLEAN
    if kind >= NONE_THERE or kind == MISSING or not had & 127:
        return False
    return not had & (alike if 1 << kind & alike else 1 << kind)


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


cdef void standardise_row(double* record, double* x, Py_ssize_t n, double clip, double keep, bint learn) noexcept nogil:
    """Standardise the numbers of one column, each of weight 1."""
    cdef Py_ssize_t i
    cdef double[N_RECORD] own
    memcpy(&own[0], record, N_RECORD * sizeof(double))
    if learn:
        for i in range(n):
            if isnan(x[i]):
                x[i] = 0.0
            else:
                take(&own[0], x[i], 1.0, keep)
                x[i] = standard(&own[0], x[i], clip)
    else:
        for i in range(n):
            x[i] = 0.0 if isnan(x[i]) else standard(&own[0], x[i], clip)
    memcpy(record, &own[0], N_RECORD * sizeof(double))


def standardise(Records records, const int64_t[::1] at, double[:, ::1] x, const double[::1] weights, double clip, double keep,
                bint learn, bint is_progressive):
    """Standardise numbers, a row of x for each column, by the record that has them and what is before them in it; NaN becomes 0.
    Return them by the record just before their row, if is_progressive. Records learn them if `learn`, else stay as they are.

    at : the record of each column, -1 for none (all is 0), NEW for one of a hashed column that has had no number. Columns that
    share a record take turns, row by row. (No weights: all are 1.)
    """
    cdef Py_ssize_t i, k, p, first = 0, last, m = x.shape[0], n = x.shape[1]
    cdef double[N_RECORD] none, start, own
    cdef double* record
    cdef double value
    cdef bint weighted = len(weights) > 0
    before = np.zeros((m if is_progressive else 0, n))
    cdef double[:, ::1] y = before
    cdef const int64_t[::1] order = np.argsort(at, kind="stable")
    cdef size_t[::1] places = np.zeros(m, np.uintp)     # of records
    none[N], none[MEAN], none[SQUARES], none[NOT_BINARY] = 0.0, 0.0, 0.0, 0.0
    for p in range(m):
        if at[p] >= 0 and learn:
            places[p] = <size_t>records.to_change(at[p])
        elif at[p] >= 0:
            places[p] = <size_t>records.at(at[p])
        elif at[p] == NEW:
            places[p] = <size_t>&none[0]
    with nogil:
        while first < m:
            record, last = <double*>places[order[first]], first + 1
            while record != NULL and last < m and places[order[last]] == places[order[first]]:
                last += 1
            if record == NULL:
                memset(&x[order[first], 0], 0, n * sizeof(double))
                first += 1
                continue
            memcpy(&own[0], record, N_RECORD * sizeof(double))  # (the compiler knows that nothing else writes there)
            if last == first + 1 and not is_progressive and not weighted:
                standardise_row(&own[0], &x[order[first], 0], n, clip, keep, learn)
            for i in range(n if is_progressive or weighted or last > first + 1 else 0):
                if is_progressive:
                    memcpy(&start[0], &own[0], N_RECORD * sizeof(double))
                for k in range(first, last):
                    p = order[k]
                    value, x[p, i] = x[p, i], 0.0
                    if isnan(value):
                        continue
                    if is_progressive:
                        y[p, i] = standard(&start[0], value, clip)
                    if learn:
                        take(&own[0], value, weights[i] if weighted else 1.0, keep)
                    x[p, i] = standard(&own[0], value, clip)
            if learn:
                memcpy(record, &own[0], N_RECORD * sizeof(double))
            first = last
    return before


cdef double angle(double seconds, double first, double length) noexcept nogil:
    """Return the part of a period as an angle. first : the part of it that had gone when 1970 began; both in days."""
    cdef double part = fmod(seconds / 86400.0 + first, length)
    return 2.0 * pi * ((part + length if part < 0.0 else part) / length)


def waves(double seconds, double first, double length, bint less_one):
    """Return sine and cosine of the part of a period (less_one: the cosine less 1)."""
    cdef double a = angle(seconds, first, length)
    return sin(a), cos(a) - less_one


def waves_of(const double[::1] seconds, double first, double length, bint less_one):
    """Return what `waves` returns of each of the seconds, as two arrays. (Numpy's may have other bits in other arrays.)"""
    cdef Py_ssize_t i
    cdef double a
    sines, cosines = np.empty(len(seconds)), np.empty(len(seconds))
    cdef double[::1] x = sines, y = cosines
    with nogil:
        for i in range(seconds.shape[0]):
            a = angle(seconds[i], first, length)
            x[i], y[i] = sin(a), cos(a) - less_one
    return sines, cosines


# --- columns -------------------------------------------------------------------------------------------------------------------


def have_alike(list rows, list names):
    """Return True if these are the keys of all dicts, and no value is a dict."""
    cdef Py_ssize_t k
    cdef dict row
    for row in rows:
        if len(row) != len(names):
            return False
        k = 0
        for key, value in row.items():
            if type(value) is dict or (key is not names[k] and key != names[k] and names[k] not in row):
                return False
            k += 1
    return True


def read_rows(list rows, list names, const int32_t[::1] places, const int32_t[::1] states, double[:, ::1] x):
    """Read columns of dicts that have these names as keys; return which of them are numbers that show nothing but that.

    places : the row of x for each name, -1 for none. states : what is known of the columns of x, which take numbers as such.
    """
    cdef Py_ssize_t i, k, p, n = len(rows)
    cdef Reading reading = Reading()
    cdef dict row
    found = np.ones(len(states), bool)
    cdef unsigned char[::1] are_numbers = found.view(np.uint8)
    for i in range(n):
        row, k = rows[i], 0
        for key, value in row.items():
            p, name, k = places[k], names[k], k + 1
            if p >= 0 and are_numbers[p]:
                if key is not name and key != name:
                    value = row[name]  # (the order may be another one)
                are_numbers[p] = is_number(reading, value, states[p], &x[p, i])
    return found


def read_list(list values, int state, double[::1] x):
    """Read the values of one column as `read_rows` does."""
    cdef Py_ssize_t i
    cdef Reading reading = Reading()
    for i in range(len(values)):
        if not is_number(reading, values[i], state, &x[i]):
            return False
    return True


def read_array(const double[:] values, double[::1] x):
    """Copy numbers; return whether all of them are there and in range."""
    cdef Py_ssize_t i
    cdef bint found = True
    for i in range(values.shape[0]):
        x[i] = values[i]
        found &= fabs(x[i]) <= LARGEST_NUMBER
    return found


cdef inline bint is_number(Reading reading, value, int state, double* x) except -1:
    """Read a value; return whether it is a number in range, and shows nothing else of its column."""
    if type(value) is float:
        x[0] = PyFloat_AS_DOUBLE(value)
    elif not (type(value) is str and not state & COMMA and is_plain(value, x)):
        if reading.read(value, state) != NUMBER or reading.raises:
            return False
        x[0] = reading.number
    return fabs(x[0]) <= LARGEST_NUMBER


cdef bint is_plain(str text, double* value):
    """Read a number of digits, 15 at most, with or without a sign and a point; return False for any other text, and for one that
    may be an id. (A quotient of two doubles that are exact is rounded once: it is what Python reads.)"""
    cdef Py_ssize_t i, n = len(text), n_digits = 0, n_behind = 0
    cdef int64_t digits = 0
    cdef bint has_point = False
    cdef const unsigned char* p = <const unsigned char*>PyUnicode_1BYTE_DATA(text)
    if PyUnicode_KIND(text) != 1 or n > MOST_DIGITS + 2:
        return False
    for i in range(n):
        if 48 <= p[i] <= 57:
            digits, n_digits, n_behind = digits * 10 + (p[i] - 48), n_digits + 1, n_behind + has_point
        elif p[i] == b"." and not has_point:
            has_point = True
        elif p[i] != b"-" or i > 0:
            return False
    if not 0 < n_digits <= MOST_DIGITS or (n >= 5 and p[0] == b"0" and not has_point):
        return False
    value[0] = <double>digits / powers_of_ten[n_behind]
    if p[0] == b"-":
        value[0] = -value[0]
    return True


# --- rows ----------------------------------------------------------------------------------------------------------------------


cdef int compare(const void* a, const void* b) noexcept nogil:
    return (<const int64_t*>a)[0] > (<const int64_t*>b)[0] or -((<const int64_t*>a)[0] < (<const int64_t*>b)[0])


cdef Py_ssize_t add_up(int64_t* keys, const double* values, Py_ssize_t step, Py_ssize_t n, int32_t* columns,
                       double* sums) noexcept nogil:
    """Write the entries of a row in the order of columns, with what shares a column added up, and no zeros; return how many.

    keys : columns * 2^32 + places in values, which are added in the order of these places. step : from a value to the next one.
    """
    cdef Py_ssize_t i, k, size = 0
    cdef int64_t key
    for i in range(1, n):
        if keys[i - 1] > keys[i]:
            break
    else:
        i = n
    if i < n and n > FEW:
        qsort(keys, n, sizeof(int64_t), compare)
    else:
        for i in range(i, n):
            key, k = keys[i], i
            while k > 0 and keys[k - 1] > key:
                keys[k], k = keys[k - 1], k - 1
            keys[k] = key
    for i in range(n):
        if i == 0 or keys[i] >> 32 != keys[i - 1] >> 32:
            if size == 0 or sums[size - 1] != 0.0:
                size += 1
            columns[size - 1], sums[size - 1] = <int32_t>(keys[i] >> 32), 0.0
        sums[size - 1] += values[(keys[i] & 0x7fffffff) * step]
    return size - 1 if size > 0 and sums[size - 1] == 0.0 else size


def assemble(const int32_t[:, ::1] columns, const double[:, ::1] values):
    """Return (data, indices, indptr) of rows; entry [p, i] is one of row i, none where the column is -1 or the value 0."""
    cdef Py_ssize_t i, k, n, total = 0, p, n_parts = columns.shape[0], n_rows = columns.shape[1]
    data, indices, indptr = np.empty(n_parts * n_rows), np.empty(n_parts * n_rows, np.int32), np.zeros(n_rows + 1, np.int64)
    cdef double[::1] out = data
    cdef int32_t[::1] places = indices
    cdef int64_t[::1] ends = indptr, keys = np.empty(n_parts, np.int64)
    # Parts in the order of the first row's columns: mostly that of all rows.
    cdef const int64_t[::1] order = np.argsort(columns[:, 0], kind="stable") if n_rows else np.empty(0, np.int64)
    with nogil:
        for i in range(n_rows):
            n = 0
            for k in range(n_parts):
                p = order[k]
                if columns[p, i] >= 0 and values[p, i] != 0.0:
                    keys[n], n = <int64_t>columns[p, i] << 32 | p, n + 1
            if n:
                total += add_up(&keys[0], &values[0, i], n_rows, n, &places[total], &out[total])
            ends[i + 1] = total
    return data[:total].copy(), indices[:total].copy(), indptr


cdef class RowReader:
    """Read single rows of tables, which are dicts, as one reads a table: by what has been learnt, and learning it or not.

    Columns are read in the order in which they came first. A reader holds nothing but the options of its vectorizer.
    """
    cdef dict hows, forms
    cdef frozenset ignored
    cdef bint is_strict, warns
    cdef int plain
    cdef double clip, keep
    cdef Py_ssize_t slots, n_hashed, most
    cdef object features_of, words_of, notices

    def __init__(self, options, features_of, words_of, notices):
        """Take the function of this name of _parts.py, one from a column's text to columns and values, and what warns."""
        self.hows = {name: options.state_of(name) for name in options.how}
        self.plain = options.state_of("")
        self.forms, self.ignored = options.dates, options.ignore
        self.is_strict, self.warns, self.most = options.unknown == "error", options.unknown == "warn", options.most_columns
        self.clip, self.keep, self.slots, self.n_hashed = options.clip, options.keep, options.slots, options.n_hashed
        self.features_of, self.words_of, self.notices = features_of, words_of, notices

    def read(self, dict row, learnt, bint learn):
        """Return values and columns of a row, and what has been learnt after it; None where the long way has to raise an
        error."""
        cdef RowRead reading = RowRead()
        cdef Py_ssize_t order, last = 0, n_there = 0, n_new = 0, room
        cdef frozenset expected = learnt.expected
        if self.is_strict and (expected is None or expected != row.keys()):
            return None
        reading.start(self, learnt, learn)
        room = self.most - len(reading.columns)
        newest = None
        for name, value in row.items():
            if PyDict_Check(value):
                row = flat(row)
                return None if row is None else self.read(row, learnt, learn)
            if self.ignored and name in self.ignored:
                continue
            known = reading.columns.find(name)
            order = LAST if known is None else (<tuple>known)[ORDER]
            if known is None:
                n_new += 1
            if order < last or not PyUnicode_CheckExact(name) or (n_new > room and known is None and n_new > 1 and name < newest):
                row = in_order(row, reading.columns, room)
                return None if row is None else self.read(row, learnt, learn)
            last = order
            if known is None:
                newest = name if n_new > room else ""
                if not is_valid(name):
                    return None
            if expected is not None:
                n_there += name in expected
            if not reading.cell(name, value, known):
                return None
        if not self.is_strict and (expected is None or n_there < len(expected)) and not reading.lack(row, expected, n_there):
            return None
        return reading.end()


cdef enum:
    ORDER, KINDS_HAD, STATE, ORIGIN     # places in a `Known`
    YOUNG = 1000                        # rows of which a kind of value may be the first of its column without a word
cdef Py_ssize_t LAST = 1 << 62          # the order of a column that is new


cdef dict flat(dict row):
    """Return a row with the values of dicts in it by dotted names; None if two names are the same or one is no text."""
    cdef dict found = {}
    for name, value in row.items():
        if PyDict_Check(value):
            if not PyUnicode_Check(name):
                return None
            pairs = [(f"{name}.{key}" if PyUnicode_Check(key) else None, each) for key, each in (<dict>value).items()]
        else:
            pairs = ((name, value),)
        for key, each in pairs:
            if key is None or key in found:
                return None
            found[key] = each
    return found


cdef dict in_order(dict row, Map columns, Py_ssize_t room):
    """Return a row in the order of columns, new ones last, with texts as names; None if two names are the same or one is none.

    room : new columns that may be noted; others come last, in the order of their names.
    """
    cdef list cells = []
    cdef Py_ssize_t n_new = 0
    for name, value in row.items():
        if PyDict_Check(value):  # (whose own columns have their places)
            row = flat(row)
            return None if row is None else in_order(row, columns, room)
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            name = str(name)
        if not PyUnicode_Check(name):
            return None
        name = PyUnicode_FromObject(name)
        known = columns.find(name)
        n_new += known is None
        is_late = known is None and n_new > room
        order = LAST if known is None else (<tuple>known)[ORDER]
        cells.append((order, is_late, name if is_late else "", len(cells), name, value))
    cells.sort()
    found = {cell[4]: cell[5] for cell in cells}
    return found if len(found) == len(row) else None


cdef class RowRead:
    """Hold a row while it is read.

    learnt : what has been learnt, a copy of it where the row is learnt. column, at, sign : of the last feature that had its place
    looked up; the column is -1 where it has none, and the record is -1 where it is no number's, NEW where it has had no number.
    words : columns and values of texts.
    """
    cdef RowReader reader
    cdef object learnt
    cdef Map columns, features, hashed
    cdef Records records
    cdef Reading value
    cdef bint learn, is_refused, is_young
    cdef Py_ssize_t column, at
    cdef double sign
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
        self.records, self.value, self.words = self.learnt.records, Reading(), []
        self.keys, self.values = NULL, NULL
        self.is_young = learn and learnt.t < YOUNG
        return 0

    cdef bint cell(self, str name, value, known) except -1:
        """Read a cell; return False if an error has to be raised."""
        cdef RowReader reader = self.reader
        how = reader.hows.get(name)
        cdef int state = reader.plain if how is None else how, kind
        if state < 0:
            return self.text(name, value, known)
        if known is not None:
            state |= <int>(<tuple>known)[STATE]
        if state & AS_DATE:
            self.value.form = reader.forms[name]
        cdef int named = named_state(name) if known is None and not state & (AS_NAME | AS_NUMBER | AS_DATE) else 0
        kind = self.value.read(value, state | named)
        self.value.raises |= named
        if self.value.doubt is not None and (self.learn or may_be_told(state)):
            reader.notices.of_doubt(name, value, self.value.doubt, 0)
        if state & (AS_NUMBER | AS_DATE) and kind != MISSING and kind != NONE_THERE:
            if kind != DATE if state & AS_DATE else kind != NUMBER and kind != BOOLEAN:
                return False
        if kind == NUMBER or kind == BOOLEAN:
            if not fabs(self.value.number) <= LARGEST_NUMBER:
                return False
            if known is None and self.learn and 1.9e7 < self.value.number < 2.11e7 and how is None and is_day(self.value.number):
                reader.notices.of_doubt(name, value, "digits", 0)
            self.number(name, self.value.number)
        elif kind == NAME or kind == MISSING:
            feature = f"{name}={self.value.value}" if kind == NAME else f"{name}=?"
            self.name(feature, 1.0)
        elif kind == NONE_THERE:
            return True
        else:
            found = reader.features_of(name, self.value.value, None if known is None else (<tuple>known)[ORIGIN])
            if found is None:
                return False
            features, origin = found
            for feature, x, given in features:
                if x is None:
                    self.name(feature, given)
                else:
                    self.number(feature, x)
            if self.learn and origin is not None and (known is None or (<tuple>known)[ORIGIN] is None):
                self.learnt.see(name, (KINDS[kind],), 0, origin)
        self.see(name, value, known, kind)
        return not self.is_refused

    cdef bint text(self, str name, value, known) except -1:
        """Read a text by its words."""
        cdef int kind = MISSING if validate.is_missing(value) else TEXT
        self.value.raises = 0
        if not self.reader.n_hashed:
            return False
        if value is absent:
            return True
        if kind == MISSING:
            self.name(f"{name}=?", 1.0)
        elif isinstance(value, str | bytes):
            self.words.append(self.reader.words_of(name, value))
        else:
            return False
        self.see(name, value, known, kind)
        return not self.is_refused

    cdef int see(self, str name, value, known, int kind) except -1:
        """Note what a value shows of its column, and warn if the column has had values of other kinds alone."""
        cdef int had = 0 if known is None else (<tuple>known)[STATE], mark = 1 << kind | self.value.raises
        if had & mark == mark:
            return 0
        if not self.is_young and is_new(kind, had):
            self.reader.notices.of_kind(name, value, KINDS[kind], (<tuple>known)[KINDS_HAD], 0)
        if self.learn:
            self.learnt.see(name, (KINDS[kind],), self.value.raises)
        return 0

    cdef bint lack(self, dict row, frozenset expected, Py_ssize_t n_there) except -1:
        """Note or tell that a row lacks columns that all rows before it have had; return False if it is no row of the table."""
        cdef RowReader reader = self.reader
        if expected is None:
            if self.learn:
                self.learnt.expected = frozenset(row) - reader.ignored
            return True
        lacking = frozenset([name for name in expected.difference(row) if not self.has_none(row, name)])
        if not lacking:
            return True
        n_there = len(expected) - len(lacking)
        if reader.warns and not self.is_young and self.learnt.is_regular:
            if not self.learn and 2 * n_there < len(expected):
                return False
            if not self.learn or 2 * n_there < len(expected):
                reader.notices.of_lacking(lacking, [name for name in row if name not in expected], 0)
        if self.learn:
            self.learnt.expected = expected - lacking
        return True

    cdef bint has_none(self, dict row, str name) except -1:
        """Return True if a dict that a column is of is missing from a row, as a value that is None or so."""
        for whole in dicts_of(name) if "." in name else ():
            if whole in row and self.value.read(row[whole], 0) == MISSING:
                return True
        return False

    cdef int find(self, str feature, bint is_number) except -1:
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
        elif self.reader.is_strict and not feature.endswith("=?"):
            self.is_refused = True
        return 0

    cdef int number(self, str feature, double x) except -1:
        """Learn a number if it is to be learnt, and add it to the row, standardised."""
        cdef double[N_RECORD] none
        cdef double* record
        cdef double value = 0.0
        self.find(feature, True)
        if self.at >= 0 and self.learn:
            record = self.records.to_change(self.at)
            take(record, x, 1.0, self.reader.keep)
            value = standard(record, x, self.reader.clip)
        elif self.at >= 0:
            value = standard(self.records.at(self.at), x, self.reader.clip)
        elif self.at == NEW:
            none[N], none[MEAN], none[SQUARES], none[NOT_BINARY] = 0.0, 0.0, 0.0, 0.0
            value = standard(none, x, self.reader.clip)
        return self.add(self.column, self.sign * value)

    cdef int name(self, str feature, double value) except -1:
        """Add a feature of this value to the row."""
        self.find(feature, False)
        return self.add(self.column, self.sign * value)

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
            size = add_up(self.keys, self.values, 1, self.n, &columns[0], &values[0])
        if self.learn:
            self.learnt.t += 1
        return found[:size], where[:size], self.learnt
