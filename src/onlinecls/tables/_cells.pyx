"""Typed values of tables to rows of numbers: one loop over cells, whatever holds them.

A cell gives features of its column, each of which has a place in the rows: a column of its own while there are any, else a
hashed one. A place is 2 * column, + 1 where the value changes its sign.
"""
cimport cython
from cpython.dict cimport PyDict_GetItem, PyDict_Next
from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLong, PyLong_Check
from cpython.object cimport PyObject
from libc.math cimport fabs, isnan, sqrt
from libc.stdint cimport INT64_MIN, int32_t, int64_t
from libc.stdlib cimport free, llabs, qsort, realloc

from .._hashing.murmur cimport murmur3
from .._rows cimport start_of

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from operator import index

import numpy as np

from .._files import require
from .._input.validate import brief

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(object o)
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* n) except NULL
    double PyLong_AsDouble(object o) except? -1.0

cdef enum:
    NUMBERS, DATES, CODES, VALUES       # kinds of columns of a table (_columns.py)

cdef enum:
    NONE = -1                           # the place of what has none
    NUMBER, SECONDS, MISSING            # keys of a column's features; a text is its own
    MONTH = 100                         # of parts of a date, to be added to
    WEEKDAY = 200
    HOUR = 300
    FEW = 32                            # entries of a row that are sorted by insertion at most
    DEEPEST = 64                        # lists and dicts within each other
    MOST = 65_536                       # columns that are noted at most, unless more features have a column of their own
cdef double LARGEST = 1e150
cdef int64_t HOURS = 3_600_000_000, DAYS = 86_400_000_000       # in microseconds
cdef dict PARTS = {MONTH: "month", WEEKDAY: "weekday", HOUR: "hour"}

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

ctypedef struct Held:
    int kind                            # of a column of a table
    char* data
    Py_ssize_t step
    int64_t* places                     # of codes, NONE where one has not been looked up


@cython.final
cdef class Column:
    """What is known of a column: places of its features, but hashed texts; the places of its `Number` of NUMBER and SECONDS."""
    cdef str name
    cdef dict places
    cdef bint is_noted
    cdef Py_ssize_t[2] numbers

    def __init__(self, str name, bint is_noted):
        self.name, self.places, self.is_noted = name, {}, is_noted
        self.numbers[0], self.numbers[1] = NONE, NONE


cdef str feature_of(Column column, key):
    """Return the name of a feature."""
    if isinstance(key, str):
        return f"{column.name}={key}"
    if key >= MONTH:
        return f"{column.name}.{PARTS[key // 100 * 100]}={key % 100}"
    return (column.name, f"{column.name}.seconds", f"{column.name}=?")[key]


cdef int in_order(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const Entry*>a).key, y = (<const Entry*>b).key
    return (x > y) - (x < y)


cdef void* grown(void* memory, Py_ssize_t* room, size_t size) except NULL:
    cdef void* found = realloc(memory, (2 * room[0] + 64) * size)
    if found == NULL:
        raise MemoryError("TableVectorizer: rows must have memory, got none.")
    room[0] = 2 * room[0] + 64
    return found


