"""Models that fit: files without the features that were never met, compressed files, file objects; pruned models; and models for
scikit-learn and ONNX."""

import gzip
import io

import numpy as np
import pytest
from looping import within
from scipy.sparse import csr_matrix
from states import fingerprint

import onlinecls
from onlinecls import load

WIDE = 1 << 16


def wide(dtype="float32", n_classes=2, n_rows=60):
    """Rows that meet a few of many columns."""
    draw = np.random.default_rng(3)
    columns = np.sort(draw.choice(WIDE, (n_rows, 5)) // 50 * 50, axis=1)
    values = draw.normal(size=columns.size).astype(dtype)
    X = csr_matrix((values, columns.ravel(), np.arange(0, columns.size + 1, 5)), (n_rows, WIDE))
    X.sum_duplicates()
    return X, np.arange(n_rows) % n_classes


@within(n_classes=[2, 3])
@pytest.mark.parametrize("name", ["AROWClassifier", "PassiveAggressiveClassifier", "AdaGradClassifier"])
@within(average=[False, True])
def test_a_file_has_only_the_features_that_were_met(tmp_path, name, n_classes, average):
    X, y = wide(n_classes=n_classes)
    learner = getattr(onlinecls, name)(average=average, dtype="float32").partial_fit(X, y)
    learner.save(tmp_path / "thin")
    learner.save(tmp_path / "dense", dense=True)
    again = load(tmp_path / "thin")
    assert (tmp_path / "thin").stat().st_size < 0.1 * (tmp_path / "dense").stat().st_size
    assert fingerprint(again) == fingerprint(learner) == fingerprint(load(tmp_path / "dense"))
    assert fingerprint(again.partial_fit(X, y)) == fingerprint(learner.partial_fit(X, y))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_file_name_s_ending_compresses_it(tmp_path, ending):
    if ending == ".zst":
        pytest.importorskip("backports.zstd")
    X, y = wide()
    learner, path = onlinecls.AROWClassifier().partial_fit(X, y), tmp_path / f"model{ending}"
    learner.save(path, dense=True)
    first = path.read_bytes()
    learner.save(path, dense=True)
    assert path.read_bytes() == first  # no time, no name in it
    learner.save(tmp_path / "model", dense=True)
    assert len(first) < 0.2 * (tmp_path / "model").stat().st_size
    assert fingerprint(load(path)) == fingerprint(learner)
    path.rename(tmp_path / "renamed")
    assert fingerprint(load(tmp_path / "renamed")) == fingerprint(learner)
    for damaged in (first[: len(first) // 2], first[:4] + b"\xc3\x08" + bytes(6) + b"abcdef" * 20):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(ValueError, match="must be a whole compressed file, got one that is cut or damaged"):
            load(tmp_path / "damaged")
    with pytest.raises(ValueError, match="must be the path of an uncompressed file for mmap=True"):
        load(tmp_path / "renamed", mmap=True)


def test_models_go_through_file_objects(tmp_path):
    X, y = wide()
    learner, file = onlinecls.AROWClassifier().partial_fit(X, y), io.BytesIO()
    learner.save(file, metadata={"a": 1})
    again, metadata = load(io.BytesIO(file.getvalue()), return_metadata=True)
    assert fingerprint(again) == fingerprint(learner) and metadata == {"a": 1}
    learner.save(tmp_path / "model", metadata={"a": 1})
    assert (tmp_path / "model").read_bytes() == file.getvalue()
    assert fingerprint(load(io.BytesIO(gzip.compress(file.getvalue())))) == fingerprint(learner)
    with pytest.raises(ValueError, match="'<stream>' must be a model saved by onlinecls"):
        load(io.BytesIO(b"nothing of the kind"))


def test_a_mapped_model_must_be_dense(tmp_path):
    X, y = wide()
    learner = onlinecls.AROWClassifier().partial_fit(X, y)
    learner.save(tmp_path / "thin")
    with pytest.raises(ValueError, match=r"must be a dense file for mmap=True, .* Save the model with dense=True"):
        load(tmp_path / "thin", mmap=True)
    learner.save(tmp_path / "dense", dense=True)
    assert fingerprint(load(tmp_path / "dense", mmap=True)) == fingerprint(learner)


@pytest.mark.parametrize("change", [
    lambda told, arrays: told.update(thin={"values": 2**40}),
    lambda told, arrays: arrays["values.rows"].__setitem__(slice(None), arrays["values.rows"][::-1].copy()),
    lambda told, arrays: arrays["values.rows"].__setitem__(-1, WIDE + 1),
    lambda told, arrays: arrays.update({"values.records": arrays["values.records"][:-1]}),
    lambda told, arrays: arrays["values.background"].__setitem__(-1, np.nan),
    lambda told, arrays: arrays.pop("values.rows"),
])
def test_a_forged_file_of_sparse_arrays_is_refused(tmp_path, change):
    from internals import files

    X, y = wide()
    onlinecls.AROWClassifier().partial_fit(X, y).save(tmp_path / "model")
    told, arrays = files.read(tmp_path / "model", False)
    assert told["thin"] == {"values": WIDE + 1} and {"values.rows", "values.records", "values.background"} <= arrays.keys()
    change(told, arrays)
    files.write("a test", tmp_path / "forged", told, arrays)
    with pytest.raises(ValueError, match="must be a model that onlinecls could have saved"):
        load(tmp_path / "forged")


# --- pruned ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_pruned_feature_is_as_if_never_met(tmp_path, n_classes):
    X, y = wide(n_classes=n_classes)
    learner = onlinecls.AROWClassifier().partial_fit(X, y)
    before, variances = learner.coef_.copy(), learner.covariance_.copy()
    threshold = float(np.median(np.abs(before[before != 0])))
    learner.save(tmp_path / "before")
    assert learner.prune(threshold) is learner
    small = (np.abs(before) <= threshold).all(axis=0)
    assert (learner.coef_[:, small] == 0).all() and (learner.coef_[:, ~small] == before[:, ~small]).all()
    assert (learner.covariance_[:, ~small] == variances[:, ~small]).all()
    never = np.setdiff1d(np.arange(WIDE), X.indices)[0]
    assert (learner.covariance_[:, small] == variances[:, never][:, None]).all()
    learner.save(tmp_path / "after")
    assert (tmp_path / "after").stat().st_size < (tmp_path / "before").stat().st_size
    learner.partial_fit(X, y)
    for strange in (-1, float("nan"), True, "x"):
        with pytest.raises(ValueError, match="threshold must be a finite number >= 0"):
            learner.prune(strange)
    for options in ({"covariance": "full"}, {"average": True}):
        other = onlinecls.AROWClassifier(**options).partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
        with pytest.raises(ValueError, match="prune must have a learner whose features have numbers of their own"):
            other.prune(0.1)


