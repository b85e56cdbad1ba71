"""The maximisations of dual ascent: along a line, over a row's dual variables. They need no model, only a row's numbers."""

cdef struct Line:
    # θ_c += s d_c x for the classes which[:n], and the numbers of f*'s derivative along it. Entropic: the masses up and down of
    # the row's m features in each of these classes (one for all features of ±h: P and N of the closed form), and the rest of Z.
    bint entropic
    bint far                # up, down and rest are logarithms, as steps may go beyond what masses hold
    Py_ssize_t n, m, capacity
    const Py_ssize_t* which
    double* d
    double* up
    double* down
    double* h
    double* powers          # workspace of two rows
    double rest
    double sigma
    double start, slope     # Euclidean: start + s slope
    double ridge            # the loss gives the dual gain s - ridge s²/2 (squared loss; else 0)

cdef double climb(const Line* line, double high, double gain, double c, const double* a, const double* da, Py_ssize_t k,
                  double guess) noexcept nogil
cdef double log_sum(const double* values, Py_ssize_t k, double* shares) noexcept nogil
cdef double single(Line* line, double margin, double gamma, double c, double* gain, int loss, int update) noexcept nogil
cdef void share_out(const double* excess, Py_ssize_t k, double most, double* alpha, double* sorted) noexcept nogil
cdef void balance(const double* scores, Py_ssize_t k, Py_ssize_t label, double kappa, const double* open,
                  double* shares) noexcept nogil
cdef void ascend_pairwise(Line* line, Py_ssize_t k, Py_ssize_t label, double gamma, double c, const double* open,
                          double* alpha, double* work) noexcept nogil
cdef void follow(Line* line, double s) noexcept nogil
cdef void interior(Line* line, Py_ssize_t k, double c, double* shares, double* work) noexcept nogil
cdef double entropy(const double* shares, Py_ssize_t k) noexcept nogil
