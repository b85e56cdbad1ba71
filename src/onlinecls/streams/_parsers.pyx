"""Parsers of the lines of files, into the rows of a batch, without the GIL: svmlight, VW, ``label<TAB>text``, fastText, CSV.

A parser is fed whole lines and stops when its batch is full, at a number of rows or of non-zeros.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

import numpy as np

from .._hashing.hasher cimport RowHasher
from .._hashing.murmur cimport block_at, finished, mixed

from .._rows import Rows

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, void* overflow_exception)

cdef enum:
    TAB = 9
    LF = 10
    CR = 13
    QUOTE = 34
    LONGEST = 4096          # characters of a label, `validate.LONGEST_LABEL`
    FEW = 24                # entries that sort faster by insertion
    MAX_DIGITS = 18         # of an index, which then fits 63 bits
    SMALLEST = -307         # powers of ten; numbers beyond, such as subnormals, are left to Python
    LARGEST = 288

cdef enum Found:            # what a line holds
    NOTHING
    ROW
    FAULT
    EMPTY                   # a line without a row, where labels are not read
    UNFINISHED              # the first line of a row that goes on behind the block

cdef struct Entry:          # a non-zero
    int64_t column
    double value

BEHIND = 8                  # bytes of any value behind the end of a block that may be read
BLANK = (0, "")             # a "fault" of column 0: a line without a row


# --- numbers -----------------------------------------------------------------------------------------------------------------

cdef double[23] POWERS_OF_TEN                       # those that a double holds exactly
cdef uint64_t[LARGEST - SMALLEST + 1] POWERS        # 5^q, the first 64 of 128 bits: cut off for q >= 0, rounded up for q < 0

for q in range(23):
    POWERS_OF_TEN[q] = 10 ** q
for q in range(SMALLEST, LARGEST + 1):
    power = 5 ** abs(q)
    bits = (power << 128) >> power.bit_length() if q >= 0 else (1 << (power.bit_length() + 127)) // power + 1
    POWERS[q - SMALLEST] = bits >> 64


cdef inline uint64_t product(uint64_t a, uint64_t b, uint64_t* low) noexcept nogil:
    """Compute a * b in 128 bits; return the high half, and set low to the low half."""
    cdef uint64_t a0 = <uint32_t>a, a1 = a >> 32, b0 = <uint32_t>b, b1 = b >> 32
    cdef uint64_t cross = (a0 * b0 >> 32) + <uint32_t>(a1 * b0) + a0 * b1
    low[0] = a * b
    return a1 * b1 + (a1 * b0 >> 32) + (cross >> 32)


cdef double far_number(uint64_t digits, int64_t exponent, bint whole, const unsigned char* text) noexcept nogil:
    """Return digits * 10^exponent, rounded to nearest even. text : the number without sign; whole : digits has all of it.

    D. Lemire, Number parsing at a gigabyte per second (2021), section 5.
    """
    cdef uint64_t high, low, mantissa
    cdef int64_t power
    cdef int shifted = 0, top
    cdef double value
    cdef char* end
    if whole and digits == 0:
        return 0.0
    if whole and SMALLEST <= exponent <= LARGEST:
        while not digits >> 63:
            digits <<= 1
            shifted += 1
        high = product(digits, POWERS[exponent - SMALLEST], &low)
        top = high >> 63
        mantissa = high >> (top + 9)        # 54 bits: a double's 53 and one to round by
        power = ((217706 * exponent) >> 16) + 63 + top - shifted
        # Exact unless what the power's further bits add may reach the bits that count, or it may lie half-way between doubles.
        if (high & 0x1FF) != 0x1FF and not (low <= 1 and mantissa << (top + 9) == high) and -1022 < power < 1023:
            mantissa = (mantissa + (mantissa & 1)) >> 1
            if mantissa >> 53:
                mantissa >>= 1
                power += 1
            mantissa = (mantissa & ((<uint64_t>1 << 52) - 1)) | <uint64_t>(power + 1023) << 52
            memcpy(&value, &mantissa, 8)
            return value
    with gil:
        return PyOS_string_to_double(<const char*>text, &end, NULL)


cdef inline bint is_digit(unsigned char c) noexcept nogil:
    return <unsigned char>(c - 48) < 10


cdef inline const unsigned char* read_number(const unsigned char* p, double* value) noexcept nogil:
    """Read the number at p; return a pointer behind it, or NULL if there is no number.

    [sign] digits [. digits] [e [sign] digits], digits on one side of the point at least; no nan, inf, hexadecimal or
    underscores. The number must be followed by a byte that cannot be part of it (a line ends with a newline).
    """
    cdef bint negative = p[0] == 45
    if negative or p[0] == 43:
        p += 1
    cdef const unsigned char* text = p
    cdef const unsigned char* behind
    cdef uint64_t digits = 0
    cdef int64_t exponent = 0, written = 0
    cdef bint small
    while is_digit(p[0]):
        digits = digits * 10 + (p[0] - 48)
        p += 1
    cdef Py_ssize_t n_digits = p - text
    if p[0] == 46:
        behind = p + 1
        p = behind
        while is_digit(p[0]):
            digits = digits * 10 + (p[0] - 48)
            p += 1
        exponent = behind - p
        n_digits += p - behind
    if n_digits == 0:
        return NULL
    if (p[0] | 32) == 101:                  # e, E
        behind = p + 1
        small = behind[0] == 45
        if small or behind[0] == 43:
            behind += 1
        if is_digit(behind[0]):
            while is_digit(behind[0]):
                if written < 1000000:
                    written = written * 10 + (behind[0] - 48)
                behind += 1
            exponent += -written if small else written
            p = behind
    # Clinger: a product or quotient of two exact doubles is rounded once, so that it is exact.
    if n_digits <= 19 and digits <= <uint64_t>1 << 53 and -22 <= exponent <= 22:
        if exponent < 0:
            value[0] = <double>digits / POWERS_OF_TEN[-exponent]
        else:
            value[0] = <double>digits * POWERS_OF_TEN[exponent]
    else:
        value[0] = far_number(digits, exponent, n_digits <= 19, text)
    if negative:
        value[0] = -value[0]
    return p


# --- lines -------------------------------------------------------------------------------------------------------------------

cdef void* sized(void* block, Py_ssize_t n_bytes) except NULL nogil:
    cdef void* moved = realloc(block, n_bytes)
    if moved is NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of a batch")
    return moved


def excerpt(rest):
    """Return the start of the rest of a malformed line, quoted for a message."""
    if not rest:
        return "the end of the line"
    try:
        shown = repr(rest.decode("utf-8")[:24])
    except UnicodeDecodeError:
        shown = repr(rest[:24])[1:]
    return shown + "..." * (len(rest) > 24)


cdef inline bint is_over(const unsigned char* p, const unsigned char* end, unsigned char mark) noexcept nogil:
    """Return True if a field ends at p: at the line's end, at a blank, or at a mark."""
    return p == end or p[0] == 32 or p[0] == 9 or p[0] == mark


