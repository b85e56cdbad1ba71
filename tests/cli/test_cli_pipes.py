"""Processes of the command line: open pipes, signals, checkpoints."""

import contextlib
import errno
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import mails
import pytest
from internals import learner_in, main, stopping

from onlinecls import StreamPipeline

COMMAND = [sys.executable, "-m", "onlinecls"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUNBUFFERED": ""}
PATIENCE = 60  # seconds: what does not come in this time does not come
pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")


@pytest.fixture(autouse=True)
def as_in_a_terminal():
    """Reset SIGHUP, which processes inherit as ignored if the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def vw(n):
    """Lines for VW, of importance 0 every third time."""
    return [f"{label} {k % 3} | {text}\n" for k, (label, text) in enumerate(mails.texts(n))]


def texts(n, seed=0):
    return [f"{label}\t{text}\n" for label, text in mails.texts(n, seed)]


def process(*arguments, **options):
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT, **options)


class Running:
    """A running command with open pipes; its lines are collected as they come. fifo : a path to write to instead of the input."""

    def __init__(self, *arguments, fifo=None):
        pipe = subprocess.PIPE
        if fifo is not None:
            os.mkfifo(fifo)
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=ENVIRONMENT,
            errors="surrogateescape")
        self.fifo, self.input = fifo, self.process.stdin if fifo is None else open(fifo, "w")
        self.lines = {name: queue.SimpleQueue() for name in ("stdout", "stderr")}
        self.threads = [threading.Thread(target=self._collect, args=(name,), daemon=True) for name in self.lines]
        for thread in self.threads:
            thread.start()

    def _collect(self, name):
        for line in getattr(self.process, name):
            self.lines[name].put(line.rstrip("\n"))

    def write(self, text):
        self.input.write(text)
        self.input.flush()

    def read(self, name="stdout"):
        return self.lines[name].get(timeout=PATIENCE)

    def wait_for(self, words, name="stderr"):
        while words not in (line := self.read(name)):
            pass
        return line

    def finish(self):
        for file in (self.input, self.process.stdin):
            with contextlib.suppress(BrokenPipeError):
                file.close()
        code = self.process.wait(PATIENCE)
        if self.fifo is not None:
            os.unlink(self.fifo)
        for thread in self.threads:
            thread.join(PATIENCE)
        for name in self.lines:
            getattr(self.process, name).close()
        return code

    def rest(self, name="stdout"):
        found = []
        while not self.lines[name].empty():
            found.append(self.lines[name].get())
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.finish()


@pytest.fixture
def done(run):
    """Run a command in this process and return its output."""

    def done(*arguments):
        code, out, err = run(*arguments)
        assert code == 0, err
        return out

    return done


@pytest.fixture
def trained(tmp_path, done):
    """Train a model on a file of a format; return its path."""

    def trained(format, n=300):
        path = tmp_path / f"{format}.model"
        done("train", mails.written(tmp_path, format, mails.texts(n)), "--bits", 10, "--save", path, "--quiet")
        return path

    return trained


# --- answers --------------------------------------------------------------------------------------------------------------------


BAD = {  # lines that are no rows, with any other byte as the first half of a pair
    "texts": [], "tsv": ["spam\t\udcff\n"], "vw": ["|f 9:1x\n", "none\n"], "svmlight": ["1 1:x\n"],
    "jsonl": ["{\n", "[]\n"], "csv": ["ham\n", "ham,\udcff\n"],
}
NOTHING = {(): "NA", ("--json",): '{"prediction": null}', ("--scores",): "NA\tNA"}


@pytest.mark.parametrize("options", NOTHING)
@pytest.mark.parametrize("format", BAD)
def test_each_line_is_answered_before_the_next_one_comes(tmp_path, trained, done, format, options):
    """A client that writes a line and reads a line, also where a line is empty, of blanks or malformed."""
    kind, rows = "tsv" if format == "texts" else format, mails.texts(8, 1)
    model, data = trained(kind), mails.written(tmp_path, kind, rows)
    lines = [f"{text}\n" for _, text in rows] if format == "texts" else Path(data).read_text().splitlines(keepends=True)
    header, lines = ("".join(lines[:1]), lines[1:]) if format == "csv" else ("", lines)
    expected = done("predict", model, data, *options).splitlines()
    first, expected = expected[:-8], expected[-8:]
    odd = [*([] if format == "csv" else ["\n", "\r\n", "  \n", "\t \r\n"]), *BAD[format]]
    pairs = [(line, NOTHING[options]) for line in odd]
    with Running("predict", model, "-", "--on-error", "skip", *options) as running:
        running.write(header)
        for line, answer in [*pairs, *zip(lines, expected, strict=True), *pairs, (lines[0], expected[0])]:
            running.write(line)
            if first:
                assert running.read() == first.pop()
            assert running.read() == answer, line
        assert running.finish() == 0 and running.rest() == []


@pytest.mark.parametrize("form", ["tsv", "table"])
def test_a_reader_of_the_output_who_leaves_ends_learning_with_a_model(form, tmp_path):
    lines = texts(40_000)  # (more than a pipe holds is printed, whichever form)
    if form == "table":
        lines = ["label,x,y\n", *(f"{line.split()[0]},{len(line)},{k}\n" for k, line in enumerate(lines))]
    (tmp_path / "mail").write_text("".join(lines))
    command = ["train", tmp_path / "mail", "--format", "csv" if form == "table" else "tsv", "--quiet", "--bits", 10]
    left = subprocess.Popen(
        [*COMMAND, *map(str, command), "--json", "--every", "7", "--save", str(tmp_path / "part")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    assert left.stdout.readline().startswith(b'{"pass": 1')
    left.stdout.close()
    assert b"To go on: --resume" in left.stderr.read() and left.wait(PATIENCE) == 141
    left.stderr.close()
    assert process(*command, "--save", tmp_path / "whole").returncode == 0
    again = process(*command[:-2], "--resume", tmp_path / "part", "--save", tmp_path / "done")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "done").read_bytes() == (tmp_path / "whole").read_bytes()


def test_predict_waits_for_the_end_of_a_line_and_of_a_row(trained):
    for format, begin, end in (("tsv", "spam\twin a pr", "ize\n"), ("csv", 'label,text\nx,"win a\n', 'prize"\n')):
        with Running("predict", trained(format), "-", "--format", format) as running:
            running.write(begin)
            time.sleep(0.1)
            assert running.lines["stdout"].empty()
            running.write(end)
            assert running.read() == "spam"
            running.write("ham\tlunch at noon" if format == "tsv" else "ham,lunch at noon")
            assert running.finish() == 0 and running.rest() == ["ham"]


# --- signals --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_save_the_model_and_resume_goes_on_behind_it(tmp_path, number, code):
    """Rows are told, those of weight 0 included, and examples, which are none of these."""
    rows, half, both, whole = vw(6000), tmp_path / "half", tmp_path / "both", tmp_path / "whole"
    data = tmp_path / "mail.vw"
    with Running("train", data, "--bits", 10, "--save", half, "--json", fifo=data) as running:
        running.write("".join(rows[:5000]))
        running.wait_for("   2,730 ")  # of 4,096 rows
        running.process.send_signal(number)
        ended, said = running.finish(), "\n".join(running.rest("stderr"))
        assert ended == code, said
        told = json.loads(running.rest()[-1])
    learnt, row = learner_in(half).t_, told["row"]
    assert 4096 <= row <= 5000 and told["interrupted"] and told["passes"] == 0
    assert told["examples"] == learnt == sum(k % 3 > 0 for k in range(row))
    assert f"ended after row {row:,} of pass 1; what was learnt is saved in {half}. To go on: --resume {half}" in said
    assert "Traceback" not in said
    data.write_text("".join(rows))
    done = process("train", data, "--resume", half, "--save", both)
    assert done.returncode == 0 and f"going on after {learnt:,} examples, after row {row:,}" in done.stderr
    assert process("train", data, "--bits", 10, "--save", whole, "--quiet").returncode == 0
    assert both.read_bytes() == whole.read_bytes()
    done = process("train", "-", "--format", "vw", "--resume", half, "--json", input="".join(rows))
    assert f"was interrupted after row {row:,} of other data; all of DATA is learnt." in done.stderr
    assert json.loads(done.stdout)["examples"] == 4000


def test_a_fifo_without_a_reader_does_not_hold_the_end_of_a_training(tmp_path):
    """One that is there at the start is wrong usage; one that comes later is an error of the saving that a signal begins."""
    data, model = tmp_path / "mail.tsv", tmp_path / "model"
    os.mkfifo(model)
    assert process("train", "-", "--format", "tsv", "--save", model, input="").returncode == 2
    os.unlink(model)
    with Running("train", data, "--bits", 10, "--save", model, fifo=data) as running:
        running.write("".join(texts(4500)))
        running.wait_for("   4,096 ")
        os.mkfifo(model)
        running.process.send_signal(signal.SIGTERM)
        assert running.finish() == 1 and "not a regular file" in "\n".join(running.rest("stderr"))


def test_train_under_nohup_survives_sighup():
    command = "trap '' HUP; exec " + " ".join([*COMMAND, "train", "-", "--format", "tsv", "--bits", "8", "--every", "100"])
    running = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    running.stdin.write("".join(texts(100)))
    running.stdin.flush()
    while "   100 " not in running.stderr.readline():
        pass
    running.send_signal(signal.SIGHUP)
    _, said = running.communicate("".join(texts(100)), timeout=PATIENCE)
    assert running.returncode == 0 and "200 examples, " in said


def test_an_interrupt_in_the_second_pass_is_counted_right(tmp_path):
    rows, model, whole = texts(30000), tmp_path / "model", tmp_path / "whole"
    data = tmp_path / "mail.tsv"
    data.write_text("".join(rows))
    options = ("--bits", 10, "--passes", 400)
    with Running("train", data, *options, "--every", 1000, "--save", model, "--json") as running:
        running.wait_for("pass 2")
        running.wait_for("   1,000 ")
        running.process.send_signal(signal.SIGTERM)
        ended, said = running.finish(), "\n".join(running.rest("stderr"))
        assert ended == 143, said
        told = json.loads(running.rest()[-1])
    assert told["examples"] == 30000 and told["passes"] >= 1
    assert learner_in(model).t_ == 30000 * told["passes"] + told["row"]
    more = ("train", data, "--passes", told["passes"] + 2, "--quiet")
    assert process(*more, "--resume", model, "--save", model).returncode == 0
    assert process(*more, "--bits", 10, "--save", whole).returncode == 0
    assert model.read_bytes() == whole.read_bytes()


def test_a_signal_in_a_finalizer_is_raised_later_and_prints_nothing(capfd):
    class Owner:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(stopping.StoppedError), stopping.stoppable():
        Owner()
        stopping.check_stopped()
    assert capfd.readouterr().err == ""


# --- checkpoints ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("every", ["1000", "0.01s"])
def test_a_process_that_is_killed_leaves_its_last_checkpoint(tmp_path, every):
    rows, model, whole = texts(9000), tmp_path / "model", tmp_path / "whole"
    data = tmp_path / "mail.tsv"
    with Running("train", data, "--bits", 8, "--save", model, "--save-every", every, fifo=data) as running:
        running.write("".join(rows[:4000]))
        time.sleep(0.05)  # (all of them may be learnt in less than 0.01 s)
        running.write("".join(rows[4000:5000]))
        until = time.monotonic() + PATIENCE
        while not model.exists() and time.monotonic() < until:
            time.sleep(0.01)
        running.process.kill()
        running.finish()
    assert 0 < learner_in(model).t_ <= 5000
    data.write_text("".join(rows))
    done = process("train", data, "--resume", model, "--save", model, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    process("train", data, "--bits", 8, "--save", whole, "--quiet")
    assert model.read_bytes() == whole.read_bytes()


# --- lines stay in their places -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["vw", "tsv", "jsonl", "csv", "svmlight", "parquet"])
def test_predictions_keep_the_lines_of_their_rows(tmp_path, trained, done, format):
    model, n, bad = trained(format), 5000, {0, 1, 17, 4095, 4096, 4097, 4999}
    rows, empty = mails.texts(n), {5, 4100} if format in ("vw", "tsv", "jsonl") else set()
    data = mails.written(tmp_path, format, rows)
    expected = done("predict", model, data).splitlines()
    expected = ["NA" if k in bad | empty else said for k, said in enumerate(expected)]
    if format == "parquet":
        mails.written(tmp_path, format, [(label, None if k in bad else text) for k, (label, text) in enumerate(rows)])
    else:
        lines = Path(data).read_text().splitlines(keepends=True)
        begin = len(lines) - n
        lines[begin:] = [BAD[format][-1] if k in bad else "\n" if k in empty else line for k, line in enumerate(lines[begin:])]
        Path(data).write_text("".join(lines), errors="surrogateescape")
    assert done("predict", model, data, "--on-error", "skip").splitlines() == expected
    if format == "vw":
        piped = process("predict", model, "-", "--on-error", "skip", input=Path(data).read_text())
        assert piped.stdout.splitlines() == expected and "7 malformed lines skipped" in piped.stderr


@pytest.mark.parametrize("closed, message", [(">&-", "standard output must be open"), ("<&-", "<stdin>: must be open")])
def test_closed_standard_streams_are_errors(tmp_path, trained, closed, message):
    model, data = trained("tsv"), str(tmp_path / "mail.tsv") if closed == ">&-" else "-"
    command = f"{shlex.quote(sys.executable)} -m onlinecls predict {model} {data} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_ends_what_prints_but_no_training(tmp_path, trained):
    model = trained("tsv", 40)
    with open("/dev/full", "w") as full:
        options = {"stdout": full, "stderr": subprocess.PIPE, "text": True, "env": ENVIRONMENT}
        done = subprocess.run([*COMMAND, "inspect", model], **options)
        command = [*COMMAND, "train", tmp_path / "mail.tsv", "--save", tmp_path / "new"]
        assert subprocess.run(command, stderr=full, env=ENVIRONMENT).returncode == 0 and (tmp_path / "new").exists()
    assert (done.returncode, done.stderr) == (1, "onlinecls inspect: [Errno 28] No space left on device\n")


def test_a_full_disk_at_a_checkpoint_does_not_end_the_run(tmp_path, monkeypatch, capsys):
    """The next checkpoint is tried, and the exit code says at the end that one is missing."""
    data, model, saved, save = mails.written(tmp_path, "tsv", mails.texts(9000)), tmp_path / "model", [], StreamPipeline.save

    def full(pipeline, *arguments, **options):
        saved.append(pipeline[-1].t_)
        if len(saved) == 1:
            raise OSError(errno.ENOSPC, "No space left on device", str(model))
        save(pipeline, *arguments, **options)

    monkeypatch.setattr(StreamPipeline, "save", full)
    assert main(["train", str(data), "--bits", "8", "--save", str(model), "--save-every", "1", "--quiet"]) == 1
    told = capsys.readouterr().err
    assert len(saved) == 4 and saved[-1] == 9000 == learner_in(model).t_
    assert "the checkpoint after row " in told and "No space left on device" in told
    assert f"The whole model is saved in {model}." in told
