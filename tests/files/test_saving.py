"""A model in a file: nothing of it changes, nothing but a whole model is ever there, and nothing else is ever loaded."""

import copy
import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
import zipfile

import internals
import numpy as np
import pytest
from forging import forged, poking
from internals import state_of
from matrices import continuous_problem
from states import fingerprint

import onlinecls
from onlinecls import load

X, Y = continuous_problem(60, 5, seed=40, n_classes=3)
NO_MODEL = "must be a model that onlinecls could have saved"
TWO, LATE = (Y > 0).astype(int), np.minimum(np.arange(60) // 25, 2)


def through_a_file(learner, tmp_path):
    learner.save(tmp_path / "model")
    return load(tmp_path / "model")


@pytest.fixture
def saved(tmp_path):
    """Return the path of a small model's file."""
    path = tmp_path / "model"
    onlinecls.AROWClassifier(r=0.5).partial_fit(X, Y).save(path, {"bits": 18})
    return path


def refused(path, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        load(path)


# --- nothing changes -----------------------------------------------------------------------------------------------------------


def test_a_file_of_a_full_covariance_keeps_a_single_label_and_another_covariance_set_since(tmp_path):
    learner = onlinecls.AROWClassifier(covariance="full").partial_fit(X[:5], np.zeros(5, int))
    again = through_a_file(learner, tmp_path)
    assert fingerprint(again.partial_fit(X, Y)) == fingerprint(learner.partial_fit(X, Y))
    again = through_a_file(learner.set_params(covariance="diagonal"), tmp_path)
    assert again.covariance == "diagonal" and again.covariance_.ndim == 3 and fingerprint(again) == fingerprint(learner)
    with pytest.raises(ValueError, match="partial_fit must go on with the kind of model it began with"):
        again.partial_fit(X, Y)


@pytest.mark.parametrize(("make", "others"), [
    (onlinecls.DualAscentRegressor, {"update": "DA1"}),
    (onlinecls.DualAscentClassifier, {"update": "DA2", "loss": "log_loss"}),
])
def test_another_loss_and_update_set_since_the_last_row_act_as_in_memory(make, others, tmp_path):
    y = Y == 0 if make is onlinecls.DualAscentClassifier else X.sum(axis=1)
    learner = make().partial_fit(X, y).set_params(**others)
    learner.save(tmp_path / "model")
    assert fingerprint(load(tmp_path / "model").partial_fit(X, y)) == fingerprint(learner.partial_fit(X, y))


def test_parameters_set_since_the_last_row_come_back_from_a_file(tmp_path):
    """Reading uses the parameters of learning, and the next call those that are set now."""
    make = lambda: onlinecls.AdaGradClassifier(update="dual_averaging", l1=0.01).partial_fit(X, TWO).set_params(l1=0.5)  # noqa: E731
    again = through_a_file(make(), tmp_path)
    assert again.l1 == 0.5 and fingerprint(again) == fingerprint(make())
    assert fingerprint(again.partial_fit(X, TWO)) == fingerprint(make().partial_fit(X, TWO))


@pytest.mark.parametrize("labels", [
    np.array([-1, 1], np.int8), np.array([0, 2**63], np.uint64), np.array([False, True]), np.array([-0.0, 1.0], np.float32),
    np.array(["a", "ü\ud800\U0001f600"], "U40"), np.array([b"a", b"\xff"]),
    np.array([3, 4], ">i4"), np.array(["x", "y"], ">U2"),
    np.array([1.0, 2.0], np.float16),
], ids=lambda labels: labels.dtype.str)
def test_labels_of_every_type_come_back_from_a_file(labels, tmp_path):
    learner = onlinecls.Perceptron().partial_fit([[1.0], [-1.0]], labels)
    assert fingerprint(through_a_file(learner, tmp_path)) == fingerprint(learner)


def test_feature_names_and_sparsified_weights_come_back_from_a_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "ü", "d", "a b"])
    learner = onlinecls.Perceptron().partial_fit(frame, Y).sparsify()
    again = through_a_file(learner, tmp_path)
    assert fingerprint(again.densify()) == fingerprint(learner.densify())
    learner.sparsify()
    again = through_a_file(learner, tmp_path)
    assert (again.coef_ != learner.coef_).nnz == 0 and type(again.coef_) is type(learner.coef_)
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame[frame.columns[::-1]])