cdef inline const unsigned char* after_blanks(const unsigned char* p) noexcept nogil:
    while p[0] == 32 or p[0] == 9:
        p += 1
    return p


cdef class LineParser:
    """Turn whole lines into batches. A subclass for each format has `parse` and `batches`.

    labels : "number"; "auto", texts; None, they are not read; "columns", by other code.
    """
    cdef bint has_numbers, has_texts, unlabelled
    cdef double[::1] numbers                # labels
    cdef uint32_t* points                   # of the texts of labels, one after the other
    cdef int64_t[::1] text_ends             # of each of them
    cdef Py_ssize_t n_points
    cdef Py_ssize_t batch_rows, batch_nnz
    cdef readonly Py_ssize_t n_rows, nnz    # of the batch
    cdef public Py_ssize_t line_number      # of the line that was read last
    cdef public bint waits, by_file         # True: more rows are awaited while a pipe is silent; a file begins with names
    cdef public Py_ssize_t final, alone     # rows that begin before these places do not go on behind the block, behind the line
    cdef public Py_ssize_t unread           # bytes at the end of the block, of a row that goes on behind it
    cdef public unsigned char delimiter     # of fields; a line of other blanks has no row
    cdef bytes header                       # a line that is left out wherever it is
    cdef const char* head
    cdef const unsigned char* block
    cdef Py_ssize_t position, stop, line_at, line_end, n_head
    cdef const unsigned char* where         # the place of a fault, and what was expected there
    cdef const char* expected

    def __init__(self, labels, Py_ssize_t batch_rows, Py_ssize_t batch_nnz):
        self.has_numbers, self.has_texts, self.unlabelled = labels == "number", labels == "auto", labels is None
        self.batch_rows, self.batch_nnz = batch_rows, batch_nnz
        if self.has_numbers:
            self.numbers = np.empty(batch_rows)
        if self.has_texts:
            self.text_ends = np.empty(batch_rows, np.int64)

    def __dealloc__(self):
        free(self.points)

    def leave_out(self, bytes header):
        self.header, self.head, self.n_head = header, header, len(header)

    def feed(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop):
        """Read the whole lines of text[start:stop], while the batch is not full, or until one is malformed; BEHIND bytes follow.

        Return where the next line starts, and None or the fault of the line before it: (column, what is wrong). If labels are
        not read, a line without a row has the fault `BLANK`, so that predictions keep the numbers of lines.
        """
        cdef Found found
        self.block, self.position, self.stop = &text[0], start, stop
        try:
            with nogil:
                found = self._run()
        except UnicodeDecodeError as error:
            found = self.fault(self.where + <Py_ssize_t>error.start, b"text in UTF-8")
        if found == FAULT:
            column = self.where - self.block - self.line_at
            rest = excerpt(self.where[:self.line_end - self.line_at - column])
            return self.position, (column + 1, f"expected {self.expected.decode()}, got {rest}")
        return self.position, BLANK if found == EMPTY else None

    cdef Found _run(self) except? FAULT nogil:
        cdef const unsigned char* line
        cdef const unsigned char* end
        cdef const unsigned char* p
        cdef Found found
        while self.position < self.stop and self.n_rows < self.batch_rows and self.nnz < self.batch_nnz:
            line = self.block + self.position
            end = <const unsigned char*>memchr(line, 10, self.stop - self.position)
            self.line_at, self.position = self.position, end + 1 - self.block
            self.line_number += 1
            if end > line and (end - 1)[0] == 13:        # \r\n
                end -= 1
            self.line_end = end - self.block
            p, found = line, NOTHING
            while p < end and (p[0] == 32 or p[0] == 9) and p[0] != self.delimiter:
                p += 1
            if p < end and not (end - line == self.n_head and memcmp(line, self.head, self.n_head) == 0):
                found = self.parse(line, end)
            if found == FAULT:
                return found
            if found == UNFINISHED:
                self.position, self.unread = self.stop, self.stop - self.line_at
                self.line_number -= 1
            if found == NOTHING and self.unlabelled:
                return EMPTY
        return NOTHING

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil:
        """Append the row of a line that is not blank, with one more byte behind its end. A malformed line changes nothing."""
        return NOTHING

    cdef bint put_label(self, const unsigned char* p, const unsigned char* end) except -1 nogil:
        """Read the text from p to end as the label of the next row; return False, with a fault, if it is none."""
        cdef const unsigned char* behind
        cdef Py_ssize_t row = self.n_rows, n = 0, start
        cdef Py_UCS4 c
        if self.has_numbers:
            behind = read_number(p, &self.numbers[row])
            if behind is NULL or behind != end or not fabs(self.numbers[row]) < INFINITY:
                self.fault(p, b"a finite number for a label")
                return False
        if not self.has_texts:
            return True
        start = self.text_ends[row - 1] if row else 0
        if start + (end - p) > self.n_points:
            self.n_points = 2 * (start + (end - p))
            self.points = <uint32_t*>sized(self.points, self.n_points * sizeof(uint32_t))
        while p + n < end and p[n] < 0x80:
            self.points[start + n] = p[n]
            n += 1
        self.fault(p, b"a label of 1 to 4096 characters, none of them NUL")
        if p + n < end:
            n = 0
            with gil:
                for c in p[:end - p].decode():
                    self.points[start + n] = c
                    n += 1
        # (An array of labels has room for the longest in every row, and NumPy's texts end before a NUL.)
        if n <= 0 or n > LONGEST or memchr(p, 0, end - p) is not NULL:
            return False
        self.text_ends[row] = start + n
        return True

    cdef take_labels(self):
        cdef uint32_t[:, ::1] table
        cdef Py_ssize_t k, start = 0, width = 1
        if not self.has_texts:
            return np.array(self.numbers[:self.n_rows]) if self.has_numbers else None
        for k in range(self.n_rows):
            width = max(width, self.text_ends[k] - start)
            start = self.text_ends[k]
        y, start = np.zeros((self.n_rows, width), np.uint32), 0
        table = y
        for k in range(self.n_rows):
            memcpy(&table[k, 0], self.points + start, (self.text_ends[k] - start) * sizeof(uint32_t))
            start = self.text_ends[k]
        return y.view(f"U{width}")[:, 0]

    cdef Found fault(self, const unsigned char* where, const char* expected) noexcept nogil:
        self.where, self.expected = where, expected
        return FAULT


