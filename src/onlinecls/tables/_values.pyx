"""Values of tables from all sources: each is read as a number, a boolean, a name, a date, a list, or nothing.

What some texts mean depends on what their column has shown before; `state` holds that, a bit for each thing (_values.pxd).
"""
from cpython.bool cimport PyBool_Check
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_Check
from libc.math cimport fabs, floor, isnan
from libc.stdint cimport int32_t
from libc.string cimport memcmp, strlen

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np

from .._input import validate
from ._dates import date_in, date_of, date_of_milliseconds, seconds_of

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* n) except NULL
    bint PyUnicode_Check(object o)
    bint PyUnicode_CheckExact(object o)
    str PyUnicode_FromObject(object o)
    double PyLong_AsDouble(object o) except? -1.0
    double PyOS_string_to_double(const char* text, char** end, void* overflow) except? -1.0

cdef enum:
    LONGEST = 64                                # bytes of a number at most
    LONGEST_BOOLEAN = 10
    ENDED = 4                                   # groups of digits, as in India
    NAMES_TO_ONE = 10                           # different names to a number or date in a column of names
    LONGEST_DATE = 80                           # and of a date
LARGEST = LARGEST_NUMBER = 1e150                # the square of a difference of two such numbers is finite
KINDS = ("number", "category", "date", "list", "text", "missing", "boolean")     # in the order of the enum
FORMS = IDS | WORDS | BOOLEANS | LETTERS | DAY_FIRST | MONTH_FIRST | ONLY_NAMES  # what is known beside the kinds
BITS = {"IDS": IDS, "ONLY_NAMES": ONLY_NAMES, "AS_NAME": AS_NAME, "AS_NUMBER": AS_NUMBER, "AS_DATE": AS_DATE, "COMMA": COMMA}
BOTH_ORDERS = DAY_FIRST | MONTH_FIRST
MISSING_TEXTS = frozenset((
    "", "?", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "\u2026", ":", "#N/A", "#N/A N/A", "#NA", "<NA>", "N.A.",
    "N/A", "NA", "NULL", "Null", "NaN", "-NaN", "NaT", "None", "\\N", "n.a.", "n/a", "nan", "-nan", "null", "1.#IND", "-1.#IND",
    "1.#QNAN", "-1.#QNAN", "(null)", "(NULL)", "[null]", "[NULL]", "<null>", "<NULL>",
    "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOM?",
    "#NOMBRE!", "#N/D", "#VALOR!", "#NOME?", "#N\u00daM!", "0000-00-00", "0000-00-00 00:00:00",
))
BOOLEAN_TEXTS = {  # (and what Excel writes in German, French and Portuguese)
    **dict.fromkeys(("true", "True", "TRUE", "WAHR", "VRAI", "VERDADEIRO"), 1.0),
    **dict.fromkeys(("false", "False", "FALSE", "FALSCH", "FAUX", "FALSO"), 0.0),
}
BOOLEAN_WORDS = {
    **dict.fromkeys(("yes", "Yes", "YES", "y", "Y", "on", "On", "ON"), 1.0),
    **dict.fromkeys(("no", "No", "NO", "n", "N", "off", "Off", "OFF"), 0.0),
}
BOOLEAN_LETTERS = {"t": 1.0, "T": 1.0, "f": 0.0, "F": 0.0}
DAYS = ("datetime64[D]", "datetime64[M]", "datetime64[Y]")      # types of dates without a time of day
MICROSECOND = timedelta(microseconds=1)
ABSENT = object()                               # in the place of a value where a row lacks the column

