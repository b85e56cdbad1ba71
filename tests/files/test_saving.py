"""A model in a file: nothing of it changes, nothing but a whole model is ever there, and nothing else is ever loaded."""

import copy
import errno
import io
import json
import os
import re
import stat
import subprocess
import sys
import time
import tracemalloc
import warnings
import zipfile

import internals
import numpy as np
import pytest
from fuzz.models import forged
from internals import state_of
from matrices import continuous_problem
from scipy import sparse
from states import fingerprint

import onlinecls
from onlinecls import load

X, Y = continuous_problem(60, 5, seed=40, n_classes=3)
TWO = (Y > 0).astype(int)
NO_MODEL = "must be a model that onlinecls could have saved"
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files and signals")


def written(learner, metadata=None):
    file = io.BytesIO()
    learner.save(file, metadata)
    return file.getvalue()


def through_a_file(learner):
    return load(io.BytesIO(written(learner)))


@pytest.fixture
def saved(tmp_path):
    """Return the path of a small model's file."""
    path = tmp_path / "model"
    onlinecls.AROWClassifier(r=0.5).partial_fit(X, Y).save(path, {"bits": 18})
    return path


# --- nothing changes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner, others", [
    (onlinecls.AdaGradClassifier(update="dual_averaging", l1=0.01), {"l1": 0.5}),
    (onlinecls.DualAscentClassifier(), {"update": "DA2", "loss": "log_loss"}),
    (onlinecls.AROWClassifier(multi_class="ovr"), {"multi_class": "crammer_singer"}),
    (onlinecls.AROWClassifier(multi_class="crammer_singer"), {"multi_class": "ovr"}),
], ids=repr)
def test_parameters_set_since_the_last_row_act_after_a_file_as_in_memory(learner, others):
    """Reading uses the parameters of learning, and the next call those that are set now."""
    learner = copy.deepcopy(learner).partial_fit(X, Y).set_params(**others)
    again = through_a_file(learner)
    assert again.get_params() == learner.get_params() and fingerprint(again) == fingerprint(learner)
    for _ in range(2):  # (the second file is of a model of both kinds)
        for each in (again, learner):
            each.partial_fit(X, Y).partial_fit(X[:6], np.arange(6))
        assert fingerprint(again) == fingerprint(learner)
        again = through_a_file(again)


@pytest.mark.parametrize("labels", [
    np.array([-1, 1], np.int8), np.array([0, 2**63], np.uint64), np.array([False, True]), np.array([-0.0, 1.0], np.float32),
    np.array(["a", "ü\ud800\U0001f600"], "U40"), np.array([b"a", b"\xff"]), np.array([3, 4], ">i4"), np.array(["x", "y"], ">U2"),
    np.array([1.0, 2.0], np.float16),
], ids=lambda labels: labels.dtype.str)
def test_labels_of_every_type_come_back_from_a_file(labels):
    learner = onlinecls.Perceptron().partial_fit([[1.0], [-1.0]], labels)
    assert fingerprint(again := through_a_file(learner)) == fingerprint(learner)
    assert again.predict([[1.0], [-1.0]]).tolist() == labels.tolist()


def test_feature_names_come_back_from_a_file_and_weights_as_an_array():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "ü", "d", "a b"])
    learner = onlinecls.Perceptron().partial_fit(frame, Y).sparsify()
    again = through_a_file(learner)
    assert fingerprint(again) == fingerprint(learner.densify())
    with pytest.raises(ValueError, match="columns of the first call"):
        again.predict(frame[frame.columns[::-1]])


