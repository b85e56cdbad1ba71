"""`Rows`, the container between what reads rows and what learns them."""

import pickle

import numpy as np
import pytest
from matrices import MATRIX_KINDS
from numpy.testing import assert_array_equal
from scipy import sparse

from onlinecls import AROWClassifier
from onlinecls._input.validate import encode, read_rows
from onlinecls._rows import Rows, converted

TABLE = sparse.random(30, 7, 0.4, random_state=np.random.RandomState(0)).toarray().astype(np.float32)
TABLE[[0, 4, 5, 29]] = 0.0


def as_table(rows: Rows) -> np.ndarray:
    found = rows.array()
    assert found.shape == rows.shape == (rows.n_rows, rows.n_features)
    return found.toarray() if sparse.issparse(found) else found


def frame(X):
    return pytest.importorskip("pandas").DataFrame(X)


def stored(kind, values):
    """Even numbers and zeros, as a matrix of the kind with values of this type."""
    X = kind(2.0 * (TABLE != 0) if values is bool else 2.0 * np.abs(8 * TABLE).round())
    if isinstance(X, list):
        return np.asarray(X).astype(values).tolist()
    if getattr(X, "format", "") == "csr":  # (scipy makes no matrices of some types)
        X.data = X.data.astype(values)
        return X
    return X.astype(values) if getattr(X, "dtype", None) != values else X


@pytest.mark.parametrize("values", [np.float32, np.float64, np.float16, np.longdouble, np.int8, np.uint64, bool, object])
def test_all_storages_make_the_same_rows_and_models(values):
    """To the bit, without a change of what was given, in calls that C reads and in those that Python reads."""
    y = np.arange(30) % 3
    kinds = {**MATRIX_KINDS, "frame": frame}
    if values in (object, np.float16):
        kinds = {name: kind for name, kind in kinds.items() if name.startswith((*["csr"][values is object :], "dense", "frame"))}
    table = stored(np.array, values).astype(np.float64)
    models = set()
    for name, kind in kinds.items():
        for dtype in (None, np.float32, np.float64):
            X = stored(kind, values)
            before = pickle.dumps(X)
            rows = read_rows("test", X, dtype)
            own = np.float32 if values is np.float32 and name != "list_of_lists" else np.float64
            assert rows.data.dtype == (own if dtype is None else dtype), name
            assert (as_table(rows) == table).all(), name
            assert np.shares_memory(converted(rows.array(), None).data, rows.data) and pickle.dumps(X) == before
        model = AROWClassifier(dtype="float64").partial_fit(X, y)
        model.partial_fit(X, y).partial_fit(X, y, sample_weight=[1.0] * 30)
        models.add((model.decision_function(X).tobytes(), model.coef_.tobytes(), model.covariance_.tobytes()))
        assert pickle.dumps(X) == before
    assert len(models) == 1


def test_duplicates_are_summed_in_the_order_in_which_they_came():
    """In any other order the largest would hide other numbers."""
    values = np.random.default_rng(0).permutation(np.tile([1e16, -1e16, 1.0, 0.3], 50))
    X = sparse.csr_matrix((values, np.arange(200) % 2, [0, 0, 200]), shape=(2, 3))
    rows = converted(X, None)
    assert rows.data.tolist() == [np.cumsum(values[at::2])[-1] for at in (0, 1)]
    assert rows.indices.tolist() == [0, 1] and rows.indptr.tolist() == [0, 0, 2]


def test_a_column_may_have_the_name_of_an_attribute_of_sparse_matrices():
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(TABLE[:, :3], columns=["format", "indices", "shape"])
    assert_array_equal(as_table(read_rows("test", named, None)), TABLE[:, :3])


@pytest.mark.parametrize("classes", [[-3, -1, 0, 2, 7], list(range(5, 60, 3)), [0, 1, 2**62]])
def test_labels_are_encoded_by_table_as_by_search(classes):
    classes = np.array(classes)
    y = np.random.default_rng(0).choice(classes, 3000)
    codes, unknown = encode("Learner", y, classes)
    assert unknown is None and codes.dtype == np.int32 and (codes == np.searchsorted(classes, y)).all()
    y[7] = classes[0] + 1
    assert y[7] in classes or np.flatnonzero(encode("Learner", y, classes, True)[1]).tolist() == [7]