# --- non-zeros ---------------------------------------------------------------------------------------------------------------

cdef inline void insert(const Entry* source, Entry* row, Py_ssize_t n) noexcept nogil:
    """Sort n entries of source to row by insertion; both may be the same."""
    cdef Py_ssize_t k, at
    cdef Entry entry
    for k in range(n):
        entry = source[k]
        at = k
        while at > 0 and row[at - 1].column > entry.column:
            row[at] = row[at - 1]
            at -= 1
        row[at] = entry


cdef inline Py_ssize_t count(const Entry* source, Py_ssize_t n, int shift, Py_ssize_t* starts) noexcept nogil:
    """Compute where the bucket of each digit starts; return the size of the largest."""
    cdef Py_ssize_t k, size, total = 0, largest = 0
    memset(starts, 0, 256 * sizeof(Py_ssize_t))
    for k in range(n):
        starts[(source[k].column >> shift) & 255] += 1
    for k in range(256):
        size = starts[k]
        starts[k] = total
        total += size
        largest = max(largest, size)
    return largest


cdef inline void scatter(const Entry* source, Entry* target, Py_ssize_t n, int shift, Py_ssize_t* starts) noexcept nogil:
    cdef Py_ssize_t k, digit
    for k in range(n):
        digit = (source[k].column >> shift) & 255
        target[starts[digit]] = source[k]
        starts[digit] += 1