@cython.final
cdef class Out:
    """The rows made so far: entries of a CSR matrix, or an array."""
    cdef Entry* entries
    cdef Py_ssize_t n, room, first
    cdef double* dense
    cdef int64_t* ends
    cdef object array

    def __init__(self, Py_ssize_t n_rows, Py_ssize_t n_own, bint is_dense):
        cdef Py_ssize_t n
        self.array = np.zeros(n_rows * n_own) if is_dense else np.zeros(n_rows + 1, np.int64)
        if is_dense:
            self.dense = <double*>start_of(self.array, 8, &n, True)
        else:
            self.ends = <int64_t*>start_of(self.array, 8, &n, True)

    def __dealloc__(self):
        free(self.entries)

    cdef inline int put(self, int64_t place, double value) except -1:
        if place < 0 or value == 0.0:
            return 0
        if self.ends == NULL:
            self.dense[place >> 1] += value
            return 0
        if self.n == self.room:
            self.entries = <Entry*>grown(self.entries, &self.room, sizeof(Entry))
        self.entries[self.n].key = (place >> 1) << 32 | (self.n - self.first)
        self.entries[self.n].value = -value if place & 1 else value
        self.n += 1
        return 0

    cdef void end_row(self, Py_ssize_t i, Py_ssize_t n_own) noexcept:
        """Put the entries of a row in the order of columns, and add up those of one column."""
        cdef Py_ssize_t k, j, n = self.n - self.first
        cdef Entry* row = self.entries + self.first
        cdef Entry entry
        if self.ends == NULL:
            self.dense += n_own
            return
        if n > FEW:
            qsort(row, n, sizeof(Entry), in_order)
        for k in range(1, n if n <= FEW else 0):
            entry, j = row[k], k
            while j > 0 and row[j - 1].key > entry.key:
                row[j] = row[j - 1]
                j -= 1
            row[j] = entry
        j = 0
        for k in range(n):
            if k > 0 and row[j - 1].key >> 32 == row[k].key >> 32:
                row[j - 1].value += row[k].value
            else:
                row[j] = row[k]
                j += 1
        self.first += j
        self.n = self.ends[i + 1] = self.first

    cdef take(self, Py_ssize_t n_own):
        """Return the array, or data, indices and indptr."""
        cdef Py_ssize_t k, n
        cdef double* values
        cdef int32_t* columns
        if self.ends == NULL:
            return self.array.reshape(-1, n_own)
        data, indices = np.empty(self.n), np.empty(self.n, np.int32)
        values, columns = <double*>start_of(data, 8, &n, True), <int32_t*>start_of(indices, 4, &n, True)
        for k in range(self.n):
            values[k], columns[k] = self.entries[k].value, <int32_t>(self.entries[k].key >> 32)
        return data, indices, self.array