PARAMETERS = [
    {"C": float("inf")}, {"C": np.float32(0.1)}, {"C": np.float64(0.1)}, {"C": np.int64(3)}, {"max_iter": np.uint8(5)},
    {"fit_intercept": np.True_}, {"loss": np.str_("hinge")}, {"dtype": np.float32}, {"dtype": np.dtype("f8")},
    {"dtype": "float32"}, {"dtype": float},
    {"random_state": np.int32(7)}, {"random_state": 2**32 - 1}, {"tol": None}, {"tol": -1e300}, {"C": np.float64("inf")},
    {"class_weight": {0: 1, 1: np.float32(0.1), 2: 2.5}}, {"class_weight": {np.int64(2): 1.0}}, {"average": 3},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_parameters_come_back_from_a_file_with_their_types(parameters, tmp_path):
    learner = onlinecls.PassiveAggressiveClassifier(**parameters).partial_fit(X, Y)
    again = through_a_file(learner, tmp_path)
    ((name, value),) = parameters.items()
    found = getattr(again, name)
    assert type(found) is type(value) and found == value and again.get_params() == learner.get_params()
    if isinstance(value, dict):
        assert [(type(k), type(v)) for k, v in found.items()] == [(type(k), type(v)) for k, v in value.items()]


@pytest.mark.parametrize("name, value", [
    ("random_state", np.random.RandomState(0)), ("random_state", np.random.default_rng(0)),
    ("n_jobs", object()), ("class_weight", {0: [1.0]}),
])
def test_parameters_that_a_file_cannot_hold_are_refused(name, value, saved):
    before = saved.read_bytes()
    learner = onlinecls.Perceptron().partial_fit(X, Y).set_params(**{name: value})
    with pytest.raises(ValueError, match=rf"^Perceptron: save must have None, .* or a dict of these as {name}, got {name}="):
        learner.save(saved)
    assert saved.read_bytes() == before


def test_what_load_would_refuse_is_not_saved(tmp_path):
    learner = onlinecls.Perceptron().partial_fit(X, Y)
    with pytest.raises(ValueError, match="Perceptron: eta0 must be"):
        learner.set_params(eta0=-1.0).save(tmp_path / "model")
    state_of(learner.set_params(eta0=1.0)).values[0] = np.nan
    with pytest.raises(ValueError, match=r"Perceptron: save must have a model that learning can produce: .*values with NaN"):
        learner.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def dot(A, B):
    return A @ B.T


def test_save_refuses_what_is_not_fitted_and_what_only_pickle_can_hold(tmp_path):
    class Mine(onlinecls.AROWClassifier):
        pass

    named = onlinecls.KernelOnlineClassifier(kernel=dot).partial_fit(X, TWO)
    wrapped = onlinecls.AROWClassifier(random_state=np.random.RandomState(0))
    for learner, message in (
        (onlinecls.AROWClassifier(), "AROWClassifier: this model has not been fitted yet"),
        (Mine().partial_fit(X, Y), "Mine: save must have an estimator of onlinecls itself, got a class that extends one, "),
        (named, "KernelOnlineClassifier: save must have None, numbers, "),
        (copy.deepcopy(named).set_params(kernel="rbf"), "KernelOnlineClassifier: save must have None, numbers, "),
        (onlinecls.OnlineToBatch(Mine(), "validation").partial_fit(X, TWO), "OnlineToBatch: save must have a linear or kernel "),
        (onlinecls.OnlineToBatch(wrapped, "validation").partial_fit(X, TWO), "AROWClassifier: save must have None, numbers, "),
    ):
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            learner.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_metadata_comes_back_as_json_holds_it(saved):
    learner, metadata = load(saved, return_metadata=True)
    assert metadata == {"bits": 18}
    rich = {"ngrams": [1, 2], "format": "tsv", "nested": {"x": None, "y": [True, 0.1, -0.0, 10**30, "\ud800é"]}, "": {}}
    learner.save(saved, metadata=rich)
    found = load(saved, return_metadata=True)[1]
    assert json.dumps(found) == json.dumps(rich)
    learner.save(saved)
    assert load(saved, return_metadata=True)[1] == {}
    for bad in ([1], {"x": (1, 2)}, {1: 2}, {"x": np.float64(1)}, {"x": float("nan")}, {"x": {"y": b""}}, {"x": [{2: 1}]}):
        with pytest.raises(ValueError, match="AROWClassifier: metadata must be a dict that JSON returns unchanged"):
            learner.save(saved, metadata=bad)


def test_saving_twice_writes_the_same_bytes(saved, tmp_path):
    load(saved, return_metadata=True)[0].save(tmp_path / "other", {"bits": 18})
    assert (tmp_path / "other").read_bytes() == saved.read_bytes()


def test_numpy_reads_the_arrays_and_the_model_s_own_are_aligned_and_writable(saved):
    state = state_of(load(saved))
    with np.load(saved, allow_pickle=False) as file:
        for name in ("values", "sigma", "correction", "counts", "counters"):
            array = getattr(state, name)
            assert file[name].tolist() == array.tolist() and array.flags.aligned and array.flags.writeable
        assert json.loads(file["header.json"])["format"] == internals.files.FORMAT


@pytest.mark.parametrize("order", "<>")
def test_a_file_of_a_machine_of_another_order_of_bytes_is_read(saved, order):
    before = fingerprint(load(saved))

    def swap(told, arrays):
        for name in arrays.keys() - {"classes"}:
            arrays[name] = arrays[name].astype(arrays[name].dtype.newbyteorder(order))

    forged(saved, swap)
    assert fingerprint(load(saved)) == before


# --- paths ---------------------------------------------------------------------------------------------------------------------


def test_save_and_load_take_every_kind_of_path(tmp_path, monkeypatch):
    learner = onlinecls.Perceptron().partial_fit(X, Y)
    monkeypatch.chdir(tmp_path)
    for path in ("plain", tmp_path / "path", os.fsencode(tmp_path / "bytes"), "ünï cødé", "x" * 255):
        learner.save(path)
        assert fingerprint(load(path)) == fingerprint(learner)
    for bad in (3, None, [], learner):
        for call in (learner.save, load):
            with pytest.raises(TypeError):
                call(bad)
    assert len(list(tmp_path.iterdir())) == 5


def test_save_to_a_folder_or_into_none_leaves_nothing_behind(tmp_path):
    learner = onlinecls.Perceptron().partial_fit(X, Y)
    (tmp_path / "folder").mkdir()
    for path, kind in ((tmp_path / "folder", IsADirectoryError), (tmp_path / "none" / "model", FileNotFoundError)):
        with pytest.raises(kind, match="Perceptron: save must write a file beside its target and put it in its place, got: "):
            learner.save(path)
        with pytest.raises(kind):
            load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["folder"] and not list((tmp_path / "folder").iterdir())


def test_a_permission_error_of_the_system_leaves_the_old_model(saved, monkeypatch):
    before, learner = saved.read_bytes(), onlinecls.Perceptron().partial_fit(X, Y)

    def refuse(*arguments, **how):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(internals.files, "open", refuse, raising=False)
    with pytest.raises(PermissionError, match=r"Perceptron: save must write a file .* got: Permission denied") as caught:
        learner.save(saved)
    assert caught.value.filename == str(saved) and caught.value.errno == errno.EACCES
    assert saved.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions and links")
def test_permissions_and_links_stay(saved, tmp_path):
    learner, link = load(saved), tmp_path / "link"
    saved.chmod(0o640)
    link.symlink_to(saved)
    learner.partial_fit(X, Y).save(link)
    assert link.is_symlink() and saved.stat().st_mode & 0o777 == 0o640
    assert fingerprint(load(saved)) == fingerprint(learner)
    old = os.umask(0o027)
    try:
        learner.save(tmp_path / "new")
    finally:
        os.umask(old)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


# --- at any moment, the old model or the new one -------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["fsync", "replace"])
@pytest.mark.parametrize("what", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_a_crash_before_the_rename_leaves_the_old_model(saved, monkeypatch, where, what):
    before, learner = saved.read_bytes(), load(saved).partial_fit(X, Y)

    def crash(*arguments):
        raise what

    with monkeypatch.context() as patch:
        patch.setattr(os, where, crash)
        with pytest.raises(type(what)):
            learner.save(saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_a_full_disk_leaves_the_old_model(saved):
    """A limit on the size of files stands in for a full disk, which would need root."""
    resource = pytest.importorskip("resource")
    before, learner = saved.read_bytes(), onlinecls.AROWClassifier().partial_fit(np.random.rand(2, 20_000), [0, 1])
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"AROWClassifier: save must write a file .* got: File too large. The old file"):
            learner.save(saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_the_file_and_its_directory_are_synced_in_order(saved, monkeypatch):
    calls, real = [], {"fsync": os.fsync, "replace": os.replace}
    monkeypatch.setattr(
        os, "fsync", lambda fd: (calls.append("folder" if os.path.isdir(f"/proc/self/fd/{fd}") else "file"), real["fsync"](fd)))
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("replace"), real["replace"](*paths)))
    load(saved).save(saved)
    assert calls == (["file", "replace", "folder"] if os.path.isdir("/proc/self/fd") else ["file", "replace", "file"])


KILLED = """
import sys, numpy as np, onlinecls
learner = onlinecls.AROWClassifier().partial_fit(np.ones((2, 50_000)), [0, 1])
while True:
    learner.partial_fit(np.ones((1, 50_000)), [1]).save(sys.argv[1])
    print(learner.t_, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_kill_9_always_leaves_a_whole_model(tmp_path):
    path = tmp_path / "model"
    for delay in (0.0, 0.005, 0.013):
        with subprocess.Popen([sys.executable, "-c", KILLED, path], stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
            said = process.stdout.read().split()  # the saves that came to an end
        assert load(path).t_ >= int(said[-1] if said else 3)


# --- damage --------------------------------------------------------------------------------------------------------------------


def places_of(path):
    """Return (start of the local header, start of the data, end) of each part of a file."""
    with zipfile.ZipFile(path) as source:
        parts = source.infolist()
    starts = [(part.header_offset, part.header_offset + 30 + len(part.filename)) for part in parts]
    return [(*start, start[1] + part.compress_size) for start, part in zip(starts, parts, strict=True)]


def test_a_file_cut_at_any_length_is_refused(saved):
    raw, bounds = saved.read_bytes(), [at for place in places_of(saved) for at in place]
    for length in {*range(0, len(raw), 41), *(at + more for at in bounds for more in (-1, 0, 1) if at), len(raw) - 1}:
        saved.write_bytes(raw[:length])
        with pytest.raises(ValueError, match=rf"^onlinecls\.load: .* {NO_MODEL}"):
            load(saved)


def test_a_changed_bit_is_refused_wherever_it_changes_anything(saved):
    raw, places, before = bytearray(saved.read_bytes()), places_of(saved), fingerprint(load(saved))
    rng = np.random.default_rng(0)
    inside = {at for _, start, end in places for at in range(start, end)}
    for at in [at for at in range(len(raw)) if at not in inside or at % 7 == 0]:
        kept = raw[at]
        raw[at] = kept ^ 1 << int(rng.integers(8))
        saved.write_bytes(raw)
        try:
            found = load(saved)
        except ValueError as error:
            assert str(error).startswith("onlinecls.load: ")
        else:  # (dates and permissions)
            assert fingerprint(found) == before and at not in inside
        raw[at] = kept


def rewritten(path, names=lambda name: [name], kind=zipfile.ZIP_STORED, **parts):
    """Write the parts of a file under the names that a function of each gives, and others as these bytes."""
    with zipfile.ZipFile(path) as source:
        found = [(new, source.read(name)) for name in source.namelist() for new in names(name)]
    with zipfile.ZipFile(path, "w", kind) as target, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # (of names that are doubled)
        for name, data in (dict(found) | parts).items() if parts else found:
            target.writestr(name, data)


@pytest.mark.parametrize("names", [
    lambda name: [name, "../../etc/passwd.npy"] if name == "counts.npy" else [name],
    lambda name: [name, "/tmp/values.npy"] if name == "values.npy" else [name],
    lambda name: [name, name] if name in ("header.json", "values.npy") else [name],
    lambda name: [name, "notes.txt"] if name == "header.json" else [name],
    lambda name: [] if name == "header.json" else [name], lambda name: [] if name == "counts.npy" else [name],
    lambda name: [name, "more.npy"] if name == "counts.npy" else [name], lambda name: [name.replace(".npy", "/")],
], ids=["traversal", "absolute", "twice", "another kind", "no header", "no counts", "one more", "folders"])
def test_parts_of_other_names_are_refused(saved, names):
    rewritten(saved)
    load(saved)
    rewritten(saved, names)
    refused(saved, f"onlinecls.load: {str(saved)!r} {NO_MODEL}, got one that is damaged or invalid")


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(saved, kind):
    """Some of them make far more of a byte than deflate."""
    rewritten(saved, kind=kind)
    with pytest.raises(ValueError, match="parts within the file, stored or deflated"):
        load(saved)


def npy(header=b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", version=b"\1\0", data=bytes(24)):
    return b"\x93NUMPY" + version + len(header + b"\n").to_bytes(2, "little") + header + b"\n" + data


@pytest.mark.parametrize("array", [
    npy(version=b"\2\0"), npy(data=bytes(23)), npy(data=bytes(25)), b"", npy()[:9], b"PK" + npy(),
    *(npy(b"{'descr': '%b', 'fortran_order': %b, 'shape': (%b), }" % parts) for parts in [
        (b"|O", b"False", b"3,"), (b"<f8", b"True", b"3,"), (b"<f8", b"False", b"-3,"), (b"<f3", b"False", b"3,"),
        (b"<f8", b"False", b"1" * 400), (b"<f8", b"False", b"99999999999,"), (b"<f8", b"False", b"0, 4611686018427387904, 9"),
        (b"<U999999999999", b"False", b"3,"), (b"<f8', 'x': '", b"False", b"3,"), (b"<f8", b"False", b"("),
    ]),
    npy(b"__import__('os').abort()"),
])
def test_an_array_whose_header_is_wrong_is_refused_before_it_is_read(saved, array):
    rewritten(saved, **{"counts.npy": array})
    with pytest.raises(ValueError, match=NO_MODEL):
        load(saved)


@pytest.mark.parametrize("header", [
    b"", b"[]", b"7", b"{}", b"{", b"[" * 100_000, b'{"format": ' + b"9" * 5000 + b"}", b"\xff\xfe", b'{"format": 3}',
    b'{"format": 3, "estimator": "AROWClassifier"}',
])
def test_a_damaged_or_hostile_description_is_refused(header, saved):
    rewritten(saved, **{"header.json": header})
    with pytest.raises(ValueError, match=NO_MODEL):
        load(saved)


def test_errors_of_load_say_what_came_and_what_to_do(saved):
    name = repr(str(saved))
    rewritten(saved, **{"header.json": b'{"format": 4}'})
    refused(saved, f"onlinecls.load: {name} must be of format 3, the one that onlinecls {onlinecls.__version__} reads, got")
    for raw in (b"", b"PK\x03\x04 and so on", b"\x1f\x8b" * 50):
        saved.write_bytes(raw)
        refused(saved, f"onlinecls.load: {name} {NO_MODEL}, got one that is damaged or invalid (File is not a zip file). The "
                       "file is damaged, or was not written by save: take another copy of it, or save the model again.")
    with pytest.raises(FileNotFoundError):
        load(saved.with_name("none"))


# --- memory --------------------------------------------------------------------------------------------------------------------


def memory_of_refusal(path, words, most):
    """Return the most bytes that were allocated at once while the file was refused with these words."""
    tracemalloc.start()
    with pytest.raises(ValueError, match=words):
        load(path, max_bytes=most)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_zip_bomb_is_refused_before_it_is_unpacked(saved):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (12500000,), }"
    rewritten(saved, kind=zipfile.ZIP_DEFLATED, **{"counts.npy": npy(header, data=bytes(10**8))})
    assert saved.stat().st_size < 200_000
    assert memory_of_refusal(saved, "of at most 1,000,000 bytes, got one of 100,0", 10**6) < 10**6
    with pytest.raises(ValueError, match=r"max_bytes must be None or an integer >= 1, got max_bytes=0"):
        load(saved, max_bytes=0)


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sizes_that_a_file_only_claims_take_no_memory(saved, kind):
    """Of the whole part in the directory, and of many parts that are one place of the file."""
    rewritten(saved, kind=kind)
    raw = bytearray(saved.read_bytes())
    at = raw.rindex(b"PK\1\2")  # (the last entry of the directory)
    size = raw[at + 20 : at + 24]
    for sizes in (size + b"\xf0\xff\xff\x7f", b"\xf0\xff\xff\x7f" * 2):
        raw[at + 20 : at + 28] = sizes
        saved.write_bytes(raw)
        assert memory_of_refusal(saved, "parts within the file", 2**40) < 10**6


# --- malice: files whose checksums are right (faults one by one: test_hostile_models.py) ----------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_entropic_weights_of_every_size_can_be_saved(dtype, tmp_path):
    """sinh(u) e^-K of u from 1e-300 to 1e3 has lost digits, or all of them, where u is small or K large."""
    rows = np.diag(np.geomspace(1e-300 if dtype == "float64" else 1e-37, 1e3, 40)).astype(dtype)
    for sigma in (1.0, 100.0):
        learner = onlinecls.DualAscentClassifier(sigma, regularizer="entropic", update="DA1", margin=1e9, fit_intercept=False)
        learner.partial_fit(rows, [0, 1] * 20, classes=[0, 1])
        for _ in range(3):
            assert fingerprint(through_a_file(learner, tmp_path)) == fingerprint(learner)
            learner.partial_fit(rows[::-1], [0, 1] * 20)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_random_matrix_as_covariance_is_refused_or_learns_finite_numbers(saved, dtype):
    """The matrix need not be a covariance, though its numbers are in bounds: guards in compiled code keep the model finite."""
    learner, rng = onlinecls.AROWClassifier(covariance="full", dtype=dtype).partial_fit(X, Y), np.random.default_rng(2)
    n_loaded = 0
    for _ in range(40):
        learner.save(saved)

        def change(told, arrays):
            arrays["sigma"][:] = rng.uniform(-2.0, 2.0, (4, 6, 6))
            arrays["sigma"].reshape(4, 36)[:, ::7] = rng.uniform(-0.01, 2.0, (4, 6))

        forged(saved, change)
        try:
            again = load(saved)
        except ValueError as error:
            assert str(error).startswith("onlinecls.load: ")
            continue
        n_loaded += 1
        for _ in range(5):
            scores, deviations = again.partial_fit(X, rng.integers(0, 3, 60)).decision_function(X, return_std=True)
            assert np.isfinite(scores).all() and np.isfinite(deviations).all() and np.isfinite(again.covariance_).all()
    assert n_loaded > 20


@pytest.mark.parametrize("labels, change", [
    ([False, True], poking("classes", 1, 2, "u1")), (["a", "b"], poking("classes", 1, 0x110000, "u4")),
    ([0.0, 1.0], poking("classes", 1, np.nan)), ([0.0, 1.0], poking("classes", 1, 1.5)),
], ids=["boolean", "text", "NaN", "fraction"])
def test_forged_labels_that_numpy_would_take_are_refused(labels, change, tmp_path):
    path = tmp_path / "model"
    onlinecls.Perceptron().partial_fit([[1.0], [-1.0]], np.array(labels)).save(path)
    forged(path)
    assert load(path).classes_.tolist() == labels
    forged(path, change)
    with pytest.raises(ValueError, match=r"^onlinecls\.load: .* must be a model that onlinecls could have saved"):
        load(path)


def test_a_centre_of_rows_whose_squares_underflow_is_saved():
    rows = np.random.default_rng(0).standard_normal((20, 3))
    for exponent in (-100, -153, -157, -160, -162, -165, -170, -200, -300, -311):
        learner = onlinecls.PassiveAggressiveOneClass().partial_fit(rows * 10.0**exponent)
        file = io.BytesIO()
        learner.save(file)
        twin = onlinecls.load(io.BytesIO(file.getvalue()))
        assert (twin.center_ == learner.center_).all(), exponent


@pytest.mark.parametrize("ways", [("ovr", "crammer_singer"), ("crammer_singer", "ovr")])
def test_a_model_whose_multi_class_has_changed_is_saved_and_learns_on(ways):
    """One against the rest has "none of these", from which labels join; a joint learner has not."""
    X, y = continuous_problem(80, 6, seed=3, n_classes=4)
    learner = onlinecls.AROWClassifier(multi_class=ways[0]).partial_fit(X[:40], y[:40])
    learner.set_params(multi_class=ways[1]).partial_fit(X[40:], y[40:])
    file = io.BytesIO()
    learner.save(file)
    loaded = onlinecls.load(io.BytesIO(file.getvalue()))
    for model in (learner, loaded):
        model.partial_fit(X[:6], np.arange(6))
    assert (loaded.decision_function(X) == learner.decision_function(X)).all()
