"""Models saved with weights of float16."""

import io

import numpy as np
import pytest
from internals import files, state_of
from matrices import continuous_problem
from scipy.sparse import csr_matrix

import onlinecls
from onlinecls import load
from onlinecls.text import HashingVectorizer

X, Y = continuous_problem(80, 6, seed=3, n_classes=3)
TARGETS = X @ np.array([2.0, -1.0, 0.5, 0.0, 1.0, 0.1]) + 3.0 * Y


def halved(learner):
    file = io.BytesIO()
    learner.save(file, weights="float16")
    file.seek(0)
    return load(file)


def rounded(values):
    """The slow twin: numbers of one kind and class as float16 shares of the largest one."""
    largest = max(map(abs, values))
    shares = [float(np.float16(value / (largest / 2.0**15))) for value in values]
    return [share * (largest / 2.0**15) for share in shares]


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["AROWClassifier", "PassiveAggressiveClassifier", "AdaGradClassifier", "FTRLClassifier", "AROWRegressor"])
def test_numbers_of_weights_are_rounded_to_shares_of_the_largest(name, dtype, unit):
    learner = getattr(onlinecls, name)(dtype=dtype).partial_fit(X * unit, TARGETS if name.endswith("Regressor") else Y)
    again = halved(learner)
    before, after = state_of(learner), state_of(again)
    records, found = (state.compact().values.reshape(X.shape[1] + 1, -1) for state in (before, after))
    for k in range(records.shape[1]):
        expected = np.array(rounded(records[:, k].tolist())).astype(dtype)
        assert np.array_equal(found[:, k], expected) and np.abs(found[:, k]).max() == np.abs(records[:, k]).max()
    assert np.array_equal(before.counters, after.counters) and again.dtype == learner.dtype
    assert (again.predict(X * unit) == learner.predict(X * unit)).mean() > 0.95 or name.endswith("Regressor")
    again.partial_fit(X * unit, TARGETS if name.endswith("Regressor") else Y)


def test_variances_that_no_row_has_changed_stay_and_none_becomes_0():
    wide = np.zeros((60, 40))
    wide[:, 0] = 1.0
    wide[np.arange(60), np.arange(60) % 13] += 2.0
    learner = onlinecls.AROWClassifier(r=1e-9).partial_fit(np.repeat(wide, 40, 0) * 1e3, np.repeat(np.arange(60) % 2, 40))
    again = halved(learner)
    assert (learner.covariance_ < 1e-13 * learner.covariance_.max()).any() and (again.covariance_ > 0.0).all()
    assert (again.covariance_[..., 13:] == learner.covariance_[..., 13:]).all()


def test_files_are_half_as_large_and_pipelines_are_rounded_too(tmp_path):
    texts, labels = [f"word{k % 900} word{k * 7 % 800} both" for k in range(2000)], [k % 4 for k in range(2000)]
    pipeline = onlinecls.make_stream_pipeline(HashingVectorizer(n_features=2**13), onlinecls.AROWClassifier(dtype="float32"))
    pipeline.partial_fit(texts, labels)
    for name, weights in (("whole", None), ("half", "float16")):
        pipeline.save(tmp_path / name, {"kept": 1}, weights=weights)
    assert (tmp_path / "half").stat().st_size < 0.65 * (tmp_path / "whole").stat().st_size
    again, metadata = load(tmp_path / "half", return_metadata=True)
    assert metadata == {"kept": 1} and (again.predict(texts) == pipeline.predict(texts)).mean() > 0.99
    np.testing.assert_allclose(again.decision_function(texts), pipeline.decision_function(texts), atol=1e-3)
    pipeline.save(tmp_path / "dense", dense=True, weights="float16")
    with pytest.raises(ValueError, match=r"must be a dense file for mmap=True, got .* with weights of float16"):
        load(tmp_path / "dense", mmap=True)
    assert load(tmp_path / "dense").predict(texts).tolist() == again.predict(texts).tolist()


def test_features_never_met_take_no_space_beside_rounded_ones(tmp_path):
    learner = onlinecls.AROWClassifier().partial_fit(csr_matrix(np.eye(30, 2500)), np.arange(30) % 2)
    for name, weights in (("whole", None), ("half", "float16")):
        learner.save(tmp_path / name, weights=weights)
    assert (tmp_path / "half").stat().st_size < (tmp_path / "whole").stat().st_size < 8000


@pytest.mark.parametrize("learner", [
    onlinecls.AROWClassifier(covariance="full"), onlinecls.AROWClassifier(average=True), onlinecls.PNormPerceptron(),
    onlinecls.DualAscentClassifier(), onlinecls.KernelOnlineClassifier(), onlinecls.FoReLClassifier(),
], ids=repr)
def test_learners_whose_features_share_numbers_are_not_rounded(learner, tmp_path):
    learner.partial_fit(X, Y > 0)
    (tmp_path / "model").write_bytes(b"before")
    with pytest.raises(ValueError, match="a learner whose features have numbers of their own for weights='float16'"):
        learner.save(tmp_path / "model", weights="float16")
    assert (tmp_path / "model").read_bytes() == b"before"


@pytest.mark.parametrize("weights", ["float32", True, 16])
def test_other_kinds_of_weights_are_refused(weights, tmp_path):
    with pytest.raises(ValueError, match="weights must be None or 'float16', got weights="):
        onlinecls.AROWClassifier().partial_fit(X, Y).save(tmp_path / "model", weights=weights)


@pytest.mark.parametrize("change", [
    lambda told, arrays: told["half"].update(values=["float16", told["half"]["values"][1]]),
    lambda told, arrays: told["half"].update(values=["float32", [0.0] * 6]),
    lambda told, arrays: told["half"].update(values=["float32", [1e308] * 6]),
    lambda told, arrays: told["half"].update(values=["float32", []]),
    lambda told, arrays: told["half"].update(values=["float32", told["half"]["values"][1][:-1]]),
    lambda told, arrays: told.update(half=["values"]), lambda told, arrays: told.pop("half"),
    lambda told, arrays: arrays.update(values=np.full_like(arrays["values"], np.nan)),
    lambda told, arrays: arrays.update(values=arrays["values"].astype(np.float32)),
])
def test_a_forged_file_of_rounded_weights_is_refused(tmp_path, change):
    onlinecls.AROWClassifier(dtype="float32").partial_fit(X, Y).save(tmp_path / "model", weights="float16")
    told, arrays = files.read(tmp_path / "model", False)
    assert arrays["values"].dtype == np.float16 and len(told["half"]["values"][1]) == 6
    change(told, arrays)
    files.write("a test", tmp_path / "forged", told, arrays)
    with pytest.raises(ValueError, match="must be a model that onlinecls could have saved"):
        load(tmp_path / "forged")


def test_rounded_weights_count_as_large_as_they_are_in_memory(tmp_path):
    path, n = tmp_path / "model.gz", 2**18
    learner = onlinecls.AROWClassifier(dtype="float64").partial_fit(csr_matrix(np.eye(20, n)), np.arange(20) % 2)
    learner.save(path, dense=True, weights="float16")
    assert load(path, max_bytes=10**7).n_features_in_ == n
    with pytest.raises(ValueError, match=r"arrays of at most 3,000,000 bytes \(max_bytes\), got 4,194,320"):
        load(path, max_bytes=3 * 10**6)
