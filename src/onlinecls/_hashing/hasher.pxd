"""Declarations of `RowHasher` for other extension modules, which call it without the GIL."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef struct Unit:           # a slice of the document
    int32_t start, end


cdef struct Slot:           # of the table that counts the columns of one document
    uint32_t key            # column + 1; 0: empty
    int32_t count           # sum of the signs of its tokens


cdef struct Table:          # home slots are in the order of columns, so that reading the table nearly sorts them
    Slot* slots             # two thirds more than homes: at most that many are in use
    int32_t* used           # places of slots
    Py_ssize_t home_size, n_used
    uint64_t scale          # home = column * scale >> 32


cdef class RowHasher:
    """Turn documents into CSR rows: `add` one document after the other, then `take` the rows."""
    # how a row is made
    cdef int analyzer, norm
    cdef bint lowercase, binary, alternate_sign, single
    cdef Py_ssize_t min_n, max_n, min_chars
    cdef readonly int64_t n_features
    cdef uint64_t mask                      # n_features - 1 where that is a power of two, else 0
    cdef str decode_error
    cdef object heard                       # called with (column, whether its sign is negative, bytes) of each token, or None
    cdef bytes stop_bytes
    cdef const unsigned char* stop_text
    cdef Py_ssize_t* stops                  # a hash table of each stop word's (begin, end) in stop_bytes; end 0: empty
    cdef Py_ssize_t stop_mask               # -1: no stop words
    # the document that is being hashed
    cdef unsigned char* text                # lower-cased UTF-8
    cdef unsigned char* flags               # for each byte: 0x80 in a word (for characters: in white space), else 0
    cdef unsigned char* joined              # its units side by side, so that an n-gram is a slice
    cdef Unit* units                        # words or characters
    cdef Py_ssize_t text_size
    cdef bint ascii
    # its columns
    cdef Table table
    cdef Py_ssize_t slots_size
    cdef bint listing                       # the columns are in a list instead, as they crowd the table
    cdef Slot* listed                       # one for each token, until they are sorted and summed
    cdef Py_ssize_t n_listed, listed_size
    # the rows since the last take
    cdef void* data
    cdef int32_t* indices
    cdef int64_t* indptr
    cdef Py_ssize_t entries_size, indptr_size
    cdef readonly Py_ssize_t n_rows, nnz

    # Append the row of one document of n bytes, in UTF-8 unless decode_error allows other bytes. Raises UnicodeDecodeError or
    # MemoryError, and then appends nothing.
    cdef int add(self, const unsigned char* text, Py_ssize_t n) except -1 nogil

    cdef int _add_points(self, const void* points, Py_ssize_t n, int kind) except -2 nogil
    cdef int _add_through_utf8(self, str text) except -1
    cdef bint _is_short(self, str text) except -1
    cdef int _refuse_long(self, Py_ssize_t n) except -1 nogil
    cdef int _hash(self, Py_ssize_t n) except -1 nogil
    cdef int _hash_words(self, Py_ssize_t n_units) except -1 nogil
    cdef Py_ssize_t _normalise(self, const unsigned char* text, Py_ssize_t n, bint lowercase) except -1 nogil
    cdef Py_ssize_t _through_python(self, const unsigned char* text, Py_ssize_t n) except -1
    cdef Py_ssize_t _words(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t _without_stops(self, Py_ssize_t n_units) noexcept nogil
    cdef void _join(self, Py_ssize_t n_units) noexcept nogil
    cdef int _characters(self, Py_ssize_t n) except -1 nogil
    cdef int _padded_words(self, Py_ssize_t n) except -1 nogil
    cdef int _hash_ngrams(self, const unsigned char* text, Py_ssize_t first, Py_ssize_t n_units) except -1 nogil
    cdef int _hash_ngrams_one_by_one(self, const unsigned char* text, Py_ssize_t first, Py_ssize_t n_units) except -1 nogil
    cdef int _add_dict(self, dict words) except -1
    cdef int _hear(self, uint32_t column, uint32_t h, const unsigned char* text, Py_ssize_t n) except -1 with gil
    cdef int _hash_one(self, const unsigned char* text, Py_ssize_t n) except -1 nogil
    cdef int _open(self, Py_ssize_t n_tokens) except -1 nogil
    cdef int _widen(self, Py_ssize_t n) except -1 nogil
    cdef int _rehash(self, Py_ssize_t home_size) except -1 nogil
    cdef Py_ssize_t _pack(self) noexcept nogil
    cdef int _list(self) except -1 nogil
    cdef int _list_one(self, uint32_t column, int32_t count) except -1 nogil
    cdef Py_ssize_t _merged(self) noexcept nogil
    cdef int _close(self) except -1 nogil
    cdef int _end_row(self, Py_ssize_t n) noexcept nogil
    cdef int _room(self, Py_ssize_t n_bytes) except -1 nogil
    cdef int _room_for_row(self, Py_ssize_t n_entries) except -1 nogil
