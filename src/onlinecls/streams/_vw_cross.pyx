"""The namespaces of an example as VW reads them: some left out, n-grams of their features, products of features of several.

A namespace is known by its first byte, its letter, as in VW; one without a name has the letter blank. Of features with columns
c_1, ..., c_n the n-gram has the column (... (c_1 K + c_2) K + ...) K + c_n, K = 27942141, and the value 1; the product has the
column (... (c_1 F ^ c_2) F ^ ...) F ^ c_n, F = 16777619, modulo the number of columns, and the product of the values
(`kskip_ngram_transformer.cc`, `interactions_predict.h` of VW 9.11).
"""
from libc.math cimport fabs
from libc.stdint cimport uint32_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset

from .._hashing.sketch cimport Names
from ._lines cimport EntryParser, push, sized

cdef uint32_t GRAM = 27942141, PRODUCT = 16777619
cdef Py_ssize_t MOST = 1 << 22          # n-grams and products of a row
cdef char* TOO_MANY = b"at most 2^22 n-grams and products of the features of a row"
cdef char* TOO_LARGE = b"values with finite products"

cdef unsigned char ANY = 58             # ':', any namespace whose letter can be printed


cdef class Crossing:
    """The options, and the features of the row at hand.

    left_out, ngrams, skips : bytes of length 256, by the letter of a namespace. interactions : list of bytes, a letter for each
    namespace. names : remembers the names of columns, or None.
    """

    def __init__(self, bytes left_out, bytes ngrams, bytes skips, list interactions, n_features, Names names=None):
        cdef int k
        self.mask, self.names = <uint32_t>(n_features - 1), names
        for k in range(256):
            self.left_out[k], self.ngrams[k], self.skips[k] = left_out[k], ngrams[k], skips[k]
        self.n_interactions = len(interactions)
        self.interactions = <Terms*>sized(self.interactions, (self.n_interactions + 1) * sizeof(Terms))
        for k, letters in enumerate(interactions):
            self.interactions[k].order = len(letters)
            memcpy(self.interactions[k].letters, <const unsigned char*>letters, len(letters))

    def __dealloc__(self):
        free(self.interactions)
        free(self.extents)
        free(self.texts)
        free(self.pieces)

    cdef int begin_row(self) noexcept nogil:
        self.n_extents = self.n_texts = self.n_pieces = self.n_made = 0
        self.is_too_large = False
        return 0

    cdef int add(self, unsigned char letter, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
        if self.n_extents == self.extents_room:
            self.extents_room = 2 * self.extents_room + 16
            self.extents = <Extent*>sized(self.extents, self.extents_room * sizeof(Extent))
        self.extents[self.n_extents] = Extent(letter=letter, start=start, stop=stop)
        self.n_extents += 1
        return 0

    cdef Text* _new_text(self) except NULL nogil:
        if self.n_texts == self.texts_room:
            self.texts_room = 2 * self.texts_room + 64
            self.texts = <Text*>sized(self.texts, self.texts_room * sizeof(Text))
        self.n_texts += 1
        return &self.texts[self.n_texts - 1]

    cdef int keep(self, Py_ssize_t k, const unsigned char* text, Py_ssize_t n, Py_ssize_t n_space) except -1 nogil:
        cdef Text* kept
        self.n_texts = k                        # (a namespace that was left out had no texts)
        kept = self._new_text()
        kept.n, kept.n_space = n, n_space
        memcpy(kept.bytes, text, n)
        return 0

    cdef int _put_piece(self, uint32_t column, double value, Py_ssize_t text) except -1 nogil:
        if self.n_pieces == self.pieces_room:
            self.pieces_room = 2 * self.pieces_room + 64
            self.pieces = <Piece*>sized(self.pieces, self.pieces_room * sizeof(Piece))
        self.pieces[self.n_pieces] = Piece(column=column, value=value, text=text)
        self.n_pieces += 1
        return 0

    cdef const char* cross(self, EntryParser parser) except? NULL nogil:
        cdef int k, j
        cdef bint has_all
        self._group(parser)
        for k in range(self.n_interactions):
            has_all = self.n_letters > 0        # (so that each choice of letters makes a product)
            for j in range(self.interactions[k].order):
                has_all &= self.interactions[k].letters[j] == ANY or self.sizes[self.interactions[k].letters[j]] > 0
            if has_all:
                self.terms.order = self.interactions[k].order
                self._expand(parser, k, 0, 0)
        return TOO_MANY if self.n_made > MOST else TOO_LARGE if self.is_too_large else NULL

    cdef int _group(self, EntryParser parser) except -1 nogil:
        """Put the features of each letter side by side, n-grams behind them."""
        cdef int letter
        cdef Py_ssize_t i, k, row = parser.nnz
        cdef Extent* extent
        memset(self.sizes, 0, sizeof(self.sizes))
        for k in range(self.n_extents):
            self.sizes[self.extents[k].letter] += self.extents[k].stop - self.extents[k].start
        self.n_letters = 0
        for letter in range(256):
            if self.sizes[letter] == 0:
                continue
            self.present[self.n_letters] = letter
            self.n_letters += 32 <= letter < 127
            self.starts[letter] = self.n_pieces
            for k in range(self.n_extents):
                extent = &self.extents[k]
                if extent.letter == letter:
                    for i in range(extent.start, extent.stop):
                        self._put_piece(<uint32_t>parser.entries[row + i].column, parser.entries[row + i].value, i)
            for k in range(1, self.ngrams[letter]):
                self.offsets[0] = 0
                self._add_grams(parser, letter, k, self.skips[letter], 0, 1)
            self.sizes[letter] = self.n_pieces - self.starts[letter]
        return 0

    cdef int _add_grams(self, EntryParser parser, unsigned char letter, int left, int skips, int step, int n) except -1 nogil:
        """Add the n-grams of n features at `offsets` and `left` more, of which the next one is at the distance step + 1."""
        cdef Py_ssize_t i, start = self.starts[letter], last = self.sizes[letter] - self.offsets[n - 1]
        cdef uint32_t column
        cdef int k
        if left >= last or self.n_made > MOST:
            return 0
        if left == 0:
            self.n_made += last
            for i in range(start, start + last if self.n_made <= MOST else 0):
                column = self.pieces[i].column
                for k in range(1, n):
                    column = column * GRAM + self.pieces[i + self.offsets[k]].column
                column &= self.mask
                if self.names is not None:
                    self._name_gram(i, n, column)
                self._put_piece(column, 1.0, self.n_texts - 1)
                push(parser, column, 1.0)
            return 0
        self.offsets[n] = self.offsets[n - 1] + 1 + step
        self._add_grams(parser, letter, left - 1, skips, 0, n + 1)
        if skips > 0:
            self._add_grams(parser, letter, left, skips - 1, step + 1, n)
        return 0

    cdef int _name_gram(self, Py_ssize_t first, int n, uint32_t column) except -1 nogil:
        """Name an n-gram namespace^feature^feature."""
        cdef Text* made = self._new_text()
        cdef Text* part
        cdef int k
        made.n = 0
        for k in range(n):
            part = &self.texts[self.pieces[first + self.offsets[k]].text]
            if k:
                made.n = append(made.bytes, made.n, b"^", 1)
                made.n = append(made.bytes, made.n, part.bytes + part.n_space, part.n - part.n_space)
            else:
                made.n, made.n_space = append(made.bytes, 0, part.bytes, part.n), part.n_space
        return self.names.note(column, False, made.bytes, made.n)

    cdef int _expand(self, EntryParser parser, int number, int k, int first) except -1 nogil:
        """Choose letters for the interaction from term k on, for wildcards in rising order from the letter number `first` on."""
        cdef int choice
        if k == self.terms.order:
            return self._cross_letters(parser, number)
        self.terms.letters[k] = self.interactions[number].letters[k]
        if self.terms.letters[k] != ANY:
            return self._expand(parser, number, k + 1, first)
        for choice in range(first, self.n_letters):
            self.terms.letters[k] = self.present[choice]
            self._expand(parser, number, k + 1, choice)
        return 0

    cdef int _cross_letters(self, EntryParser parser, int number) except -1 nogil:
        """Multiply the features of chosen letters, in the order of VW.

        Of all interactions that choose these letters, in whatever order, the first one in the order of the alphabet counts. Where
        a letter occurs twice, all are sorted, so that each combination of its features is made once.
        """
        cdef Terms chosen = self.terms, terms = self.terms, best, other
        cdef int k
        cdef bint twice = False
        arrange(&self.interactions[number], &terms, &best)
        for k in range(self.n_interactions):
            if k != number and arrange(&self.interactions[k], &terms, &other):
                if memcmp(other.letters, best.letters, terms.order) < (k < number):
                    return 0
        sort(terms.letters, terms.order)
        for k in range(1, terms.order):
            twice |= terms.letters[k] == terms.letters[k - 1]
        self.terms = terms if twice else best
        self._multiply(parser, 0, 0, 0, 1.0)
        self.terms = chosen                     # (whose first letters go on to others)
        return 0

    cdef int _multiply(self, EntryParser parser, int k, Py_ssize_t first, uint32_t hash, double value) except -1 nogil:
        """Multiply a product of k features, of this hash and value, by those of the letters from k on."""
        cdef unsigned char letter = self.terms.letters[k]
        cdef Py_ssize_t i, start = self.starts[letter]
        cdef Py_ssize_t stop = start + self.sizes[letter]
        cdef uint32_t column
        cdef double product
        cdef bint is_last = k == self.terms.order - 1
        if k and letter == self.terms.letters[k - 1]:
            start = first
        self.n_made += stop - start if is_last else 0
        if self.n_made > MOST:
            return 0
        for i in range(start, stop):
            column = hash * PRODUCT ^ self.pieces[i].column
            product = value * self.pieces[i].value
            self.chosen[k] = i
            if not is_last:
                self._multiply(parser, k + 1, i, column, product)
            elif product != 0.0:                            # (it may be below the least number)
                self.is_too_large |= not fabs(product) < parser.too_large
                push(parser, column & self.mask, product)
                if self.names is not None:
                    self._name_product(column & self.mask)
        return 0

    cdef int _name_product(self, uint32_t column) except -1 nogil:
        """Name a product name*name."""
        cdef unsigned char[NAME_BYTES] text
        cdef Text* part
        cdef Py_ssize_t n = 0
        cdef int k
        for k in range(self.terms.order):
            part = &self.texts[self.pieces[self.chosen[k]].text]
            if k:
                n = append(text, n, b"*", 1)
            n = append(text, n, part.bytes, part.n)
        return self.names.note(column, False, text, n)


cdef inline int sort(unsigned char* letters, int n) noexcept nogil:
    cdef unsigned char letter
    cdef int k, j
    for k in range(1, n):
        letter, j = letters[k], k
        while j > 0 and letters[j - 1] > letter:
            letters[j] = letters[j - 1]
            j -= 1
        letters[j] = letter
    return 0


cdef inline bint arrange(const Terms* interaction, const Terms* terms, Terms* arranged) noexcept nogil:
    """Put letters in the order in which VW's interaction has them; return False if it has others.

    Two wildcards rise, three and more fall.
    """
    cdef unsigned char[16] rest
    cdef int k, j, n = terms.order
    arranged.order = n
    if interaction.order != n:
        return False
    memcpy(rest, terms.letters, n)
    for k in range(interaction.order):
        if interaction.letters[k] == ANY:
            continue
        j = 0
        while j < n and rest[j] != interaction.letters[k]:
            j += 1
        if j == n:
            return False
        arranged.letters[k] = rest[j]
        rest[j] = rest[n - 1]
        n -= 1
    sort(rest, n)                               # what is left is the wildcards'
    j = 0
    for k in range(interaction.order):
        if interaction.letters[k] == ANY:
            arranged.letters[k] = rest[j] if n <= 2 else rest[n - 1 - j]
            j += 1
    return True