absent = ABSENT
cdef const char* MONTHS_AND_DAYS = b"janfebmaraprmayjunjulaugsepoctnovdecmontuewedthufrisatsun"
cdef const char* CURRENCIES = b"AUDBRLCADCHFCNYCZKDKKEURGBPHKDHUFILSINRJPYKRWMXNNOKNZDPLNSEKSGDTHBTRYUSDZAR"
cdef frozenset missing_texts = MISSING_TEXTS
cdef dict boolean_texts = BOOLEAN_TEXTS, boolean_words = BOOLEAN_WORDS, boolean_letters = BOOLEAN_LETTERS
cdef object dates = (datetime, date, time), lists = (list, tuple, set, frozenset, np.ndarray)
cdef double most_of_a_number = 1e15             # 37176e84 is no number
cdef double first_milliseconds = 1e11, last_milliseconds = 1e14     # of dates: 1973 and 5138
_MONEY = r"(?:[^\w+*]|[A-Z]{3}|[A-Z]{1,2}\$|Rs\.?|kr\.?|zł|Kč)?"
_BEFORE, _BEHIND = rf"[-+\u2212\u2013(]?{_MONEY}\s?", rf"\s?{_MONEY}-?\)?"
_COMMAS = re.compile(rf"{_BEFORE}(\d+,\d+|\d{{1,3}}([.\s'\u2019]\d{{3}})+,\d+|\d{{1,3}}(\.\d{{3}}){{2,}}){_BEHIND}")
_POINTS = re.compile(rf"{_BEFORE}(\d+\.\d+|\d{{1,3}}([,\s'\u2019]\d{{3}})+\.\d+|\d{{1,3}}(,\d{{3}}){{2,}}){_BEHIND}")
_UNITS = re.compile(  # (5k, 1.2M, 10 kg, 36 months; 12A may be a house)
    rf"{_BEFORE}\d+(?:[.,\s'\u2019]\d{{3}})*(?:[.,]\d+)?(?:[kKM]|\s(?:[a-z]|[CFAVW])|\s?(?:bn|mn|[mM]io|[mM]rd|million|billion|"
    r"[kKMGT]i?B|bytes?|[kmµ]g|lbs?|oz|[kcm]m[²2³3]?|m[²2³3]|mi|ft|ha|ml|°[CF]?|‰|[kMG]?Wh|[kMG]W|[kMG]?Hz|[mµn]s|secs?|mins?|"
    r"hrs?|hours?|weeks?|months?|yrs?|years?|km/h|mph|m/s|hPa|bar|psi|mmHg|bpm|ppm|[CcDd][Rr]|¢)\.?)"
)
_IDS = re.compile(r"(?i:.+[_ .-]id|zip([_ -]?code)?|post(al)?[_ -]?code|[ip]sbn|ean|sku|[ug]uid)|.*[a-z]I[dD]")
_WHOLE = re.compile(r"(-?(?:0|[1-9]\d*))\.0+")


# --- texts ---------------------------------------------------------------------------------------------------------------------


cdef inline bint is_digit(char c) noexcept nogil:
    return 48 <= c <= 57


cdef inline bint is_letter(char c) noexcept nogil:
    return 97 <= (c | 32) <= 122


cdef struct Copied:
    const char* text        # what is read, n bytes, of which i have been
    Py_ssize_t n, i
    char[LONGEST] plain     # what is copied of it
    Py_ssize_t size


cdef inline bint copy_one(Copied* c, char a, char b) noexcept nogil:
    """Copy the next byte if it is one of the two; return whether it is."""
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


cdef inline bint skip(Copied* c, const char* what) noexcept nogil:
    """Skip what comes next if it is this; return whether it is."""
    cdef Py_ssize_t n = strlen(what)
    if c.n - c.i < n or memcmp(c.text + c.i, what, n) != 0:
        return False
    c.i += n
    return True


cdef inline bint skip_blank(Copied* c) noexcept nogil:
    """Skip a blank, also one that does not break a line, or a thin one."""
    return skip(c, b" ") or skip(c, b"\xc2\xa0") or skip(c, b"\xe2\x80\xaf") or skip(c, b"\xe2\x80\x89")


cdef inline bint skip_sign(Copied* c) noexcept nogil:
    """Copy a sign; return whether there is one."""
    if copy_one(c, b"+", b"-"):
        return True
    if not skip(c, b"\xe2\x88\x92") and not skip(c, b"\xe2\x80\x93"):
        return False
    c.plain[c.size], c.size = b"-", c.size + 1
    return True


cdef inline bint skip_currency(Copied* c) noexcept nogil:
    """Skip the sign of a currency (those of Unicode's block, too), or the code of one."""
    cdef const char* code = CURRENCIES
    if c.n - c.i >= 3 and memcmp(c.text + c.i, b"\xe2\x82", 2) == 0 and <unsigned char>c.text[c.i + 2] >= 0xA0:
        c.i += 3
        return True
    if (skip(c, b"$") or skip(c, b"\xc2\xa3") or skip(c, b"\xc2\xa5") or skip(c, b"R$") or skip(c, b"US$") or skip(c, b"A$")
            or skip(c, b"C$") or skip(c, b"CA$") or skip(c, b"Rs.") or skip(c, b"Rs") or skip(c, b"kr.") or skip(c, b"kr")
            or skip(c, b"z\xc5\x82") or skip(c, b"K\xc4\x8d")):
        return True
    while code[0] != 0:
        if c.n - c.i >= 3 and memcmp(c.text + c.i, code, 3) == 0:
            c.i += 3
            return True
        code += 3
    return False


