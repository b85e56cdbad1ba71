"""Runs of the examples; the demo, which needs the package only, is a step of CI."""

import gzip
import os
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


def test_the_email_example_tells_folders_by_their_words(tmp_path):
    words = {"work": "meeting budget report", "fun": "party beach music"}
    with gzip.open(tmp_path / "enron-folders-doe-j.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{folder}\t{words[folder]} number {i}\n" for i, folder in enumerate([*words] * 30))
    done = run("email_folders.py", ONLINECLS_DATA=str(tmp_path))
    assert done.returncode == 0, done.stderr
    figures = done.stdout.splitlines()[-1].split("|")[1:-1]
    assert [part.strip() for part in figures[:3]] == ["doe-j", "60", "2"] and len(figures) == 9
    assert all(0.0 < float(figure) < 50.0 for figure in figures[3:])


@pytest.mark.parametrize("name", sorted(path.stem for path in (EXAMPLES / "reproduce").glob("[!_]*.py") if path.stem != "common"))
def test_reproduction_runs(name):
    pytest.importorskip("matplotlib")
    done = run(f"reproduce/{name}.py", "--smoke")
    assert done.returncode == 0, done.stderr
    assert f"{name}: " in done.stdout