PARAMETERS = {
    "C": [float("inf"), np.float32(0.1), np.int64(3), np.float64("inf")], "max_iter": [np.uint8(5)], "fit_intercept": [np.True_],
    "loss": [np.str_("hinge")], "dtype": [np.float32, np.dtype("f8"), "float32", float], "tol": [None, -1e300], "average": [3],
    "random_state": [np.int32(7), 2**32 - 1], "class_weight": [{0: 1, 1: np.float32(0.1), 2: 2.5}, {np.int64(2): 1.0}],
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_come_back_from_a_file_as_json_has_them(name):
    for value in PARAMETERS[name]:
        learner = onlinecls.PassiveAggressiveClassifier(**{name: value}).partial_fit(X, Y)
        again = through_a_file(learner)
        found = getattr(again, name)
        assert found == (np.dtype(value).name if name == "dtype" else value) and not isinstance(found, np.generic)
        assert again.get_params() == {**learner.get_params(), name: found}


def dot(A, B):
    return A @ B.T


def test_what_only_pickle_can_hold_and_what_load_would_refuse_is_not_saved(saved):
    class Mine(onlinecls.AROWClassifier):
        pass

    before, spoilt = saved.read_bytes(), onlinecls.Perceptron().partial_fit(X, Y)
    state_of(spoilt).values[0] = np.nan
    named = onlinecls.KernelOnlineClassifier(kernel=dot).partial_fit(X, TWO)
    wrapped = onlinecls.AROWClassifier(random_state=np.random.RandomState(0))
    with_value = lambda **params: onlinecls.Perceptron().partial_fit(X, Y).set_params(**params)  # noqa: E731
    for learner, message in (
        (onlinecls.AROWClassifier(), "not been fitted yet"), (Mine().partial_fit(X, Y), "an estimator of onlinecls itself"),
        (named, "None, numbers, "), (copy.deepcopy(named).set_params(kernel="rbf"), "None, numbers, "),
        (onlinecls.OnlineToBatch(Mine(), "validation").partial_fit(X, TWO), "a learner of onlinecls itself"),
        (onlinecls.OnlineToBatch(wrapped, "validation").partial_fit(X, TWO), "None, numbers, "),
        (with_value(random_state=np.random.default_rng(0)), "None, "), (with_value(class_weight={0: [1.0]}), "None, "),
        (with_value(eta0=-1.0), "eta0 must be"), (spoilt, "a model that learning can produce"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.save(saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_metadata_comes_back_as_json_holds_it(saved):
    learner, metadata = load(saved, return_metadata=True)
    assert metadata == {"bits": 18}
    rich = {"ngrams": [1, 2], "format": "tsv", "nested": {"x": None, "y": [True, 0.1, -0.0, 10**30, "\ud800é"]}, "": {}}
    learner.save(saved, metadata=rich)
    assert json.dumps(load(saved, return_metadata=True)[1]) == json.dumps(rich)
    learner.save(saved)
    assert load(saved, return_metadata=True)[1] == {}
    for bad in ([1], {"x": (1, 2)}, {1: 2}, {"x": np.float32(1)}, {"x": float("nan")}, {"x": {"y": b""}}, {"x": [{2: 1}]}):
        with pytest.raises(ValueError, match="AROWClassifier: metadata must be a dict that JSON returns unchanged"):
            learner.save(saved, metadata=bad)


def test_a_file_is_the_same_bytes_each_time_and_an_archive_that_numpy_reads(saved):
    assert written(load(saved), {"bits": 18}) == saved.read_bytes()
    with np.load(saved, allow_pickle=False) as file:
        assert json.loads(file["header.json"])["format"] == internals.files.FORMAT
        for name in ("values", "sigma", "correction", "counts", "counters"):
            assert file[name].tolist() == state_of(load(saved)).part(name).tolist()


@pytest.mark.parametrize("order", "<>")
def test_a_file_of_a_machine_of_another_order_of_bytes_is_read(saved, order):
    before = fingerprint(load(saved))

    def swap(told, arrays):
        for name in arrays.keys() - {"classes"}:
            arrays[name] = arrays[name].astype(arrays[name].dtype.newbyteorder(order))

    forged(saved, swap)
    assert fingerprint(load(saved)) == before


def test_what_was_never_learnt_takes_little_room():
    rows = sparse.csr_matrix(([1.0], [5], [0, 1]), shape=(1, 1 << 20))
    learner = onlinecls.AROWClassifier().partial_fit(rows, [1], classes=[0, 1])
    assert len(written(learner)) < 0.01 * state_of(learner).values.nbytes
    assert fingerprint(through_a_file(learner)) == fingerprint(learner)


# --- paths ---------------------------------------------------------------------------------------------------------------------


def test_save_and_load_take_every_kind_of_path(tmp_path, monkeypatch):
    learner = onlinecls.Perceptron().partial_fit(X, Y)
    monkeypatch.chdir(tmp_path)
    for path in ("plain", tmp_path / "path", os.fsencode(tmp_path / "bytes"), "ünï cødé", "x" * 255):
        learner.save(path)
        assert fingerprint(load(path)) == fingerprint(learner)
    for call in (learner.save, load):
        with pytest.raises(TypeError):
            call(3)
    assert len(list(tmp_path.iterdir())) == 5


@posix
def test_what_is_no_place_for_a_file_is_refused_and_stays(tmp_path):
    learner = onlinecls.Perceptron().partial_fit(X, Y)
    folder, pipe = tmp_path / "folder", tmp_path / "pipe"
    folder.mkdir(), os.mkfifo(pipe)
    for path, kind in ((folder, IsADirectoryError), (tmp_path / "none" / "model", FileNotFoundError), (pipe, OSError),
                       ("/dev/null", OSError)):
        with pytest.raises(kind, match="Perceptron: save must write a file beside its target and put it in its place, got: "):
            learner.save(path)
    assert sorted(tmp_path.iterdir()) == [folder, pipe] and stat.S_ISFIFO(pipe.stat().st_mode) and not list(folder.iterdir())
    read, write = os.pipe()
    with open(read, "rb") as source, open(write, "wb") as target:
        with pytest.raises(ValueError, match=r"^Perceptron: save must have a seekable file, got .*\. Save to an io\.BytesIO"):
            learner.save(target)
        with pytest.raises(ValueError, match=r"^onlinecls\.load: .* must be seekable, got a pipe or the like\. Read its bytes"):
            load(source)


@posix
def test_permissions_and_links_stay_and_a_draft_is_no_more_open_than_its_file(saved, tmp_path, monkeypatch):
    learner, link, seen, old = load(saved), tmp_path / "link", [], os.umask(0o027)
    saved.chmod(0o600)
    link.symlink_to(saved)
    monkeypatch.setattr(internals.files.os, "fsync", lambda file: seen.append(stat.S_IMODE(os.fstat(file).st_mode)))
    try:
        learner.partial_fit(X, Y).save(link)
        assert link.is_symlink() and saved.stat().st_mode & 0o777 == seen[0] == 0o600
        assert fingerprint(load(saved)) == fingerprint(learner)
        saved.chmod(0o644)
        learner.save(saved), learner.save(tmp_path / "new")
    finally:
        os.umask(old)
    assert [path.stat().st_mode & 0o777 for path in (saved, tmp_path / "new")] == [0o644, 0o640]


# --- at any moment, the old model or the new one -------------------------------------------------------------------------------


@pytest.mark.parametrize("place, where", [(os, "fsync"), (os, "replace"), (np.lib.format, "write_array")])
@pytest.mark.parametrize("what", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_a_crash_before_the_rename_leaves_the_old_model(saved, monkeypatch, place, where, what):
    before, learner = saved.read_bytes(), load(saved).partial_fit(X, Y)

    def crash(*arguments, **options):
        raise what

    with monkeypatch.context() as patch:
        patch.setattr(place, where, crash)
        with pytest.raises(type(what)) as caught:
            learner.save(saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]
    if isinstance(what, OSError):
        assert (caught.value.filename, caught.value.errno) == (str(saved), errno.ENOSPC)
        assert "got: No space left on device. The old file is unchanged" in str(caught.value)


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
    learner.partial_fit(np.ones((1, 50_000)), [1]).save(sys.argv[1], {"rows": int(learner.t_)})
    print(learner.t_, flush=True)
"""


@posix
def test_kill_9_always_leaves_a_whole_model(tmp_path):
    for delay in (0.0, 0.005, 0.013):
        with subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "model"], stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
            said = process.stdout.read().split()  # the saves that came to an end
        learner, metadata = load(tmp_path / "model", return_metadata=True)
        assert metadata == {"rows": learner.t_} and learner.t_ >= int(said[-1] if said else 3)


# --- damage --------------------------------------------------------------------------------------------------------------------


def is_refused(data, message=NO_MODEL, **options):
    with pytest.raises(ValueError, match=rf"^onlinecls\.load: .*{message}"):
        load(io.BytesIO(data), **options)


def places_of(data):
    """Return (start of the local header, start of the data, end) of each part of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = source.infolist()
    starts = [(part.header_offset, part.header_offset + 30 + len(part.filename)) for part in parts]
    return [(*start, start[1] + part.compress_size) for start, part in zip(starts, parts, strict=True)]


def test_a_file_cut_at_any_length_is_refused(saved):
    raw = saved.read_bytes()
    bounds = [at for place in places_of(raw) for at in place]
    for length in {*range(0, len(raw), 41), *(at + more for at in bounds for more in (-1, 0, 1) if at), len(raw) - 1}:
        is_refused(raw[:length])


def test_a_changed_bit_is_refused_wherever_it_changes_anything(saved):
    raw, before = bytearray(saved.read_bytes()), fingerprint(load(saved))
    rng, inside = np.random.default_rng(0), {at for _, start, end in places_of(raw) for at in range(start, end)}
    for at in [at for at in range(len(raw)) if at not in inside or at % 7 == 0]:
        changed = raw.copy()
        changed[at] ^= 1 << int(rng.integers(8))
        saved.write_bytes(changed)  # (a place outside of it is another error of a file than of bytes in memory)
        try:
            found = load(saved)
        except ValueError as error:
            assert str(error).startswith("onlinecls.load: ")
        else:  # (dates and permissions)
            assert fingerprint(found) == before and at not in inside


def rewritten(path, names=lambda name: [name], kind=zipfile.ZIP_STORED, **parts):
    """Return a file's parts under the names that a function of each gives, and others as these bytes, as a file."""
    with zipfile.ZipFile(path) as source:
        found = [(new, source.read(name)) for name in source.namelist() for new in names(name)]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as target, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # (of names that are doubled)
        for name, data in (dict(found) | parts).items() if parts else found:
            target.writestr(name, data)
    return file.getvalue()


def npy(header=b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", version=b"\1\0", data=bytes(24)):
    return b"\x93NUMPY" + version + len(header + b"\n").to_bytes(2, "little") + header + b"\n" + data


NAMES = {
    "traversal": lambda name: [name, "../../etc/passwd.npy"] if name == "counts.npy" else [name],
    "absolute": lambda name: [name, "/tmp/values.npy"] if name == "values.npy" else [name],
    "twice": lambda name: [name, name] if name in ("header.json", "values.npy") else [name],
    "another kind": lambda name: [name, "notes.txt"] if name == "header.json" else [name],
    "no header": lambda name: [] if name == "header.json" else [name],
    "no counts": lambda name: [] if name == "counts.npy" else [name],
    "one more": lambda name: [name, "more.npy"] if name == "counts.npy" else [name],
    "folders": lambda name: [name.replace(".npy", "/")],
}
ARRAYS = [
    npy(version=b"\2\0"), npy(data=bytes(23)), npy(data=bytes(25)), b"", npy()[:9], b"PK" + npy(),
    *(npy(b"{'descr': '%b', 'fortran_order': %b, 'shape': (%b), }" % parts) for parts in [
        (b"|O", b"False", b"3,"), (b"<f8", b"True", b"3,"), (b"<f8", b"False", b"-3,"), (b"<f3", b"False", b"3,"),
        (b"<f8", b"False", b"1" * 400), (b"<f8", b"False", b"99999999999,"), (b"<f8", b"False", b"0, 4611686018427387904, 9"),
        (b"<U999999999999", b"False", b"3,"), (b"<f8', 'x': '", b"False", b"3,"), (b"<f8", b"False", b"("),
    ]),
    npy(b"__import__('os').abort()"),
]
HEADERS = [
    b"", b"[]", b"7", b"{}", b"{", b"[" * 100_000, b'{"format": ' + b"9" * 5000 + b"}", b"\xff\xfe", b'{"format": 5}',
    b'{"format": 5, "estimator": "AROWClassifier"}',
]


def test_parts_that_save_does_not_write_are_refused_before_they_are_read(saved):
    """By their names, their compression (some make far more of a byte than deflate), their headers, the description."""
    load(io.BytesIO(rewritten(saved)))
    for names in NAMES.values():
        is_refused(rewritten(saved, names), f"{NO_MODEL}, got one that is damaged or invalid")
    for kind in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        is_refused(rewritten(saved, kind=kind), "parts within the file, stored or deflated")
    for array in ARRAYS:
        is_refused(rewritten(saved, **{"counts.npy": array}))
    for header in HEADERS:
        is_refused(rewritten(saved, **{"header.json": header}))
    for raw in (b"", b"PK\x03\x04 and so on", b"\x1f\x8b" * 50):
        is_refused(raw)
    with pytest.raises(FileNotFoundError):
        load(saved.with_name("none"))
    other = f"must be of format 5, the one that onlinecls {re.escape(onlinecls.__version__)} reads, got"
    is_refused(rewritten(saved, **{"header.json": b'{"format": 4}'}), other)


def memory_of_refusal(data, words, most):
    """Return the most bytes that were allocated at once while the file was refused with these words."""
    tracemalloc.start()
    is_refused(data, words, max_bytes=most)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_sizes_that_a_file_only_claims_and_zip_bombs_take_no_memory(saved):
    """Of a part that deflates to little, of the part in the directory, and of many parts that are one place of the file."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (12500000,), }"
    bomb = rewritten(saved, kind=zipfile.ZIP_DEFLATED, **{"counts.npy": npy(header, data=bytes(10**8))})
    assert len(bomb) < 200_000 and memory_of_refusal(bomb, "of at most 1,000,000 bytes, got one of 100,0", 10**6) < 10**6
    with pytest.raises(ValueError, match=r"max_bytes must be None or an integer >= 1, got max_bytes=0"):
        load(saved, max_bytes=0)
    for kind in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raw = bytearray(rewritten(saved, kind=kind))
        at = raw.rindex(b"PK\1\2")  # (the last entry of the directory)
        size = raw[at + 20 : at + 24]
        for sizes in (size + b"\xf0\xff\xff\x7f", b"\xf0\xff\xff\x7f" * 2):
            raw[at + 20 : at + 28] = sizes
            assert memory_of_refusal(raw, "parts within the file", 2**40) < 10**6
