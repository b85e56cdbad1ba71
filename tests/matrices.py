"""Every kind of matrix that an estimator may be handed, and a problem to hand it.

MATRIX_KINDS maps a readable name to a function dense ndarray -> X.  X holds exactly the values and the dtype of the array.
(Maps of files, which are read-only, are among scikit-learn's checks.)
"""

import numpy as np
from scipy import sparse


def csr32(X):
    return with_buffers(sparse.csr_matrix(X), np.int32)


def csr64(X):
    return with_buffers(sparse.csr_matrix(X), np.int64)


def csr_unsorted(X):
    """Return CSR with each row's entries from right to left."""
    csr = sparse.csr_matrix(X)
    rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    order = np.lexsort((-csr.indices, rows))
    return raw_csr(X, csr.data[order], csr.indices[order], csr.indptr)


def csr_duplicates(X):
    """Return CSR with each entry as two halves side by side: x/2 + x/2 is exactly x."""
    csr = sparse.csr_matrix(X)
    return raw_csr(X, np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr)


def csr_explicit_zeros(X):
    """Every entry stored, the zeros too."""
    n_samples, n_features = X.shape
    indices = np.tile(np.arange(n_features, dtype=np.int32), n_samples)
    indptr = np.arange(n_samples + 1, dtype=np.int32) * n_features
    return raw_csr(X, X.ravel().copy(), indices, indptr)


def csr_read_only(X):
    csr = sparse.csr_matrix(X)
    for buffer in (csr.data, csr.indices, csr.indptr):
        buffer.flags.writeable = False
    return csr


def raw_csr(X, data, indices, indptr):
    """Return a CSR matrix of just these arrays: nothing is sorted, summed or dropped."""
    csr = sparse.csr_matrix(X.shape, dtype=X.dtype)
    csr.data, csr.indices, csr.indptr = data, indices.astype(np.int32), indptr.astype(np.int32)
    return csr


def with_buffers(csr, index_dtype):
    # Set afterwards: the constructor turns int64 indices into int32 whenever they fit.
    csr.indices, csr.indptr = csr.indices.astype(index_dtype), csr.indptr.astype(index_dtype)
    return csr


def dense_c(X):
    return np.array(X, order="C")


def dense_f(X):
    return np.array(X, order="F")


def dense_strided(X):
    """Every second column of a wider array, whose other columns are NaN: reading one shows."""
    wide = np.full((X.shape[0], 2 * X.shape[1]), np.nan, dtype=X.dtype)
    wide[:, ::2] = X
    return wide[:, ::2]


def dense_unaligned(X):
    """Return the same numbers one byte off: none lies at a multiple of its size."""
    moved = np.empty(X.nbytes + 1, np.uint8)[1:].view(X.dtype).reshape(X.shape)
    moved[...] = X
    return moved


def dense_swapped(X):
    """Return the numbers with their bytes in the other order."""
    return X.astype(X.dtype.newbyteorder())


def list_of_lists(X):
    """Lists of NumPy scalars, which carry the dtype; Python's own floats would make it float64."""
    return [list(row) for row in X]


MATRIX_KINDS = {
    "csr32": csr32, "csr64": csr64, "csr_array": sparse.csr_array, "csr_unsorted": csr_unsorted, "csr_duplicates": csr_duplicates,
    "csr_explicit_zeros": csr_explicit_zeros, "csr_read_only": csr_read_only, "csc": sparse.csc_matrix, "coo": sparse.coo_matrix,
    "dia": sparse.dia_matrix, "bsr": sparse.bsr_array, "lil": sparse.lil_array, "dok": sparse.dok_matrix, "dense_c": dense_c,
    "dense_f": dense_f, "dense_strided": dense_strided, "dense_unaligned": dense_unaligned, "dense_swapped": dense_swapped,
    "list_of_lists": list_of_lists,
}


def continuous_problem(n_samples, n_features, seed, n_classes=2, density=0.5, dtype=np.float64):
    """Random rows with zeros, and labels of a noisy linear rule.  Returns X (dense) and y.

    y is in {-1, +1} for two classes and in 0..n_classes-1 for more.  The values are random float32 numbers whatever the dtype, so
    both dtypes hold the same problem.  Every 25th row, from the 11th on, is empty.

    There are no ties and no repeated rows (but for the empty ones), which would make an update or none by rounding.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32) * (rng.random((n_samples, n_features)) < density)
    X[10::25] = 0.0
    X = X.astype(dtype)
    noise = 0.3 * np.sqrt(n_features * density)  # against scores whose standard deviation is sqrt(n_features * density)
    rule = rng.standard_normal((n_features, n_classes))
    scores = X @ rule + noise * rng.standard_normal((n_samples, n_classes))
    y = scores.argmax(axis=1)
    return X, (2 * y - 1 if n_classes == 2 else y)


def advice(n, d, seed):
    """Return the advice of experts of different quality, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    noise = np.linspace(0.2, 0.9, d)
    X = np.clip(y[:, None] * (1 - noise) + noise * rng.random((n, d)) - noise / 4, 0.0, 1.0)
    return np.where(rng.random((n, d)) < 0.1, 0.0, X), y