@cython.final
cdef class Cells:
    """What a `TableVectorizer` has learnt, and the loop that learns it.

    A call that learns keeps what it changes, so that `exchange` takes the call back, or makes it again. columns : by their names.
    features, owners : (column, key) of those with a column of their own, in the order of these, and of all numbers. words : None,
    or what hashed columns stand for: name, whether others share it, sign.
    """
    cdef str who
    cdef readonly Py_ssize_t n_own, n_hashed
    cdef Py_ssize_t n_words, room, changed, row
    cdef readonly dict words
    cdef double clip, weight
    cdef frozenset ignored
    cdef dict columns
    cdef list features, owners, layout      # layout : columns of the dict before
    cdef Number* numbers
    cdef int64_t call
    cdef list added                         # places of the call: (column, key, place)
    cdef tuple sizes, gone                  # of columns, features and owners before the call; what has been taken back of them
    cdef bint learn
    cdef int depth
    cdef Out out

    def __init__(self, str who, Py_ssize_t n_own, Py_ssize_t n_hashed, double clip=10.0, frozenset ignored=frozenset()):
        self.who, self.n_own, self.n_hashed, self.clip, self.ignored = who, n_own, n_hashed, clip, ignored
        self.columns, self.features, self.owners, self.layout = {}, [], [], []
        self.begin(False)

    def __dealloc__(self):
        free(self.numbers)

    def __reduce__(self):
        return rebuilt, (*self.described(), self.who, self.n_own, self.n_hashed, self.clip, self.ignored)

    def configure(self, double clip, frozenset ignored):
        """Take the parameters that may change between calls."""
        self.clip, self.ignored, self.layout = clip, ignored, []

    # --- features -----------------------------------------------------------------------------------------------------------

    cdef Column column(self, name):
        """Return the column of this name, which is noted if the call learns; None if it is ignored."""
        if not isinstance(name, str):
            if isinstance(name, bool) or not isinstance(name, int | np.integer):
                raise TypeError(f"{self.who}: names of columns must be texts or integers, got {brief(name)} in row {self.row}.")
            name = str(index(name))
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
        cdef int64_t found = 2 * len(self.features), h
        cdef Py_ssize_t n
        cdef bint is_kept = self.learn and column.is_noted, is_full = len(self.features) == self.n_own
        if not (self.n_hashed if is_full else is_kept):
            return NONE
        feature = feature_of(column, key)
        try:
            h = <int32_t>murmur3(<const unsigned char*>PyUnicode_AsUTF8AndSize(feature, &n), n, 0)
        except UnicodeEncodeError:
            raise ValueError(
                f"{self.who}: names and texts must be valid Unicode, got {brief(feature)} in row {self.row}. Half of a surrogate "
                "pair stands for nothing: read the text with the right encoding."
            ) from None
        if not is_full:
            self.features.append((column, key))
        else:
            found = 2 * (self.n_own + llabs(h) % self.n_hashed) + (h < 0)
            if self.words is not None:
                known = self.words.get(found >> 1)
                if known is not None or len(self.words) < self.n_words:
                    known = known or (feature, False, -1 if found & 1 else 1)
                    self.words[found >> 1] = known[0], known[1] or known[0] != feature, known[2]
        if is_kept and key not in (NUMBER, SECONDS) and not (is_full and isinstance(key, str)):    # (texts have no end)
            column.places[key] = found
            self.added.append((column, key, found))
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

    def keep_words(self, Py_ssize_t n):
        """Note up to n hashed columns from now on."""
        self.words, self.n_words = {}, n

    # --- cells --------------------------------------------------------------------------------------------------------------

    cdef int number(self, Column column, int key, double x) except -1:
        """Read a number: it is learnt if the call learns, and standardised."""
        cdef Py_ssize_t at = column.numbers[key]
        cdef Number* number
        cdef double d, value
        if not fabs(x) <= LARGEST:
            raise ValueError(
                f"{self.who}: numbers must be finite and within ±{LARGEST:g}, got {x!r} in column {brief(column.name)} of row "
                f"{self.row}. Give None for what is missing."
            )
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
            number.sums.squares += self.weight * d * (x - number.sums.mean)
        if not number.sums.squares > 0.0:
            return 0
        value = (x - number.sums.mean) / sqrt(number.sums.squares / number.sums.n)
        return self.out.put(number.place, self.clip if value > self.clip else -self.clip if value < -self.clip else value)

    cdef int missing(self, Column column) except -1:
        return self.out.put(self.place(column, MISSING), 1.0)

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
        self.out.put(self.place(column, MONTH + (month + 3 if month < 10 else month - 9)), 1.0)
        self.out.put(self.place(column, WEEKDAY + (day % 7 + 10) % 7), 1.0)
        return self.out.put(self.place(column, HOUR + (t - day * DAYS) // HOURS), 1.0)

    cdef inline int cell(self, Column column, value) except -1:
        """Read a value that says what it is."""
        cdef double x
        if PyFloat_CheckExact(value):
            x = PyFloat_AS_DOUBLE(value)
            return self.missing(column) if isnan(x) else self.number(column, NUMBER, x)
        if PyUnicode_CheckExact(value):
            return self.out.put(self.place(column, value), 1.0)
        if value is None:
            return self.missing(column)
        if value is True or value is False:
            return self.out.put(self.place(column, "True" if value is True else "False"), 1.0)
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
            return self.missing(column) if value != value else self.dated(column, microseconds(value))
        if isinstance(value, np.datetime64):
            return self.dated(column, microseconds_of(self.who, np.array([value]), column.name, self.row).item())
        if isinstance(value, np.bool_ | np.integer):
            return self.cell(column, value.item())
        if type(value).__name__ == "NAType":        # (of pandas)
            return self.missing(column)
        if isinstance(value, np.ndarray):
            value = list(value) if value.dtype.kind in "mM" and value.ndim else value.tolist()
        is_dict = isinstance(value, Mapping)
        if not is_dict and not isinstance(value, list | tuple):
            raise TypeError(
                f"{self.who}: a value must be a number, a text, a boolean, a date, a list, a dict or None, got {brief(value)} in "
                f"column {brief(column.name)} of row {self.row}. Make it one of these, or ignore the column."
            )
        if self.depth == DEEPEST:
            raise ValueError(
                f"{self.who}: lists and dicts must be at most {DEEPEST} deep, got more in column {brief(column.name)} of row "
                f"{self.row}. Flatten them."
            )
        self.depth += 1
        for key, each in value.items() if is_dict else enumerate(value):
            inner = column if not is_dict and isinstance(each, str) else self.column(f"{column.name}.{key}")
            if inner is not None:
                self.cell(inner, each)
        self.depth -= 1
        return 0

    # --- rows ---------------------------------------------------------------------------------------------------------------

    cdef int read_dict(self, dict row) except -1:
        cdef PyObject* name
        cdef PyObject* value
        cdef Py_ssize_t at = 0, k = 0
        cdef Column column
        while PyDict_Next(row, &at, &name, &value):
            if k < len(self.layout) and <PyObject*>(<Column>self.layout[k]).name == name:
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

    cdef int read_held(self, list columns, Held* held, list names, Py_ssize_t i) except -1:
        cdef Py_ssize_t k
        cdef double x
        cdef int32_t code
        cdef Column column
        for k in range(len(columns)):
            column = <Column>columns[k]
            if held[k].kind == NUMBERS:
                x = (<double*>(held[k].data + i * held[k].step))[0]
                if isnan(x):
                    self.missing(column)
                else:
                    self.number(column, NUMBER, x)
            elif held[k].kind == CODES:
                code = (<int32_t*>held[k].data)[i]
                if code < 0:
                    self.missing(column)
                else:
                    if held[k].places[code] < 0:
                        held[k].places[code] = self.place(column, (<list>names[k])[code])
                    self.out.put(held[k].places[code], 1.0)
            elif held[k].kind == DATES:
                self.dated(column, (<int64_t*>held[k].data)[i])
            else:
                self.cell(column, (<list>names[k])[i])
        return 0

    def read(self, list table, bint by_rows, Py_ssize_t n_rows, weights, bint learn, bint also_before=False):
        """Return the rows of a table: of all cells, and if also_before of what was known just before each row.

        table : by_rows a list of dicts, else of columns: (name, kind, array, names of codes or values). weights : of rows, or
        None. An error leaves all as it was.
        """
        cdef list columns = [], names = [], kept = []
        cdef Py_ssize_t i, n
        cdef const double* given = NULL if weights is None else <const double*>start_of(weights, 8, &n)
        cdef Held* held = NULL
        cdef Out after = Out(n_rows, self.n_own, not self.n_hashed), before = None
        if also_before:
            before = Out(n_rows, self.n_own, not self.n_hashed)
        self.row, self.depth, self.weight = 0, 0, 1.0
        self.begin(learn)
        try:
            if n_rows and not by_rows:
                held = self.hold(table, columns, names, kept)
            for i in range(n_rows):
                if not i & 1023:
                    PyErr_CheckSignals()
                self.row = i
                if given != NULL:
                    self.weight = given[i]
                if self.weight > 0.0:
                    if before is not None:
                        self.out, self.learn = before, False
                        self.read_dict(<dict>table[i]) if by_rows else self.read_held(columns, held, names, i)
                        self.learn = learn
                    self.out = after
                    self.read_dict(<dict>table[i]) if by_rows else self.read_held(columns, held, names, i)
                after.end_row(i, self.n_own)
                if before is not None:
                    before.end_row(i, self.n_own)
        except BaseException:
            self.exchange()
            raise
        finally:
            free(held)
            self.out = None
        return (before.take(self.n_own), after.take(self.n_own)) if also_before else after.take(self.n_own)

    cdef Held* hold(self, list table, list columns, list names, list kept) except NULL:
        """Return where the data of columns lie, but those that are ignored. kept : arrays, which must live on."""
        cdef Py_ssize_t room = len(table), k = 0, n
        cdef Held* held = <Held*>grown(NULL, &room, sizeof(Held))
        try:
            for name, kind, array, values in table:
                column = self.column(name)
                if column is None:
                    continue
                held[k].kind, held[k].step, held[k].places = kind, 0, NULL
                if kind == NUMBERS:         # (of an array, a column)
                    held[k].data, held[k].step = <char*><size_t>array.ctypes.data, array.strides[0]
                elif kind != VALUES:
                    held[k].data = <char*>start_of(array, 4 if kind == CODES else 8, &n)
                if kind == CODES:
                    places = np.full(len(values) + 1, NONE, np.int64)
                    held[k].places = <int64_t*>start_of(places, 8, &n, True)
                    kept.append(places)
                columns.append(column)
                names.append(values)
                kept.append(array)
                k += 1
        except BaseException:
            free(held)
            raise
        return held

    # --- taking back --------------------------------------------------------------------------------------------------------

    cdef begin(self, bint learn):
        """Begin to keep what a call changes."""
        self.learn, self.call, self.changed, self.added, self.gone = learn, self.call + 1, NONE, [], None
        self.sizes = len(self.columns), len(self.features), len(self.owners)

    def exchange(self):
        """Take the last call back; or, if it has been, make it again."""
        cdef Py_ssize_t k = self.changed
        cdef Sums sums
        cdef Column column
        while k >= 0:
            sums = self.numbers[k].sums
            self.numbers[k].sums = self.numbers[k].before
            self.numbers[k].before = sums
            k = self.numbers[k].next
        if self.gone is None:
            n_columns, n_features, n_owners = self.sizes
            columns = [self.columns.popitem() for _ in range(len(self.columns) - n_columns)]
            self.gone = columns[::-1], self.features[n_features:], self.owners[n_owners:]
            del self.features[n_features:], self.owners[n_owners:]
            if columns:
                self.layout = []
            for column, key in self.gone[2]:
                column.numbers[<int>key] = NONE
            for column, key, _ in self.added:
                del column.places[key]
        else:
            self.columns.update(self.gone[0])
            self.features += self.gone[1]
            for k, (column, key) in enumerate(self.gone[2], len(self.owners)):
                column.numbers[<int>key] = k
            self.owners += self.gone[2]
            for column, key, place in self.added:
                column.places[key] = place
            self.gone = None

    def learn_again(self):
        """Make the last call again if it has been taken back."""
        if self.gone is not None:
            self.exchange()

    # --- what has been learnt -----------------------------------------------------------------------------------------------

    @property
    def names(self):
        """The names of the features that have a column of their own."""
        return [feature_of(column, key) for column, key in self.features]

    @property
    def column_names(self):
        """The names of columns, but of those that are dicts or lists."""
        outer = {name.rpartition(".")[0] for name in self.columns}
        owners = {(<Column>column).name for column, _ in self.owners}
        return [name for name in self.columns if name in owners or name not in outer or (<Column>self.columns[name]).places]

    def sums(self):
        """Return the name of each number, its weight, mean and sum of squared deviations."""
        cdef Py_ssize_t k
        cdef list found = []
        for k, (column, key) in enumerate(self.owners):
            sums = self.numbers[k].sums
            found.append((feature_of(column, key), sums.n, sums.mean, sums.squares))
        return found

    def take_in(self, Cells other):
        """Add what another one has learnt from rows of its own, by Chan's sums; its features come behind those here."""
        cdef Sums* a
        cdef Sums* b
        cdef Py_ssize_t k, at
        cdef double n, d
        self.begin(True)
        for name in other.columns:
            self.column(name)
        for column, key in other.features + other.owners:
            if key in (NUMBER, SECONDS):
                self.number_of(self.column((<Column>column).name), key)
            else:
                self.place(self.column((<Column>column).name), key)
        for k, (column, key) in enumerate(other.owners):
            at = self.number_of(self.column((<Column>column).name), key)
            if at >= 0 and other.numbers[k].sums.n > 0.0:
                a, b = &self.numbers[at].sums, &other.numbers[k].sums
                n, d = a.n + b.n, b.mean - a.mean
                a.squares += b.squares + d * d * (a.n * b.n / n)
                a.mean += d * (b.n / n)
                a.n = n

    def described(self):
        """Describe it by what JSON holds, and arrays."""
        order = {name: k for k, name in enumerate(self.columns)}
        pairs = [[[order[(<Column>column).name], key] for column, key in each] for each in (self.features, self.owners)]
        sums = np.array([each[1:] for each in self.sums()]).reshape(-1, 3)
        return {"columns": list(self.columns), "features": pairs[0], "numbers": pairs[1]}, {"sums": sums}


def rebuilt(dict header, dict arrays, *parameters):
    """Rebuild what has been learnt from a description that need not be trusted."""
    cdef Cells found = Cells(*parameters)
    cdef Py_ssize_t k
    ignored, found.ignored = found.ignored, frozenset()
    names, features, numbers, sums = header["columns"], header["features"], header["numbers"], arrays["sums"]
    found.begin(True)
    for name in names:
        require(type(name) is str and name not in found.columns, "different names of columns", name)
        require(found.column(name).is_noted, "fewer columns", len(names))
    columns = list(found.columns.values())
    for at, key in [*features, *numbers]:
        right = type(at) is int and 0 <= at < len(columns) and (type(key) is str or (type(key) is int and is_key(key)))
        require(right, "a column and a key", (at, key))
        if key in (NUMBER, SECONDS):
            found.number_of(columns[at], key)
        else:
            found.place(columns[at], key)
    known = found.described()[0]
    require(known["features"] == features and known["numbers"] == numbers, "features as learning leaves them", len(features))
    require(sums.dtype == np.float64 and sums.shape == (len(numbers), 3), "sums of numbers", sums.shape)
    require(bool(np.isfinite(sums[:, :2]).all() and (sums[:, ::2] >= 0.0).all()), "sums as learning leaves them", sums)
    for k, (n, mean, squares) in enumerate(sums.tolist()):
        found.numbers[k].sums = Sums(n, mean, squares)
    found.ignored = ignored
    found.begin(False)
    return found


def is_key(key):
    parts = {MONTH: range(1, 13), WEEKDAY: range(7), HOUR: range(24)}
    return 0 <= key <= MISSING or key % 100 in parts.get(key - key % 100, ())


def microseconds(value):
    """Return a date of Python, or a time in UTC, as microseconds since 1970."""
    days = value.toordinal() - 719_163
    if not isinstance(value, datetime):
        return days * DAYS
    found = ((days * 24 + value.hour) * 60 + value.minute) * 60 + value.second
    offset = value.utcoffset()
    found = 1_000_000 * found + value.microsecond
    return found if offset is None else found - 1_000_000 * (86_400 * offset.days + offset.seconds) - offset.microseconds


def microseconds_of(str who, times, name, row=None):
    """Return times of numpy as microseconds since 1970, the least integer where one is missing."""
    wide = ~np.isnat(times) & (np.abs(times.astype("datetime64[Y]").astype(np.int64)) > 200_000)
    if wide.any():
        at = int(wide.argmax())
        raise ValueError(
            f"{who}: dates must lie within 200,000 years of 1970, got {times[at]} in column {brief(name)} of row "
            f"{at if row is None else row}. Give None for what is missing."
        )
    return times.astype("datetime64[us]").astype(np.int64)
