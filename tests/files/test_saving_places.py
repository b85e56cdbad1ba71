"""Saving beside pipes, devices and drafts of killed processes, and loading within a bound on memory."""

import fcntl
import gzip
import io
import os
import resource
import socket
import stat
import threading

import pytest
from internals import files
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


def test_a_fifo_is_written_to_and_stays(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    model = fitted()
    model.save(path)
    reader.join()
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert_same(onlinecls.load(io.BytesIO(read[0])), model)


def test_a_character_device_is_written_to_and_stays():
    fitted().save("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_socket_is_refused_and_stays(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        with pytest.raises(OSError, match="must write to a regular file, a pipe or a character device, got another kind"):
            fitted().save(path)
    assert stat.S_ISSOCK(path.stat().st_mode)


def test_the_draft_of_a_file_is_no_more_open_than_the_file(tmp_path, monkeypatch):
    path, seen = tmp_path / "model", []
    fitted().save(path)
    path.chmod(0o600)
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode)))
    fitted().save(path)
    assert seen[0] == 0o600 and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_drafts_of_killed_processes_are_removed_by_the_next_save(tmp_path):
    old, young, locked = (tmp_path / f".onlinecls-{i}.tmp" for i in range(3))
    for path in (old, young, locked):
        path.write_bytes(b"half a model")
    for path in (old, locked):
        os.utime(path, (1e9, 1e9))
    with open(locked) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        fitted().save(tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == [young.name, locked.name, "model"]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_file_name_s_ending_compresses_it(tmp_path, ending):
    if ending == ".zst":
        pytest.importorskip("backports.zstd")
    learner, path = wide(), tmp_path / f"model{ending}"
    learner.save(path)
    first = path.read_bytes()
    learner.save(path)
    assert path.read_bytes() == first  # no time, no name in it
    learner.save(tmp_path / "model")
    assert len(first) < 0.2 * (tmp_path / "model").stat().st_size
    assert_same(onlinecls.load(path), learner)
    path.rename(tmp_path / "renamed")
    assert_same(onlinecls.load(tmp_path / "renamed"), learner)
    for damaged in (first[: len(first) // 2], first[:4] + b"\xc3\x08" + bytes(6) + b"abcdef" * 20):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(ValueError, match="must be a whole compressed file, got one that is cut or damaged"):
            onlinecls.load(tmp_path / "damaged")
    with pytest.raises(ValueError, match="must be the path of an uncompressed file for mmap=True"):
        onlinecls.load(tmp_path / "renamed", mmap=True)


def test_models_go_through_file_objects(tmp_path):
    learner, file = wide(), io.BytesIO()
    learner.save(file, metadata={"a": 1})
    again, metadata = onlinecls.load(io.BytesIO(file.getvalue()), return_metadata=True)
    assert fingerprint(again) == fingerprint(learner) and metadata == {"a": 1}
    learner.save(tmp_path / "model", metadata={"a": 1})
    assert (tmp_path / "model").read_bytes() == file.getvalue()
    assert_same(onlinecls.load(io.BytesIO(gzip.compress(file.getvalue()))), learner)
    with pytest.raises(ValueError, match="'<stream>' must be a model saved by onlinecls"):
        onlinecls.load(io.BytesIO(b"nothing of the kind"))


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_model_larger_than_max_bytes_is_refused_from_its_header(tmp_path, ending):
    path = tmp_path / f"model{ending}"
    model = wide()
    model.save(path)
    assert_same(onlinecls.load(path, max_bytes=10**8), model)
    with pytest.raises(ValueError, match="of at most 1,000,000 bytes, got one of"):
        onlinecls.load(path, max_bytes=10**6)
    with pytest.raises(ValueError, match="max_bytes must be None or an integer >= 1, got max_bytes=0"):
        onlinecls.load(path, max_bytes=0)


def test_a_compressed_file_is_unpacked_no_further_than_its_header_says(tmp_path):
    path, unpacked = tmp_path / "model.gz", 0
    fitted().save(tmp_path / "model")
    with gzip.open(path, "wb") as file:
        file.write((tmp_path / "model").read_bytes())
        for _ in range(300):
            unpacked += file.write(bytes(1 << 20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="as its header says"):
        onlinecls.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < unpacked // 2 // 1024
