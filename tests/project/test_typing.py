"""Code as users write it has no faults for mypy --strict, whose complaints a test shows where nobody has run `make lint`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ROOT / "tests" / "promises" / "test_typical_code.py"


def faults(folder: Path, code: Path) -> str:
    """Return what mypy --strict says of a file, "" if nothing."""
    options = ["--strict", "--follow-imports", "silent", "--no-error-summary", "--cache-dir", str(folder)]
    found = subprocess.run([sys.executable, "-m", "mypy", *options, str(code)], cwd=ROOT, capture_output=True, text=True)
    return found.stdout + found.stderr


def test_typical_code_has_no_faults_for_checkers(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy, which reads the code, is not installed (extra lint)")
    text = CODE.read_text()
    assert "type: ignore" not in text and "cast(" not in text
    assert faults(tmp_path / "cache", CODE) == ""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(text.replace("Perceptron()", "Perceptron(C=1.0)"))
    assert 'Unexpected keyword argument "C" for "Perceptron"' in faults(tmp_path / "cache", wrong)
