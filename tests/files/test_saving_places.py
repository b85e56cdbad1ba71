"""Saving beside pipes, devices and drafts of killed processes, and through file objects."""

import io
import os
import stat
import time

import pytest
from internals import files, state_of
from scipy import sparse
from states import fingerprint

import onlinecls


def fitted():
    return onlinecls.AROWClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])


def wide():
    X = sparse.csr_matrix(([1.0], [5], [0, 1]), shape=(1, 1 << 20))
    return onlinecls.AROWClassifier().partial_fit(X, [1], classes=[0, 1])


def assert_same(one, other):
    assert fingerprint(one) == fingerprint(other)


# --- what stands at the path already -------------------------------------------------------------------------------------------


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for place in (path, "/dev/null"):
        with pytest.raises(OSError, match=r"save must write a file .*, got: not a regular file"):
            fitted().save(place)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_the_draft_of_a_file_is_no_more_open_than_the_file(tmp_path, monkeypatch):
    path, seen = tmp_path / "model", []
    fitted().save(path)
    path.chmod(0o600)
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode)))
    fitted().save(path)
    assert seen[0] == 0o600 and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_drafts_of_killed_processes_are_removed_by_a_save_after_an_hour(tmp_path):
    old, young = (tmp_path / f".onlinecls-{i}.tmp" for i in range(2))
    for path, age in ((old, 3700.0), (young, 3500.0)):
        path.write_bytes(b"half a model")
        os.utime(path, (time.time() - age,) * 2)
    fitted().save(tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == [young.name, "model"]


def test_what_was_never_learnt_takes_little_room(tmp_path):
    learner = wide()
    learner.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 0.01 * state_of(learner).values.nbytes
    assert_same(onlinecls.load(tmp_path / "model"), learner)


def test_models_go_through_file_objects(tmp_path):
    learner, file = wide(), io.BytesIO()
    learner.save(file, metadata={"a": 1})
    again, metadata = onlinecls.load(io.BytesIO(file.getvalue()), return_metadata=True)
    assert fingerprint(again) == fingerprint(learner) and metadata == {"a": 1}
    learner.save(tmp_path / "model", metadata={"a": 1})
    assert (tmp_path / "model").read_bytes() == file.getvalue()
    with pytest.raises(ValueError, match="'<stream>' must be a model that onlinecls could have saved"):
        onlinecls.load(io.BytesIO(b"nothing of the kind"))


def test_files_without_places_are_refused():
    read, write = os.pipe()
    with open(read, "rb") as source, open(write, "wb") as target:
        with pytest.raises(ValueError, match=r"^AROWClassifier: save must have a seekable file, got .*\. Save to an io\.BytesIO"):
            fitted().save(target)
        with pytest.raises(ValueError, match=r"^onlinecls\.load: .* must be seekable, got a pipe or the like\. Read its bytes"):
            onlinecls.load(source)