cdef inline bint skip_multiple(Copied* c) noexcept nogil:
    """Skip the K, M or B of money, and copy the exponent that it is; return whether it is there."""
    cdef char exponent
    if skip(c, b"K") or skip(c, b"k"):
        exponent = b"3"
    elif skip(c, b"M") or skip(c, b"m"):
        exponent = b"6"
    elif skip(c, b"bn") or skip(c, b"B"):
        exponent = b"9"
    else:
        return False
    c.plain[c.size], c.plain[c.size + 1], c.size = b"e", exponent, c.size + 2
    return True


cdef inline bint skip_group(Copied* c, char mark, int* of) noexcept nogil:
    """Skip what stands between groups of three digits, the same in all of a number; return whether it does."""
    cdef int found = 0
    cdef Py_ssize_t i = c.i
    if c.i < c.n and c.text[c.i] == mark:
        found, c.i = 1, c.i + 1
    elif skip_blank(c):
        found = 2
    elif skip(c, b"'") or skip(c, b"\xe2\x80\x99"):
        found = 3
    if found == 0 or (of[0] != 0 and of[0] != found) or c.i == c.n or not is_digit(c.text[c.i]):
        c.i = i
        return False
    of[0] = found
    return True


cdef bint number_in(const char* text, Py_ssize_t n, char point, double* value) except -1:
    """Read a number such as 12, -1.5e3, $12, ($5.00), 12 %, 1,234.5, 1'234, 12,34,567, CHF 5, $1.5M or 5.00-; return False for
    any other text, and for numbers out of range. point : what stands before decimals, "." or ","; the other one stands between
    groups of digits."""
    cdef Copied c
    cdef Py_ssize_t n_digits, first, size, last = 0     # last: digits of the last group, ENDED if there can be no other
    cdef bint in_parentheses, is_negated, has_currency
    cdef int group = 0
    if n == 0 or n >= LONGEST - 2:
        return False
    c.text, c.n, c.i, c.size = text, n, 0, 0
    in_parentheses = is_negated = skip(&c, b"(")
    if not in_parentheses and skip_sign(&c):
        skip_blank(&c)
    has_currency = skip_currency(&c)
    if has_currency:
        skip_blank(&c)
        if c.size == 0 and not in_parentheses:
            in_parentheses = is_negated = skip(&c, b"(")
        if c.size == 0 and not in_parentheses:
            skip_sign(&c)
    first = c.i
    n_digits = copy_digits(&c)
    if 0 < n_digits <= 3 and text[first] != b"0":
        while skip_group(&c, b"." if point == b"," else b",", &group):
            size = copy_digits(&c)
            if size == 3 and last != ENDED:
                last = ENDED if last == 2 else 3
            elif size == 2 and last != 3 and last != ENDED and group == 1 and point == b"." and n_digits <= 2:
                last = 2  # (12,34,567 as in India: pairs, and three digits at the end)
            else:
                return False
        if last == 2:
            return False
    if c.i < c.n and c.text[c.i] == point:
        c.plain[c.size], c.size, c.i = b".", c.size + 1, c.i + 1
        n_digits += copy_digits(&c)
        if c.i == n - 1 and c.size > 1 and not is_negated and is_digit(c.plain[0]):
            is_negated = skip(&c, b"-")
    if n_digits == 0:
        return False
    if has_currency:
        skip_multiple(&c)
    elif copy_one(&c, b"e", b"E"):
        copy_one(&c, b"+", b"-")
        if not copy_digits(&c):
            return False
    if c.i < n and (not in_parentheses or c.text[c.i] != b")"):
        skip_blank(&c)
        if not skip(&c, b"%") and (has_currency or not skip_currency(&c)):
            return False
    if in_parentheses and not skip(&c, b")"):
        return False
    if c.i < n:
        return False
    c.plain[c.size] = 0
    value[0] = PyOS_string_to_double(c.plain, NULL, NULL)
    if is_negated:
        value[0] = -value[0]
    return fabs(value[0]) <= LARGEST_NUMBER


