"""The fuzz targets of tests/fuzz: what they have found before, and a few cases of each. `make fuzz` runs them for longer."""

import json
import re
import subprocess
import sys
import zlib

import numpy as np
import pytest
from fuzz import __main__ as fuzz

KEPT = sorted(path for path in fuzz.CORPUS.iterdir() if "-" in path.name)
NEEDS = {"tables": "pyarrow", "vectorizer": "sklearn"}
CASES = {"learners": 60, "models": 300, "texts": 100, "tables": 100, "vectorizer": 200}  # (of the others 12)


def needed(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_inputs_that_once_failed_pass(path):
    """Bytes that once crashed the interpreter, raised an error of another package or gave other rows in other batches."""
    needed(path.name.partition("-")[0])
    assert fuzz.replayed(path)


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_the_first_cases_of_a_fuzz_target_pass(name):
    needed(name)
    for seed in range(CASES.get(name, 12)):
        assert fuzz.checked(name, seed), f"python -m fuzz {name} --seed {seed}"


def test_the_fuzzer_reports_a_crash_and_a_wrong_case_with_their_seeds(tmp_path):
    """A target that crashes at its third case, and is wrong at its fifth, stands in for a real one."""
    folder = tmp_path / "fuzz"
    folder.mkdir()
    for part in ("__init__.py", "__main__.py", "mutation.py"):
        (folder / part).write_text((fuzz.CORPUS.parent / part).read_text())
    (folder / "texts.py").write_text(
        "import faulthandler\n"
        "def make(draw): return {'n': int(draw.integers(10**9))}, b'data'\n"
        f"WRONG = {[draws(seed) for seed in (2, 4)]}\n"
        "def check(case):\n"
        "    if case[0]['n'] == WRONG[0]: faulthandler._sigsegv()\n"
        "    assert case[0]['n'] != WRONG[1], 'wrong'\n"
        "    return 'fine'\n")
    run = subprocess.run(
        [sys.executable, "-m", "fuzz", "texts", "--seconds", "3", "--keep", tmp_path],
        capture_output=True,
        text=True,
        cwd=tmp_path)
    assert run.returncode == 1, run.stderr
    assert re.search("texts --seed 2: exit code (-11|1 ERROR: AddressSanitizer: SEGV)", run.stdout), run.stdout
    assert "Segmentation fault" in run.stdout
    assert "texts --seed 4: AssertionError" in run.stdout
    kept = {json.loads(path.read_bytes().partition(b"\n")[0])["n"] for path in tmp_path.glob("texts-*")}
    assert kept == {draws(2), draws(4)}


def draws(seed):
    return int(np.random.default_rng([zlib.crc32(b"texts"), seed]).integers(10**9))
