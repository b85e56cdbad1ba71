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
    cdef Py_ssize_t min_n, max_n, min_chars, longest    # longest : bytes of a document
    cdef readonly int64_t n_features
    cdef uint64_t mask                      # n_features - 1 where that is a power of two, else 0
    cdef str decode_error
    cdef dict heard                         # by column: votes, name, whether others fell on it, sign of the name's hash; or None
    cdef Py_ssize_t most_heard              # columns in it
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
    cdef Table table                        # its columns
    cdef Py_ssize_t slots_size
    cdef dict crowd                         # counts by column, where columns crowd the table; else None
    # the rows since the last take: arrays, and the addresses of their numbers
    cdef object values, columns, ends
    cdef void* data
    cdef int32_t* indices
    cdef int64_t* indptr
    cdef Py_ssize_t entries_size, indptr_size
    cdef readonly Py_ssize_t n_rows, nnz

    # Append the row of one document of n bytes, in UTF-8 unless decode_error allows other bytes. Raises UnicodeDecodeError or
    # MemoryError, and then appends nothing.
    cdef int add(self, const unsigned char* text, Py_ssize_t n) except -1 nogil