cdef class EntryParser(LineParser):
    """Parse lines of columns and values; the columns of each row are then sorted and made unique."""
    cdef int64_t n_features
    cdef int high_digit                     # the shift to the highest 8 bits of a column
    cdef object dtype
    cdef double too_large                   # the least value that is infinite in the dtype
    cdef Entry* entries                     # of the batch's rows, and room to sort the last one
    cdef Py_ssize_t capacity, at            # at: where the next entry goes
    cdef int64_t[::1] ends                  # of the rows, behind a 0

    def __init__(self, labels, Py_ssize_t batch_rows, Py_ssize_t batch_nnz, int64_t n_features, dtype):
        LineParser.__init__(self, labels, batch_rows, batch_nnz)
        self.n_features, self.dtype = n_features, np.dtype(dtype)
        # Half-way between the largest float32 and the next power of two.
        self.too_large = 2.0 ** 128 - 2.0 ** 103 if self.dtype == np.float32 else INFINITY
        self.high_digit = max(0, int(n_features - 1).bit_length() - 8)
        self.ends = np.zeros(batch_rows + 1, np.int64)
        self.more(4096)

    def __dealloc__(self):
        free(self.entries)

    cdef int more(self, Py_ssize_t n) except -1 nogil:
        """Make room for n entries more, and for as many again as there are then."""
        self.capacity = 2 * (self.at + n)
        self.entries = <Entry*>sized(self.entries, self.capacity * sizeof(Entry))
        return 0

    cdef Found end_row(self, const unsigned char* line, bint in_order) except? FAULT nogil:
        """End the row of the entries since the last row, and add up the values of each column."""
        cdef Entry* row
        cdef Py_ssize_t n = self.at - self.nnz, k, last = 0, same
        cdef double total
        if n and not in_order:
            if self.at + n > self.capacity:
                self.more(n)
            row = self.entries + self.nnz
            self._sort(row, row + n, n)
            total = row[0].value
            for k in range(1, n):       # branch-free: repeated columns would be mispredicted
                same = row[k].column == row[last].column
                last += 1 - same
                total = row[k].value + same * total
                row[last].column = row[k].column
                row[last].value = total
                if not fabs(total) < self.too_large:
                    return self.fault(line, b"values of equal columns with a finite sum")
            self.at = self.nnz + last + 1
        self.nnz = self.at
        self.n_rows += 1
        self.ends[self.n_rows] = self.nnz
        return ROW

    cdef void _sort(self, Entry* row, Entry* spare, Py_ssize_t n) noexcept nogil:
        """Sort entries by column; those of one column stay in the order of the line.

        A few are sorted by insertion; hashed columns, which are spread evenly, are put in 256 buckets first; others are sorted
        by digits of 8 bits.
        """
        cdef Py_ssize_t[256] starts
        cdef Entry* source = row
        cdef int shift = 0
        if n <= FEW:
            insert(row, row, n)
        elif count(row, n, self.high_digit, starts) <= FEW:
            scatter(row, spare, n, self.high_digit, starts)
            insert(spare, row, n)
        else:
            while shift == 0 or (shift < 64 and (self.n_features - 1) >> shift):
                count(source, n, shift, starts)
                scatter(source, spare, n, shift, starts)
                source, spare = spare, source
                shift += 8
            if source != row:
                memcpy(row, source, n * sizeof(Entry))

    def batches(self):
        """Return the batch as (Rows, labels, None for the weights), alone, and begin a new one."""
        entries = np.asarray(<Entry[:self.capacity]>self.entries)[:self.nnz]
        data, indices = entries["value"].astype(self.dtype), entries["column"].astype(np.int32)
        indptr, labels = np.array(self.ends[:self.n_rows + 1]), self.take_labels()
        self.n_rows = self.nnz = self.at = 0
        if self.capacity > 4 * self.batch_nnz:      # after a row of very many non-zeros
            self.more(4096)
        return [(Rows(data, indices, indptr, len(indptr) - 1, self.n_features), labels, None)]


