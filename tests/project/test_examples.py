"""Runs of the examples; the demo, which needs the package only, is a step of CI."""

import gzip
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def run(name, *arguments, **environment):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *map(str, arguments)], capture_output=True, text=True,
        env={**os.environ, **environment})


def messages(n):
    """Make (folder, words) of n messages whose words determine the folder."""
    words = {"work": "meeting budget report", "fun": "party beach music", "spam": "winner cash prize"}
    return [(list(words)[i * i % 3], f"{words[list(words)[i * i % 3]]} number {i}") for i in range(n)]


def check(done, name):
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith(f"| {name} |"))
    figures = [part.strip() for part in row.split("|")[2:-1]]
    assert figures[:2] == ["60", "2"] and len(figures) == 8
    assert all(0.0 < float(figure) < 50.0 for figure in figures[2:]), "words tell the folder"


def test_the_email_example_reads_lines(tmp_path):
    with gzip.open(tmp_path / "enron-folders-doe-j.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{folder}\t{text}\n" for folder, text in messages(60))
    check(run("email_folders.py", ONLINECLS_DATA=str(tmp_path)), "doe-j")


def test_the_email_example_reads_a_folder_tree_in_order_of_date(tmp_path, monkeypatch):
    for i, (folder, text) in enumerate(messages(60)):
        path = tmp_path / "mail" / folder / f"{i % 7}.{i}"  # (names are in another order than dates)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"From: a@b.c\nSubject: {text}\nDate: Mon, 1 Jan 2001 {i // 60:02}:{i % 60:02}:00 +0000\n\nHello: {text}\n")
    (tmp_path / "mail" / "work" / "notes.txt").write_bytes(b"\xff\x00 no mail")
    check(run("email_folders.py", tmp_path / "mail"), "mail")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    found = importlib.import_module("email_folders").read_mail(tmp_path / "mail")
    for (folder, whole), (expected, text) in zip(found, messages(60), strict=True):
        assert folder == expected and re.fullmatch(rf"a@b\.c {text} Hello: {text}\s*", whole)


def test_examples_name_missing_data(tmp_path):
    (tmp_path / "one").mkdir()
    for place in (tmp_path, tmp_path / "nowhere"):
        done = run("email_folders.py", place)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.startswith(f"no mail in {place}: the example needs enron-folders-USER.tsv.gz (lines of FOLDER")
    done = run("digits.py", ONLINECLS_DATA=str(tmp_path))
    assert done.returncode == 1 and done.stderr.startswith(f"no {tmp_path / 'mnist.npz'}: the example needs MNIST")


@pytest.mark.parametrize("name", sorted(path.stem for path in (EXAMPLES / "reproduce").glob("[!_]*.py") if path.stem != "common"))
def test_reproduction_runs(name):
    pytest.importorskip("matplotlib")
    done = run(f"reproduce/{name}.py", "--smoke")
    assert done.returncode == 0, done.stderr
    assert f"{name}: " in done.stdout


@pytest.mark.parametrize(("held", "told", "verdict"), [
    ([True, True], "", "holds"), ([True, False], "", "holds on some readings"), ([False, False], "", "does not hold"),
    ([False, True], "slip", "slip"), ([False, False], "slip", "does not hold"), ([True], "notation", "notation"),
])
def test_a_sentence_of_a_paper_holds_only_on_all_readings(monkeypatch, held, told, verdict):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(EXAMPLES / "reproduce"))
    common = importlib.import_module("common")
    assert common.sentence("A1", "", [common.reading("", "", yes) for yes in held], verdict=told)["verdict"] == verdict