cdef bint is_whole(const char* text, Py_ssize_t n) noexcept nogil:
    """Return True for digits alone."""
    cdef Py_ssize_t i
    for i in range(n):
        if not is_digit(text[i]):
            return False
    return True


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


cdef bint is_id(const char* text, Py_ssize_t n) noexcept nogil:
    """Return True for a name with digits that others of its kind may have alone: letters and digits (PC 17599), eight or more
    hexadecimal digits, a zip code (12345-6789)."""
    cdef Py_ssize_t i, n_digits = 0, n_hex = 0, n_hyphens = 0
    if n > LONGEST:
        return False
    for i in range(n):
        n_digits += is_digit(text[i])
        n_hex += is_digit(text[i]) or 97 <= (text[i] | 32) <= 102
        n_hyphens += text[i] == b"-"
    if n_digits == 0:
        return False
    if is_letter(text[0]) or (n == 10 and n_digits == 9 and text[5] == b"-"):
        return True
    return n_hex >= 8 and n_hex > n_digits and n_hex + n_hyphens == n


cdef bint begins_with_day(const char* text) noexcept nogil:
    """Return True for a text that begins as the name of a month or of a day of the week does."""
    cdef const char* name = MONTHS_AND_DAYS
    while name[0] != 0:
        if text[0] | 32 == name[0] and text[1] | 32 == name[1] and text[2] | 32 == name[2]:
            return True
        name += 3
    return False


cdef bint may_be_dated(const char* text, Py_ssize_t n) noexcept nogil:
    """Return True for a text that may be a date: it has a digit, begins with one, a month, a day of the week or a quarter, and
    has a mark between."""
    cdef Py_ssize_t i
    cdef bint has_digit = False, has_mark = False
    if not 5 <= n <= LONGEST_DATE or not (is_digit(text[0]) or text[0] == b"Q" or begins_with_day(text)):
        return n == 4 and is_digit(text[0]) and text[1] == b":"
    for i in range(n):
        has_digit |= is_digit(text[i])
        has_mark |= (text[i] == b"-" or text[i] == b"/" or text[i] == b"." or text[i] == b":" or text[i] == b" "
                     or text[i] == b"Q" or text[i] == b"T" or ((i == 2 or i == 4) and is_letter(text[i]) and is_digit(text[0])))
    return has_digit and has_mark


cdef bint is_iso(const char* text, Py_ssize_t n) noexcept nogil:
    """Return True for a text that begins as a date in ISO 8601 does: digits and hyphens, and a T or a blank before a time."""
    cdef Py_ssize_t i
    if not 10 <= n <= 40 or (n > 10 and text[10] != b" " and text[10] | 32 != b"t"):  # (2024-05-01-17 is the name of an order)
        return False
    for i in range(10):
        if (text[i] != b"-") if i == 4 or i == 7 else not is_digit(text[i]):
            return False
    return True


cdef bint may_be_a_span(const char* text, Py_ssize_t n) noexcept nogil:
    """Return True for a text that may be a duration: P1DT2H, 1 days 02:00:00."""
    cdef Py_ssize_t i = text[0] == b"-"
    if n < 3 or not (text[i] == b"P" or is_digit(text[i])):
        return False
    if text[i] == b"P":
        return is_digit(text[i + 1]) or text[i + 1] == b"T" or text[i + 1] == b"-"
    while i < n and is_digit(text[i]):
        i += 1
    return n - i >= 4 and memcmp(text + i, b" day", 4) == 0


cdef object doubt_of(str text, const char* start, Py_ssize_t n, int state):
    """Return what a name looks like, though it is read as none: "comma", "point", "unit", "infinite",
    "list", "word"; or None."""
    cdef bint is_digital = not (is_letter(start[0]) and (n < 5 or is_letter(start[3])))     # (12,5 or CHF 12,50)
    if state & BOOLEANS and not state & 1 << NAME:
        return "word"
    if n < 2:
        return None
    if is_digital and 2 < n < LONGEST and (_POINTS if state & COMMA else _COMMAS).fullmatch(text) is not None:
        return "point" if state & COMMA else "comma"
    if is_digital and n < LONGEST and _UNITS.fullmatch(text) is not None:
        return "unit"
    if n <= 9 and text.lower().lstrip("+-") in ("inf", "infinity", "\u221e"):
        return "infinite"
    if (start[0] == b"[" and start[n - 1] == b"]") or (start[0] == b"{" and start[n - 1] == b"}"):
        return "list" if is_digit(start[1]) or start[1] in b"'\"[{-" else None
    return None


