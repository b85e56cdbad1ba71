"""Declarations of what VW makes of the namespaces of an example, for the parser of VW's text."""
from libc.stdint cimport uint32_t

from .._hashing.sketch cimport Names
from ._lines cimport EntryParser


cdef enum:
    NAME_BYTES = 64                 # kept of namespace^feature


cdef struct Text:                   # the name of a feature
    Py_ssize_t n, n_space           # its bytes, and those of the namespace and the ^ in them
    unsigned char[NAME_BYTES] bytes


cdef struct Extent:                 # the features of a namespace, counted from the row's first
    unsigned char letter
    Py_ssize_t start, stop


cdef struct Piece:                  # a feature of an n-gram or a product
    uint32_t column
    Py_ssize_t text                 # its name, if names are kept
    double value


cdef struct Terms:                  # an interaction: the letters of its namespaces
    int order
    unsigned char[16] letters


cdef class Crossing:
    cdef bint[256] left_out         # by the first byte of a namespace, as all arrays of 256
    cdef int[256] ngrams
    cdef int[256] skips
    cdef Terms* interactions
    cdef int n_interactions, n_letters      # n_letters: of those present, those that can be printed
    cdef bint is_too_large
    cdef Names names
    cdef uint32_t mask
    cdef Extent* extents
    cdef Text* texts
    cdef Piece* pieces
    cdef Py_ssize_t n_extents, n_texts, n_pieces, extents_room, texts_room, pieces_room, n_made
    cdef Py_ssize_t[256] starts     # of the pieces of each letter
    cdef Py_ssize_t[256] sizes
    cdef unsigned char[256] present         # letters with features, in order
    cdef Py_ssize_t[16] offsets     # of the features of an n-gram
    cdef Terms terms                # the interaction at hand, without wildcards
    cdef Py_ssize_t[16] chosen      # its pieces
    cdef int begin_row(self) noexcept nogil
    cdef int add(self, unsigned char letter, Py_ssize_t start, Py_ssize_t stop) except -1 nogil
    # Keep the text of the row's feature k.
    cdef int keep(self, Py_ssize_t k, const unsigned char* text, Py_ssize_t n, Py_ssize_t n_space) except -1 nogil
    # Append the n-grams and products of the row; return what is expected of a row that has too many or too large ones, or NULL.
    cdef const char* cross(self, EntryParser parser) except? NULL nogil
    cdef int _put_piece(self, uint32_t column, double value, Py_ssize_t text) except -1 nogil
    cdef Text* _new_text(self) except NULL nogil
    cdef int _group(self, EntryParser parser) except -1 nogil
    cdef int _add_grams(self, EntryParser parser, unsigned char letter, int left, int skips, int step, int n) except -1 nogil
    cdef int _name_gram(self, Py_ssize_t first, int n, uint32_t column) except -1 nogil
    cdef int _expand(self, EntryParser parser, int number, int k, int first) except -1 nogil
    cdef int _cross_letters(self, EntryParser parser, int number) except -1 nogil
    cdef int _multiply(self, EntryParser parser, int k, Py_ssize_t first, uint32_t hash, double value) except -1 nogil
    cdef int _name_product(self, uint32_t column) except -1 nogil


cdef inline Py_ssize_t append(unsigned char* text, Py_ssize_t n, const unsigned char* p, Py_ssize_t length) noexcept nogil:
    """Append bytes to a text of n bytes, as far as there is room; return the new length."""
    cdef Py_ssize_t k, more = min(length, NAME_BYTES - n)
    for k in range(more):
        text[n + k] = p[k]
    return n + more