cdef inline int push(EntryParser parser, int64_t column, double value) except -1 nogil:
    if parser.at == parser.capacity:
        parser.more(1)
    parser.entries[parser.at].column, parser.entries[parser.at].value = column, value
    parser.at += 1
    return 0


# --- svmlight and libsvm: label [qid:id] index:value ... [# comment] ---------------------------------------------------------

cdef class SvmlightParser(EntryParser):
    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil:
        cdef const unsigned char* p = after_blanks(line)
        cdef const unsigned char* field = p
        cdef const unsigned char* behind
        cdef uint64_t digits             # unsigned, as too long an index overflows
        cdef int64_t last = -1
        cdef double value
        cdef bint in_order = True
        if p[0] == 35:                              # '#'
            return NOTHING
        while not is_over(p, end, 35) and p[0] != 58:
            p += 1
        if p[0] != 58:
            if self.has_texts and memchr(field, 44, p - field) is not NULL:
                return self.fault(field, b"one label (several, with commas between, are of another task)")
            if not self.put_label(field, p):
                return FAULT
        elif not self.unlabelled:
            return self.fault(field, b"a label before the first index (labels=None reads lines without)")
        else:
            p = field
        self.at = self.nnz
        while True:
            p = after_blanks(p)
            if p == end or p[0] == 35:
                break
            field = p
            if memcmp(p, b"qid:", 4) == 0:          # (bytes behind the line may be read)
                while not is_over(p, end, 35):
                    p += 1
                continue
            digits = 0
            while is_digit(p[0]):
                digits = digits * 10 + (p[0] - 48)
                p += 1
            if p == field:
                return self.fault(p, b"an index, a whole number >= 0")
            if p - field > MAX_DIGITS or <int64_t>digits >= self.n_features:
                return self.fault(field, b"an index < n_features (give a larger one) of at most 18 digits")
            if p[0] != 58:
                return self.fault(p, b"':' after an index")
            p += 1
            behind = read_number(p, &value)
            if behind is NULL or not is_over(behind, end, 35) or not fabs(value) < self.too_large:
                return self.fault(p, b"a finite number after ':', then a blank")
            p = behind
            in_order &= <int64_t>digits > last
            last = <int64_t>digits
            push(self, last, value)
        return self.end_row(line, in_order)


# --- VW: label [importance] ['tag]|namespace[:weight] feature[:value] ... |..., with VW's hashes -----------------------------

cdef inline uint32_t hash_name(const unsigned char* name, const unsigned char* end, uint32_t seed) noexcept nogil:
    """Hash a name as VW's --hash strings: white space around it is dropped, and a whole number is its own hash, modulo 2^32."""
    cdef const unsigned char* p
    cdef uint32_t number = 0, h = seed
    cdef Py_ssize_t n
    while name < end and name[0] <= 32:
        name += 1
    while name < end and (end - 1)[0] <= 32:
        end -= 1
    p = name
    while p < end and is_digit(p[0]):
        number = number * 10 + (p[0] - 48)
        p += 1
    if p == end:
        return number + seed
    n = end - name
    while name + 4 <= end:
        h = mixed(h, block_at(name))
        name += 4
    # The last bytes in one read, as BEHIND bytes past the line may be read: the end of a loop would be mispredicted.
    return finished(h, block_at(name) & ((<uint32_t>1 << (8 * (n & 3))) - 1), n)


cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    static __inline int lowest_bit(unsigned long long x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
    #else
    #define lowest_bit __builtin_ctzll
    #endif
    """
    int lowest_bit(uint64_t x) noexcept nogil


cdef inline bint ends_name(unsigned char c) noexcept nogil:
    return c == 32 or c == 9 or c == 10 or c == 13 or c == 58 or c == 124


cdef inline const unsigned char* after_name(const unsigned char* p) noexcept nogil:
    """Return the end of the name at p, at the latest the newline of its line."""
    while not ends_name(p[0]):
        p += 1
    return p


cdef inline uint64_t repeated(uint64_t byte) noexcept nogil:
    return byte * (~<uint64_t>0 // 255)


cdef inline uint64_t bytes_above(uint64_t eight, uint64_t limit) noexcept nogil:
    """Return the high bit of each of eight bytes that is larger than the limit, which is < 128."""
    return (((eight & repeated(127)) + repeated(127 - limit)) | eight) & repeated(128)


cdef inline Py_ssize_t usual_name(const unsigned char* p, uint32_t seed, uint32_t* hash) noexcept nogil:
    """Hash the name at p and return its length; 0 if it has control characters or begins with a digit.

    The result is that of `after_name` and `hash_name`, eight bytes at a time, without a branch on the rest, which would be
    mispredicted.
    """
    cdef uint64_t eight, ends
    cdef uint32_t h = seed, tail
    cdef Py_ssize_t n = 0, rest
    if is_digit(p[0]):
        return 0
    while True:
        memcpy(&eight, p + n, 8)
        ends = bytes_above(eight, 32) & bytes_above(eight ^ repeated(58), 0) & bytes_above(eight ^ repeated(124), 0)
        ends = ~ends & repeated(128)
        if ends:
            break
        h = mixed(mixed(h, <uint32_t>eight), <uint32_t>(eight >> 32))
        n += 8
    rest = lowest_bit(ends) >> 3
    if n + rest == 0 or not ends_name(p[n + rest]):
        return 0
    eight &= (<uint64_t>1 << (8 * rest)) - 1
    h = mixed(h, <uint32_t>eight) if rest >= 4 else h
    tail = <uint32_t>(eight >> 32) if rest >= 4 else <uint32_t>eight
    hash[0] = finished(h, tail, n + rest)
    return n + rest


cdef inline const unsigned char* after_word(const unsigned char* p, const unsigned char* end) noexcept nogil:
    while p < end and p[0] != 32 and p[0] != 9:
        p += 1
    return p


cdef inline bint is_of_another_task(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """Return True for a label of contextual bandits, of cost-sensitive classes, or of several labels."""
    cdef Py_ssize_t n = end - p
    return (memchr(p, 58, n) is not NULL or memchr(p, 44, n) is not NULL or (n == 2 and memcmp(p, b"ca", 2) == 0)
            or (n == 3 and memcmp(p, b"ccb", 3) == 0)
            or (n == 6 and (memcmp(p, b"shared", 6) == 0 or memcmp(p, b"slates", 6) == 0)))


cdef inline bint like_number(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """Return True if the value at p must be a number: it is empty, starts like one, or is nan or inf. Others are texts."""
    cdef Py_ssize_t n, k
    cdef char[8] word           # in lower case
    if is_over(p, end, 32):
        return True
    if p[0] == 43 or p[0] == 45:
        p += 1
    if is_digit(p[0]) or (p[0] == 46 and is_digit(p[1])):
        return True
    n = after_word(p, end) - p
    for k in range(min(n, 8)):
        word[k] = p[k] | 32
    return ((n == 3 and (memcmp(word, b"nan", 3) == 0 or memcmp(word, b"inf", 3) == 0))
            or (n == 8 and memcmp(word, b"infinity", 8) == 0))


cdef class VWParser(EntryParser):
    cdef double[::1] importances    # weights of the rows

    def __init__(self, labels, batch_rows, batch_nnz, n_features, dtype):
        EntryParser.__init__(self, labels, batch_rows, batch_nnz, n_features, dtype)
        self.importances = np.empty(batch_rows)

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil:
        cdef const unsigned char* p = after_blanks(line)
        cdef const unsigned char* bar = <const unsigned char*>memchr(p, 124, end - p)
        cdef const unsigned char* name
        cdef const unsigned char* field
        cdef uint32_t seed = 0, hash, n_anonymous = 0
        cdef double scale = 1.0, value
        cdef bint in_order = True                   # the row's columns rise
        if bar is NULL:
            return self.fault(end, b"'|' before the features")
        if self._read_label(p, bar) == FAULT:
            return FAULT
        self.at, p = self.nnz, bar
        while p < end:
            if p[0] == 124:                         # a namespace
                name = p + 1
                p = after_name(name)
                seed = hash_name(name, p, 0) if p > name else 0
                scale, n_anonymous = 1.0, 0
                if p < end and p[0] == 58:
                    field = p + 1
                    p = read_number(field, &scale)
                    if field - 1 == name or p is NULL or not is_over(p, end, 124) or not fabs(scale) < self.too_large:
                        return self.fault(field, b"a finite number for the weight of a namespace")
                p = after_blanks(p)
                continue
            name = p
            p += usual_name(p, seed, &hash)
            if p == name:
                p = after_name(p)
                hash = hash_name(name, p, seed)
            value = scale
            if not is_over(p, end, 124):
                if p[0] != 58:
                    return self.fault(p, b"a blank behind a feature")
                field = p + 1
                if like_number(field, end):
                    p = read_number(field, &value)
                    value *= scale
                    if p is NULL or not is_over(p, end, 124) or not fabs(value) < self.too_large:
                        return self.fault(field, b"a finite number after ':', then a blank")
                    if field == name + 1:               # ":value": numbered
                        hash = seed + n_anonymous
                        n_anonymous += 1
                else:
                    p = after_word(field, end)
                    hash = hash_name(field, p, hash)
                    value = 1.0                         # VW does not apply a namespace's weight to text values
            if value != 0.0:                            # as in VW
                hash &= <uint32_t>(self.n_features - 1)
                if self.at > self.nnz:
                    in_order &= hash > self.entries[self.at - 1].column
                push(self, hash, value)
            p = after_blanks(p)
        return self.end_row(line, in_order)

    cdef Found _read_label(self, const unsigned char* p, const unsigned char* bar) except? FAULT nogil:
        """Read what precedes the first '|': numbers, then a tag, which starts with an apostrophe or touches the '|'."""
        cdef const unsigned char* word
        cdef double number
        cdef int n_words = 0
        self.importances[self.n_rows] = 1.0
        while True:
            word = after_blanks(p)
            p = after_word(word, bar)
            if p == bar or word[0] == 39:               # nothing, or the tag
                break
            if n_words == 0:
                if self.has_texts and is_of_another_task(word, p):
                    return self.fault(word, b"a label of one class or one number (lines of VW's contextual bandits, "
                                      b"cost-sensitive and several labels are others)")
                if not self.put_label(word, p):
                    return FAULT
            elif n_words == 2:
                return self.fault(word, b"'|' behind label and importance (a third number, the base, is of another task)")
            elif read_number(word, &number) != p or not 0.0 <= number < INFINITY:
                return self.fault(word, b"a finite number >= 0 for the importance")
            else:
                self.importances[self.n_rows] = number
            n_words += 1
        if after_blanks(p) != bar:
            return self.fault(after_blanks(p), b"'|' behind the tag")
        if n_words == 0 and not self.unlabelled:
            return self.fault(bar, b"a label and a blank before '|' (labels=None reads lines without)")
        return ROW

    def batches(self):
        weights = np.array(self.importances[:self.n_rows])
        return [(rows, labels, weights) for rows, labels, _ in EntryParser.batches(self)]


# --- label<TAB>text and fastText ---------------------------------------------------------------------------------------------

cdef class TsvParser(LineParser):
    """make_hasher : None, rows_of makes the rows of a list of texts.

    is_fasttext : labels are words that begin with __label__, before the text.
    """
    cdef RowHasher hasher
    cdef object rows_of
    cdef list texts
    cdef bint is_fasttext

    def __init__(self, labels, batch_rows, batch_nnz, make_hasher, rows_of, bint is_fasttext, bytes header):
        LineParser.__init__(self, labels, batch_rows, batch_nnz)
        self.hasher = None if make_hasher is None else make_hasher()
        self.rows_of, self.texts, self.is_fasttext = rows_of, [], is_fasttext
        self.leave_out(header)

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil:
        cdef const unsigned char* start
        cdef const unsigned char* behind
        cdef const unsigned char* tab
        if self.is_fasttext:
            line = start = after_blanks(line)
            while end - line >= 9 and memcmp(line, b"__label__", 9) == 0:
                if line > start and not self.unlabelled:
                    return self.fault(line, b"one label a line")
                behind = after_word(line, end)
                if not self.put_label(line + 9, behind):
                    return FAULT
                line = after_blanks(behind)
            if line == start and not self.unlabelled:
                return self.fault(line, b"a label that begins with __label__ (labels=None reads lines without)")
        else:
            tab = <const unsigned char*>memchr(line, 9, end - line)
            if not self.unlabelled:
                if tab is NULL:
                    return self.fault(end, b"a tab between label and text (labels=None reads lines without)")
                if not self.put_label(line, tab):
                    return FAULT
            line = line if tab is NULL else tab + 1
        self.where = line
        if self.hasher is None:
            with gil:
                self.texts.append(line[:end - line].decode())
            self.n_rows, self.nnz = self.n_rows + 1, self.nnz + (end - line)
        else:
            self.hasher.add(line, end - line)
            self.n_rows, self.nnz = self.hasher.n_rows, self.hasher.nnz
        return ROW

    def batches(self):
        cdef RowHasher made = self.hasher
        labels, n_rows, nnz, texts = self.take_labels(), self.n_rows, self.nnz, self.texts
        self.texts, self.n_rows, self.nnz = [], 0, 0
        if made is None:
            return [(self.rows_of(texts), labels, None)]
        made.n_rows = made.nnz = 0              # (its memory is kept: new memory would be touched anew)
        values, columns, ends = made.values[:nnz].copy(), made.columns[:nnz].copy(), made.ends[:n_rows + 1].copy()
        return [(Rows(values, columns, ends, n_rows, made.n_features), labels, None)]


# --- CSV ---------------------------------------------------------------------------------------------------------------------

cdef class CsvParser(LineParser):
    """Collect the bytes of rows, without blank lines and repeated headers; `rows` returns them.

    A row is malformed if no quote closes a field in a block that can have no more bytes, or if it has too many fields or too few.
    Where it goes over several lines, each of them is then read as a row of its own.
    """
    cdef public Py_ssize_t n_fields
    cdef Py_ssize_t capacity
    cdef unsigned char* text
    cdef int64_t[::1] lines                 # in which rows begin

    def __init__(self, labels, Py_ssize_t batch_rows, Py_ssize_t batch_bytes):
        LineParser.__init__(self, labels, min(batch_rows, batch_bytes), batch_bytes)
        self.lines = np.empty(self.batch_rows, np.int64)

    def __dealloc__(self):
        free(self.text)

    cdef Found parse(self, const unsigned char* line, const unsigned char* end) except? FAULT nogil:
        cdef const unsigned char* p = line
        cdef const unsigned char* quote = line
        cdef bint is_quoted = False, begins = True, is_row, is_alone = line < self.block + self.alone
        cdef const unsigned char* stop = self.block + (self.position if is_alone else self.stop)
        cdef Py_ssize_t n = 1, k
        if memchr(line, QUOTE, end - line) is NULL:
            while p < end:
                n += p[0] == self.delimiter
                p += 1
            p = <const unsigned char*>memchr(line, CR, end - line)
            p = end if p is NULL else p
        else:
            while is_quoted or not (p[0] == LF or p[0] == CR):
                if is_quoted:
                    p = <const unsigned char*>memchr(p, QUOTE, stop - p)
                    if p is NULL:
                        break
                    is_quoted = p[1] == QUOTE
                    p += is_quoted
                elif p[0] == QUOTE and begins:
                    is_quoted, quote = True, p
                begins = not is_quoted and p[0] == self.delimiter
                n += begins
                p += 1
        if p is NULL and not is_alone and line >= self.block + self.final:
            return UNFINISHED
        is_row = p is not NULL and n == self.n_fields and (p[0] == LF or p[1] == LF)
        if not is_row and not is_alone and (p is NULL or p > end):
            self.alone = (stop if p is NULL else p) - self.block
            return self.parse(line, end)
        if p is NULL:
            return self.fault(quote, b"a quote at the end of the field")
        if p < end:
            return self.fault(p, b"quotes around a field with a carriage return")
        if not is_row:
            return self.fault(line, b"as many fields as there are columns")
        n = p - line
        if self.nnz + n + 1 > self.capacity:
            self.capacity = 2 * (self.nnz + n + 1)
            self.text = <unsigned char*>sized(self.text, self.capacity)
        memcpy(self.text + self.nnz, line, n)
        self.text[self.nnz + n] = LF
        self.lines[self.n_rows] = self.line_number
        self.n_rows, self.nnz = self.n_rows + 1, self.nnz + n + 1
        k, self.position = self.position, max(self.position, p - self.block + (1 if p[0] == LF else 2))
        for k in range(k, self.position):       # the lines within the row
            self.line_number += self.block[k] == LF
        return ROW

    def rows(self):
        """Return the text of the rows and the number of the line in which each begins; begin a new batch."""
        text, lines = self.text[:self.nnz], np.array(self.lines[:self.n_rows])
        self.n_rows = self.nnz = 0
        return text, lines