def number_of(str text):
    """Return the number that a text is, or None."""
    cdef double value
    cdef Py_ssize_t n
    cdef const char* start = PyUnicode_AsUTF8AndSize(text, &n)
    return value if number_in(start, n, b".", &value) else None


def is_valid(text):
    """Return True unless a text has halves of surrogate pairs, which no file or hash can hold."""
    cdef Py_ssize_t n
    try:
        PyUnicode_AsUTF8AndSize(text, &n)
    except UnicodeEncodeError:
        return False
    return True


# --- values --------------------------------------------------------------------------------------------------------------------


def in_microseconds(values):
    """Return dates or durations of numpy in microseconds, and where these fit 64 bits. (Numpy itself lets them overflow.)"""
    found = values.astype(f"{values.dtype.kind}8[us]")
    if np.datetime_data(values.dtype)[0] in ("ns", "ps", "fs", "as"):
        return found, np.ones(np.shape(values), bool)
    return found, (found.astype(values.dtype) == values) | np.isnat(values)


cdef double double_of(value) except? -1.0:
    """Return an integer as a double, infinity if it is beyond all of them."""
    try:
        return PyLong_AsDouble(value)
    except OverflowError:
        return float("inf")


cpdef object plain_of(value):
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
    if type(value).__name__ in ("UUID", "Interval"):
        return str(value)
    if type(value).__name__ == "Period":  # (of pandas)
        return value.start_time.to_pydatetime(warn=False)
    return float(value // MICROSECOND) / 1e6 if isinstance(value, timedelta) else value


def as_text(value):
    """Return a value as a name; a list as it is; None if it is missing."""
    if isinstance(value, str) or value is ABSENT or (isinstance(value, lists) and getattr(value, "ndim", 1)):
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = (value if value.dtype in DAYS else in_microseconds(value)[0]).tolist()
    elif type(value).__name__ in ("Timestamp", "Timedelta"):  # (pandas' own write nanoseconds, and durations in another way)
        value = value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value.to_pytimedelta()
    value = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(value, Decimal) and value.is_finite():
        value = int(value) if value == value.to_integral_value() else value.normalize()
    if value is None or validate.is_missing(value):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, datetime) and value.time() == time() and value.tzinfo is None:
        value = value.date()  # (as files write it)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


