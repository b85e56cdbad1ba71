"""Typed values of tables to rows of numbers: one loop over cells, whatever holds them.

A cell gives features of its column, each of which has a place in the rows: a column of its own while there are any, else a
hashed one. A place is 2 * column, + 1 where the value changes its sign.
"""
cimport cython
from cpython cimport PyDict_GetItem, PyDict_Next, PyErr_CheckSignals, PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython cimport PyLong_AsLongLong, PyLong_Check, PyObject
from libc.math cimport fabs, isnan, sqrt
from libc.stdint cimport INT64_MIN, int32_t, int64_t
from libc.stdlib cimport free, llabs, realloc

from .._hashing.murmur cimport murmur3
from .._rows cimport Rows, new_array, start_of
from numpy cimport NPY_FLOAT64, NPY_INT32, NPY_INT64

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np

from .._files import require
from .._input.validate import brief
from .._rows import FLOAT64

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(object o)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* n) except NULL
    double PyLong_AsDouble(object o) except? -1.0

cdef enum:
    NONE = -1                           # the place of what has none
    NUMBER, SECONDS, MISSING            # keys of a column's features (a text is its own),
    MONTH = 100                         # and of parts of a date, to be added to
    WEEKDAY = 200
    HOUR = 300
    DEEPEST = 64                        # lists and dicts within each other
    MOST = 65_536                       # columns that are noted at most, unless more features have a column of their own
cdef dict ENDS = {                      # of features' names, by their keys
    NUMBER: "", SECONDS: ".seconds", MISSING: "=?", **{MONTH + k: f".month={k}" for k in range(1, 13)},
    **{WEEKDAY + k: f".weekday={k}" for k in range(7)}, **{HOUR + k: f".hour={k}" for k in range(24)},
}
cdef double LARGEST = 1e150
cdef int64_t HOURS = 3_600_000_000, DAYS = 86_400_000_000       # in microseconds
LATEST = 290_000                        # years from 1970
cdef object EPOCH = datetime(1970, 1, 1), NO_TIME = timedelta(), MICROSECOND = timedelta(microseconds=1)

ctypedef struct Sums:
    double n, mean, squares             # weight, mean, and sum of squared deviations of the numbers so far

ctypedef struct Number:
    int64_t place
    Sums sums, before                   # and what they were before the last call that changed them,
    int64_t call                        # the number of that call,
    Py_ssize_t next                     # and the number that it changed before this one

ctypedef struct Entry:
    int64_t key                         # column << 32 | its number in the row
    double value

ctypedef struct Held:                   # a column of a table: one of the first three, or values that each say what they are
    const double* numbers
    const int64_t* times
    const int32_t* codes
    int64_t* places                     # of codes, NONE where one has not been looked up


@cython.final
cdef class Column:
    """Hold what is known of a column: places of its features that are not hashed, and of its `Number` of NUMBER and SECONDS."""
    cdef str name
    cdef dict places
    cdef bint is_noted
    cdef Py_ssize_t[2] numbers

    def __init__(self, str name, bint is_noted):
        self.name, self.places, self.is_noted = name, {}, is_noted
        self.numbers[0], self.numbers[1] = NONE, NONE


def feature_of(str column, key):
    """Return the name of a feature."""
    return f"{column}={key}" if isinstance(key, str) else column + ENDS[key]


def are_dicts(table):
    """Return True for a list of dicts, which is read as it is."""
    return type(table) is list and all(type(row) is dict for row in <list>table)


cdef void* grown(void* memory, Py_ssize_t* room, size_t size) except NULL:
    cdef void* found = realloc(memory, (2 * room[0] + 64) * size)
    if found == NULL:
        raise MemoryError("TableVectorizer: rows must have memory, got none.")
    room[0] = 2 * room[0] + 64
    return found