cdef class Reading:
    """Read values of a column, one at a time.

    number : the last one, if it is one, or a boolean. value : the text of a name, or a date, a list, or what is of no kind.
    raises : what the value shows of its column. doubt : what a name looks like, though it is read as none, as by `doubt_of`, or
    by `date_of`. wavers : whether it may become something else by what comes, and then be the same again. form : the format
    of the column's dates.
    """

    def __init__(self, form=None):
        self.form = form

    cdef int read(self, value, int state) except -1:
        """Return the kind of a value."""
        self.raises, self.doubt, self.wavers = 0, None, False
        if PyUnicode_Check(value):
            return self.text(PyUnicode_FromObject(value).strip(), state)
        if state & (AS_NAME | ONLY_NAMES) and value is not absent:
            value = as_text(value)
            if PyUnicode_Check(value):
                return self.text(PyUnicode_FromObject(value).strip(), state)
        elif not (PyFloat_Check(value) or PyLong_Check(value) or value is None or value is absent):
            value = plain_of(value)
            if PyUnicode_Check(value):
                return self.text(PyUnicode_FromObject(value).strip(), state)
        if value is None:
            return MISSING
        if value is absent:
            return NONE_THERE
        if PyBool_Check(value):
            self.number = 1.0 if value is True else 0.0
            return BOOLEAN
        if PyFloat_Check(value) or PyLong_Check(value):
            self.number = PyFloat_AS_DOUBLE(value) if PyFloat_Check(value) else double_of(value)
            if isnan(self.number):
                return MISSING
            if state & AS_NUMBER == 0:
                if state & IDS and floor(self.number) == self.number and fabs(self.number) <= LARGEST_NUMBER:
                    return self.text(as_text(value), state)
                if self.counts_milliseconds(state):
                    return DATE
                if state & AS_DATE and floor(self.number) == self.number and (self.form is None or self.form.startswith("%Y")):
                    return self.text(as_text(value), state)  # (digits of which no 0 in front is lost)
            return NUMBER
        self.value = value
        return DATE if isinstance(value, dates) else LIST if isinstance(value, lists) else WRONG

    cdef int text(self, str text, int state) except -1:
        cdef Py_ssize_t n
        cdef const char* start
        cdef bint is_free = not state & (AS_NUMBER | AS_DATE)
        self.value = text
        if text in missing_texts and not (state & AS_NAME and text == "NA"):
            return MISSING
        try:
            start = PyUnicode_AsUTF8AndSize(text, &n)
        except UnicodeEncodeError:
            return WRONG
        if n <= LONGEST_BOOLEAN:
            found = boolean_texts.get(text)
            if found is not None and state & (AS_NAME | ONLY_NAMES):
                self.value = text.capitalize()
                return NAME
            if found is None and is_free and not state & (AS_NAME | ONLY_NAMES):
                if state & BOOLEANS or not state & (WORDS | 1 << NAME | 1 << NUMBER | 1 << DATE):
                    found = boolean_words.get(text)
                    self.raises = BOOLEANS if found is not None else 0
                    self.wavers = self.raises & ~state != 0
                if found is None and state & LETTERS:
                    found = boolean_letters.get(text)
            if found is not None:
                self.number = found
                return BOOLEAN
        if state & (AS_NAME | ONLY_NAMES):
            if n > 2 and start[n - 1] == b"0" and (is_digit(start[0]) or start[0] == b"-"):
                whole = _WHOLE.fullmatch(text)
                self.value = text if whole is None else whole[1]
            return NAME
        if state & AS_DATE:
            if self.form is None and number_in(start, n, b".", &self.number) and self.counts_milliseconds(state):
                return DATE
            if self.form is None and not is_whole(start, n):
                return DATE if self.dated(text, state) else NAME
            found = date_in(text, self.form or "%Y%m%d")
            self.value = text if found is None else found
            return NAME if found is None else DATE
        if number_in(start, n, b"," if state & COMMA else b".", &self.number):
            if self.counts_milliseconds(state):
                return DATE
            if is_free and (is_digit(start[0])):
                if is_whole(start, n):
                    self.raises = IDS if start[0] == b"0" and n >= 5 else 0
                    if self.raises or state & IDS:
                        return NAME
                elif is_exponential(start, n):
                    self.raises = IDS if n >= 8 and self.number > most_of_a_number else 0
                    self.wavers = not (state | self.raises) & IDS
                    if (state | self.raises) & IDS or (state & (1 << NAME) and not state & (1 << NUMBER)):
                        return NAME
            return NUMBER
        return self.no_number(text, state)

    cdef int no_number(self, str text, int state) except -1:
        """Read a text that is no number, but may be a duration or a date, and look like another value."""
        cdef Py_ssize_t n
        cdef const char* start = PyUnicode_AsUTF8AndSize(text, &n)
        if may_be_a_span(start, n) and not state & IDS:
            found = seconds_of(text)
            if found is not None:
                self.number = found
                return NUMBER
        if not state & (AS_NUMBER | AS_DATE) and may_be_dated(start, n) and self.dated(text, state):
            return DATE
        if n > 2 and start[0] == b"[" and start[n - 1] == b"]" and is_digit(start[1]):  # (the date of a line in a log)
            if not state & (AS_NUMBER | AS_DATE) and may_be_dated(start + 1, n - 2) and self.dated(text[1:-1], state):
                return DATE
        if n > 1 and is_id(start, n):
            self.raises |= IDS
        if self.doubt is None:
            self.doubt = doubt_of(text, start, n, state)
        return NAME

    cdef bint counts_milliseconds(self, int state) except -1:
        """Read a number as a date in a column of dates, if it may be the milliseconds after 1970; return whether it is one."""
        if not first_milliseconds <= fabs(self.number) < last_milliseconds:
            return False
        self.wavers = not state & 1 << NUMBER
        if not (state & AS_DATE or (state & (1 << DATE) and not state & (1 << NUMBER | AS_NUMBER))):
            return False
        self.value = date_of_milliseconds(self.number)
        return True

    cdef int dated(self, str text, int state) except -1:
        """Read a date; return whether the text is one."""
        cdef Py_ssize_t n
        cdef const char* start = PyUnicode_AsUTF8AndSize(text, &n)
        if is_iso(start, n):
            try:
                self.value = datetime.fromisoformat(text) if n > 10 else date.fromisoformat(text)
                return True
            except ValueError:
                pass
        found, says = date_of(text, True if state & DAY_FIRST else False if state & MONTH_FIRST else None)
        if found is None:
            self.doubt = says
            return False
        if says is not None:
            self.raises = DAY_FIRST if says else MONTH_FIRST
        self.value = found
        return True