@cython.final
cdef class Cells:
    """Hold what a `TableVectorizer` has learnt, and run the loop that learns it.

    A call that learns keeps what it changes, so that `exchange` takes the call back, or makes it again. columns : by their names.
    features, owners : (column, key) of those with a column of their own, in the order of these, and of all numbers.
    """
    cdef str who
    cdef readonly Py_ssize_t n_own, n_hashed
    cdef Py_ssize_t room, changed, row
    cdef double clip, weight
    cdef frozenset ignored
    cdef object dtype
    cdef readonly dict columns
    cdef public dict same                   # the vectorizer's parameters when they were last checked; or None
    cdef list features, owners, layout      # layout : columns of the dict before, most of which the next one has
    cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t) sizes     # of columns, features and owners before the call
    cdef tuple gone                         # what has been taken back of them; None: the call stands
    cdef Number* numbers
    cdef int64_t call
    cdef bint learn
    cdef int depth
    cdef Entry* entries                     # of the rows made so far
    cdef Py_ssize_t n, n_room, first        # first : of the row at hand

    def __init__(self, str who, Py_ssize_t n_own, Py_ssize_t n_hashed):
        self.who, self.n_own, self.n_hashed, self.columns, self.features, self.owners = who, n_own, n_hashed, {}, [], []
        self.configure(10.0, frozenset(), None)
        self.begin(False)

    def __dealloc__(self):
        free(self.numbers)

    def __reduce__(self):
        return rebuilt, (*self.described(), self.who, self.n_own, self.n_hashed)

    def configure(self, double clip, frozenset ignored, dtype):
        self.clip, self.ignored, self.dtype, self.layout = clip, ignored, dtype, []

    cdef refuse(self, kind, needed, came, Column column, do):
        raise kind(f"{self.who}: {needed}, got {brief(came)} in column {brief(column.name)} of row {self.row}. {do}")

    cdef Column column(self, name):
        """Return the column of this name, which is noted if the call learns; None if it is ignored."""
        if not isinstance(name, str):
            if isinstance(name, bool) or not isinstance(name, int | np.integer):
                raise TypeError(f"{self.who}: names of columns must be texts or integers, got {brief(name)} in row {self.row}.")
            name = str(int(name))
        name = str.__str__(name)
        if name in self.ignored:
            return None
        found = self.columns.get(name)
        if found is None:
            found = Column(name, self.learn and len(self.columns) < max(MOST, self.n_own))
            if (<Column>found).is_noted:
                self.columns[name] = found
        return <Column>found

    cdef inline int64_t place(self, Column column, key) except -2:
        cdef PyObject* found = PyDict_GetItem(column.places, key)
        return PyLong_AsLongLong(<object>found) if found != NULL else self.new_place(column, key)

    cdef int64_t new_place(self, Column column, key) except -2:
        """Return the place of a feature that has no known one; if the call learns and one is left, a column of its own."""
        cdef int64_t found, h
        cdef Py_ssize_t n
        cdef bint is_full = len(self.features) == self.n_own
        if not (self.n_hashed if is_full else self.learn and column.is_noted):
            return NONE
        feature = feature_of(column.name, key)
        try:
            h = <int32_t>murmur3(<const unsigned char*>PyUnicode_AsUTF8AndSize(feature, &n), n, 0)
        except UnicodeEncodeError:
            self.refuse(ValueError, "names and texts must be valid Unicode", feature, column, "Read it with the right encoding.")
        if is_full:
            return 2 * (self.n_own + llabs(h) % self.n_hashed) + (h < 0)
        found = column.places[key] = 2 * len(self.features)
        self.features.append((column, key))
        return found

    cdef Py_ssize_t number_of(self, Column column, int key) except -2:
        """Return the place of the `Number` of a column; NONE if there is none, and the call does not learn."""
        cdef Py_ssize_t at = column.numbers[key]
        if at >= 0 or not (self.learn and column.is_noted):
            return at
        at = len(self.owners)
        if at == self.room:
            self.numbers = <Number*>grown(self.numbers, &self.room, sizeof(Number))
        self.numbers[at] = Number(self.new_place(column, key), Sums(0.0, 0.0, 0.0), Sums(0.0, 0.0, 0.0), 0, NONE)
        self.owners.append((column, key))
        column.numbers[key] = at
        return at

    cdef inline int put(self, int64_t place, double value) except -1:
        if place < 0 or value == 0.0:
            return 0
        if self.n == self.n_room:
            self.entries = <Entry*>grown(self.entries, &self.n_room, sizeof(Entry))
        self.entries[self.n].key = (place >> 1) << 32 | (self.n - self.first)
        self.entries[self.n].value = -value if place & 1 else value
        self.n += 1
        return 0

    cdef void end_row(self) noexcept:
        """Put the entries of a row in the order of columns, by Shell's sort, and add up those of one column."""
        cdef Py_ssize_t k, j = 0, n = self.n - self.first, gap = 1
        cdef Entry* row = self.entries + self.first
        cdef Entry entry
        while 32 * gap < n:
            gap = 3 * gap + 1
        while gap > 0:
            for k in range(gap, n):
                entry, j = row[k], k
                while j >= gap and row[j - gap].key > entry.key:
                    row[j] = row[j - gap]
                    j -= gap
                row[j] = entry
            gap //= 3
        j = 0
        for k in range(n):
            if k > 0 and row[j - 1].key >> 32 == row[k].key >> 32:
                row[j - 1].value += row[k].value
            else:
                row[j] = row[k]
                j += 1
        self.first += j
        self.n = self.first

    cdef made(self, indptr):
        """Return the entries as `Rows`; without hashed columns as an array."""
        cdef Py_ssize_t i, k, n, n_rows = len(indptr) - 1, width = 0 if self.n_hashed else self.n_own
        data = np.zeros(n_rows * width) if width else new_array(self.n, NPY_FLOAT64)
        indices = new_array(0 if width else self.n, NPY_INT32)
        cdef double* values = <double*>start_of(data, &n, True)
        cdef int32_t* columns = <int32_t*>start_of(indices, &n, True)
        cdef const int64_t* ends = <const int64_t*>start_of(indptr, &n)
        for i in range(n_rows if width else 0):
            for k in range(ends[i], ends[i + 1]):
                values[i * width + (self.entries[k].key >> 32)] = self.entries[k].value
        for k in range(0 if width else self.n):
            values[k], columns[k] = self.entries[k].value, <int32_t>(self.entries[k].key >> 32)
        data = data if self.dtype is FLOAT64 else data.astype(self.dtype)
        return data.reshape(n_rows, width) if width else Rows(data, indices, indptr, n_rows, self.n_own + self.n_hashed)

    cdef int number(self, Column column, int key, double x) except -1:
        """Read a number: it is learnt if the call learns, and standardised."""
        cdef Py_ssize_t at = column.numbers[key]
        cdef Number* number
        cdef double d, value
        if not fabs(x) <= LARGEST:
            needed = f"numbers must be finite and within ±{LARGEST:g}"
            self.refuse(ValueError, needed, x, column, "Give None for what is missing.")
        if at < 0:
            at = self.number_of(column, key)
            if at < 0:
                return 0
        number = self.numbers + at
        if self.learn:
            if number.call != self.call:
                number.before = number.sums
                number.call, number.next, self.changed = self.call, self.changed, at
            number.sums.n += self.weight
            d = x - number.sums.mean
            number.sums.mean += d * (self.weight / number.sums.n)
            number.sums.squares += d * (x - number.sums.mean) * self.weight
        d = number.sums.squares / number.sums.n
        if not d > 0.0:                     # (sums of large weights may have left the range of numbers)
            return 0
        value = (x - number.sums.mean) / sqrt(d)
        return self.put(number.place, self.clip if value > self.clip else -self.clip if value < -self.clip else value)

    cdef int missing(self, Column column) except -1:
        return self.put(self.place(column, MISSING), 1.0)

    cdef int dated(self, Column column, int64_t t) except -1:
        """Read a time in microseconds since 1970, which is missing if it is the least."""
        cdef int64_t day = t // DAYS - (t % DAYS < 0), era, of_era, year, month
        if t == INT64_MIN:
            return self.missing(column)
        self.number(column, SECONDS, t / 1e6)
        era = (day + 719_468) // 146_097 - ((day + 719_468) % 146_097 < 0)      # (of 400 years that begin in March)
        of_era = day + 719_468 - era * 146_097
        year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
        month = (5 * (of_era - (365 * year + year // 4 - year // 100)) + 2) // 153
        self.put(self.place(column, MONTH + (month + 3 if month < 10 else month - 9)), 1.0)
        self.put(self.place(column, WEEKDAY + (day % 7 + 10) % 7), 1.0)
        return self.put(self.place(column, HOUR + (t - day * DAYS) // HOURS), 1.0)

    cdef inline int cell(self, Column column, value) except -1:
        """Read a value that says what it is."""
        cdef double x
        if PyFloat_CheckExact(value):
            x = PyFloat_AS_DOUBLE(value)
            return self.missing(column) if isnan(x) else self.number(column, NUMBER, x)
        if PyUnicode_CheckExact(value):
            return self.put(self.place(column, value), 1.0)
        if value is None:
            return self.missing(column)
        if value is True or value is False:
            return self.put(self.place(column, "True" if value is True else "False"), 1.0)
        return self.others(column, value)

    cdef int others(self, Column column, value) except -1:
        cdef Column inner
        cdef bint is_dict
        if PyLong_Check(value):
            try:
                return self.number(column, NUMBER, PyLong_AsDouble(value))
            except OverflowError:
                return self.number(column, NUMBER, float("inf"))
        if isinstance(value, float | np.floating | Decimal):
            return self.cell(column, float(value))
        if isinstance(value, str):
            return self.cell(column, str.__str__(value))
        if isinstance(value, date):
            if value != value:
                return self.missing(column)
            value = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
            value = value.replace(tzinfo=None) - EPOCH - (value.utcoffset() or NO_TIME)
            return self.dated(column, value // MICROSECOND)
        if isinstance(value, np.datetime64):
            if value == value and abs(value.astype("datetime64[Y]").astype(np.int64)) > LATEST:
                self.refuse(ValueError, f"times must be within {LATEST:,} years of 1970", value, column, "Correct it.")
            return self.dated(column, value.astype("datetime64[us]").astype(np.int64))
        if type(value).__name__ == "NAType":        # (of pandas)
            return self.missing(column)
        if isinstance(value, np.bool_ | np.integer | np.ndarray) and not isinstance(value, np.timedelta64):
            return self.cell(column, value.tolist() if value.dtype.kind not in "mM" else list(value))
        is_dict = isinstance(value, Mapping)
        if not is_dict and not isinstance(value, list | tuple):
            needed = "a value must be a number, a text, a boolean, a date, a list, a dict or None"
            self.refuse(TypeError, needed, value, column, "Make it one of these, or ignore the column.")
        if self.depth == DEEPEST:
            self.refuse(ValueError, f"lists and dicts must be at most {DEEPEST} deep", value, column, "Flatten them.")
        self.depth += 1
        for key, each in value.items() if is_dict else enumerate(value):
            inner = column if not is_dict and isinstance(each, str) else self.column(f"{column.name}.{key}")
            if inner is not None:
                self.cell(inner, each)
        self.depth -= 1
        return 0

    cdef int read_dict(self, dict row) except -1:
        cdef PyObject *name, *value
        cdef Py_ssize_t at = 0, k = 0
        cdef Column column
        while PyDict_Next(row, &at, &name, &value):
            if k < len(self.layout) and PyUnicode_CheckExact(<object>name) and (<Column>self.layout[k]).name == <str>name:
                column = <Column>self.layout[k]
            else:
                column = self.column(<object>name)
                if self.learn and column is not None and column.is_noted:
                    del self.layout[k:]
                    self.layout.append(column)
            if column is not None:
                self.cell(column, <object>value)
            k += 1
        return 0

    cdef int read_held(self, list columns, const Held* held, list values, Py_ssize_t i) except -1:
        cdef Py_ssize_t k
        cdef double x
        cdef int32_t code
        cdef Column column
        for k in range(len(columns)):
            column = <Column>columns[k]
            if column is None:
                continue
            if held[k].numbers != NULL:
                x = held[k].numbers[i]
                self.missing(column) if isnan(x) else self.number(column, NUMBER, x)
            elif held[k].codes != NULL:
                code = held[k].codes[i]
                if code >= 0 and held[k].places[code] < 0:
                    held[k].places[code] = self.place(column, (<list>values[k])[code])
                self.missing(column) if code < 0 else self.put(held[k].places[code], 1.0)
            elif held[k].times != NULL:
                self.dated(column, held[k].times[i])
            else:
                self.cell(column, (<list>values[k])[i])
        return 0

    def read(self, list table, bint by_rows, Py_ssize_t n_rows, weights, bint learn, bint keep=True):
        """Return the rows of a table. What has been learnt of it is taken back after an error, or if it is not to be kept.

        table : by_rows a list of dicts, else of `Column` (_columns.py). weights : of rows, or None.
        """
        cdef list texts, columns = [], values = [], kept = []
        cdef Py_ssize_t i, k, n, room = len(table)
        cdef const double* given = NULL if weights is None else <const double*>start_of(weights, &n)
        cdef Held* held = <Held*>grown(NULL, &room, sizeof(Held)) if n_rows and not by_rows else NULL
        indptr = new_array(n_rows + 1, NPY_INT64)
        cdef int64_t* ends = <int64_t*>start_of(indptr, &n, True)
        ends[0] = 0
        self.row, self.depth, self.weight, self.n, self.first = 0, 0, 1.0, 0, 0
        self.begin(learn)
        try:
            for k in range(len(table) if held != NULL else 0):
                name, array, texts = table[k]
                columns.append(self.column(name))
                values.append(texts)
                held[k] = Held(NULL, NULL, NULL, NULL)
                if array is None:
                    continue
                array, places = np.require(array, None, "CA"), np.full(len(texts or "") + 1, NONE, np.int64)
                kept += array, places
                if array.dtype == np.float64:
                    held[k].numbers = <const double*>start_of(array, &n)
                elif array.dtype == np.int64:
                    held[k].times = <const int64_t*>start_of(array, &n)
                else:
                    held[k].codes = <const int32_t*>start_of(array, &n)
                    held[k].places = <int64_t*>start_of(places, &n, True)
            for i in range(n_rows):
                if not i & 1023:
                    PyErr_CheckSignals()
                self.row, self.weight = i, given[i] if given != NULL else 1.0
                if self.weight > 0.0:
                    self.read_dict(<dict>table[i]) if by_rows else self.read_held(columns, held, values, i)
                    self.end_row()
                ends[i + 1] = self.n
            rows = self.made(indptr)
            if not keep:
                self.exchange()
            return rows
        except BaseException:
            self.exchange()
            raise
        finally:
            free(held)
            free(self.entries)
            self.entries, self.n_room = NULL, 0

    cdef begin(self, bint learn):
        self.learn, self.call, self.changed, self.gone = learn, self.call + 1, NONE, None
        self.sizes = len(self.columns), len(self.features), len(self.owners)

    def exchange(self, bint again=False):
        """Take the last call back; again : make it again, if it has been taken back."""
        cdef Py_ssize_t k = self.changed, n_columns, n_features, n_owners
        cdef Column column
        if again == (self.gone is None):
            return
        while k >= 0:
            self.numbers[k].sums, self.numbers[k].before = self.numbers[k].before, self.numbers[k].sums
            k = self.numbers[k].next
        if again:
            self.columns.update(self.gone[0])
            for column, key in self.gone[1]:
                column.places[key] = 2 * len(self.features)
                self.features.append((column, key))
            for column, key in self.gone[2]:
                column.numbers[<int>key] = len(self.owners)
                self.owners.append((column, key))
            self.gone = None
            return
        n_columns, n_features, n_owners = self.sizes
        self.gone = (), (), ()
        if len(self.columns) > n_columns or len(self.features) > n_features or len(self.owners) > n_owners:
            columns = [self.columns.popitem() for _ in range(len(self.columns) - n_columns)]
            self.gone = columns[::-1], self.features[n_features:], self.owners[n_owners:]
            del self.features[n_features:], self.owners[n_owners:]
            for column, key in self.gone[2]:
                column.numbers[<int>key] = NONE
            for column, key in self.gone[1]:
                del column.places[key]
            if columns:
                self.layout = []

    def described(self):
        """Describe what has been learnt by what JSON holds, and arrays."""
        pairs = [[[(<Column>column).name, key] for column, key in each] for each in (self.features, self.owners)]
        sums = np.array([(self.numbers[k].sums.n, self.numbers[k].sums.mean, self.numbers[k].sums.squares)
                         for k in range(len(self.owners))], np.float64).reshape(-1, 3)
        return {"columns": list(self.columns), "features": pairs[0], "numbers": pairs[1]}, {"sums": sums}

    cdef adopt(self, dict header):
        """Learn the columns and features of a description, in its order."""
        self.begin(True)
        for name in header["columns"]:
            self.column(name)
        for name, key in header["features"] + header["numbers"]:
            self.number_of(self.column(name), key) if key in (NUMBER, SECONDS) else self.place(self.column(name), key)

    def take_in(self, Cells other):
        """Add what another one has learnt from rows of its own, by Chan's sums; its features come behind those here."""
        cdef Sums *a, *b
        cdef Py_ssize_t k, at
        cdef double n, d
        ignored, self.ignored = self.ignored, frozenset()
        self.adopt(other.described()[0])
        for k, (column, key) in enumerate(other.owners):
            at = self.number_of(self.column((<Column>column).name), key)
            if at >= 0 and other.numbers[k].sums.n > 0.0:
                a, b = &self.numbers[at].sums, &other.numbers[k].sums
                n, d = a.n + b.n, b.mean - a.mean
                a.squares += b.squares + d * d * (a.n * b.n / n)
                a.mean += d * (b.n / n)
                a.n = n
        self.ignored = ignored


def rebuilt(dict header, dict arrays, str who, Py_ssize_t n_own, Py_ssize_t n_hashed):
    """Rebuild what has been learnt from a description that need not be trusted."""
    cdef Cells found = Cells(who, n_own, n_hashed)
    cdef Py_ssize_t k
    sums, keys = arrays["sums"], [key for _, key in header["features"] + header["numbers"]]
    require(all([type(key) is str or (type(key) is int and key in ENDS) for key in keys]), "keys of features", len(keys))
    found.adopt(header)
    require(found.described()[0] == header, "columns and features as learning leaves them", len(keys))
    right = sums.dtype == np.float64 and sums.shape == (len(found.owners), 3) and np.isfinite(sums[:, :2]).all()
    require(bool(right and (sums[:, ::2] >= 0.0).all()), "sums as learning leaves them", sums.shape)
    for k, (n, mean, squares) in enumerate(sums.tolist()):
        found.numbers[k].sums = Sums(n, mean, squares)
    found.begin(False)
    return found