def named_state(str name):
    """Return what the name of a column says of it: IDS where whole numbers are ids (user_id, movieId, zip), or nothing."""
    return IDS if _IDS.fullmatch(name) else 0


def dicts_of(str name):
    """Return the names of the dicts that a column with a dotted name may be of: "a" and "a.b" of "a.b.c"."""
    return [name[:at] for at in range(1, len(name)) if name[at] == "."]


cpdef int after_value(int state, int mark):
    """Return what is known of a column after a value of this mark."""
    cdef int kind = mark & 255
    return state if kind >= NONE_THERE else state | 1 << kind | mark >> 8


def read_values(list values, list names, double[::1] numbers, int32_t[::1] codes, int32_t[::1] marks, int state, form,
                const unsigned char[::1] live):
    """Sort values into numbers and names, a place each; return {place: value} of all others (dates, lists ..), what is known of
    the column after them, {doubt: place} of the first name that is doubtful, and whether a value wavers.

    numbers : NaN where there is none. codes : places in `names`, 0 for a missing value, -1 where there is no name. marks : the
    kind of each value, and what it shows of its column, times 256. live : the rows that count for those behind them; empty if
    none does.
    """
    cdef Py_ssize_t i
    cdef int kind, after
    cdef bint wavers = False
    cdef Reading reading = Reading(form)
    cdef dict others = {}, code_of = {}, seen = {}, doubts = {}     # seen: what texts mean as long as the state is the same
    for i in range(len(values)):
        value = values[i]
        known = seen.get(value) if PyUnicode_CheckExact(value) else None
        if known is not None:
            found, marks[i] = <tuple>known
        else:
            found, kind = None, reading.read(value, state)
            if kind == NUMBER or kind == BOOLEAN:
                found = reading.number
            elif kind == NAME:
                found = code_of.get(reading.value)
                if found is None:
                    found = code_of[reading.value] = len(names)
                    names.append(reading.value)
            elif kind == MISSING:
                found = 0
            elif kind != NONE_THERE:
                others[i] = reading.value
            if reading.doubt is not None:
                doubts.setdefault(reading.doubt, i)
            marks[i], wavers = kind | reading.raises << 8, wavers | reading.wavers
            if found is not None and PyUnicode_CheckExact(value):
                seen[value] = found, marks[i]
        if len(live) and live[i]:
            after = after_value(state, marks[i])
            if after != state:
                state = after
                seen.clear()
        if found is None:
            continue
        if PyFloat_Check(found):
            numbers[i] = PyFloat_AS_DOUBLE(found)
        else:
            codes[i] = found
    return others, state, doubts, wavers


def form_of(list values, form, int state):
    """Return what values show of their column when all of them are looked at together: ids, booleans, days before months, or
    that all are names, as most are."""
    cdef Reading reading = Reading(form)
    cdef int kind
    cdef bint has_others = False
    cdef set names = set(), others = set()
    for value in values:
        kind = reading.read(value, state | WORDS)
        state |= reading.raises
        if kind == NAME:
            names.add(reading.value)
        elif kind == NUMBER or kind == BOOLEAN or kind == DATE:
            others.add(reading.value if kind == DATE else reading.number)
        has_others |= kind != NAME and kind != MISSING and kind != BOOLEAN and kind < NONE_THERE
    has_words, has_letters = not names.isdisjoint(boolean_words), not names.isdisjoint(boolean_letters)
    if has_others or not names <= boolean_words.keys() | boolean_letters.keys():
        are_names = others and len(names) >= NAMES_TO_ONE * len(others)    # (titles, such as 1941 and 10:10)
        return state | (ONLY_NAMES if are_names else WORDS if has_words else 0)
    return state | (BOOLEANS if has_words or has_letters else 0) | (LETTERS if has_letters else 0)
