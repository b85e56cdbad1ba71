"""The fuzz targets of tests/fuzz: what they have found before, and a few cases of each. `make fuzz` runs them for longer."""

import pytest
from fuzz import __main__ as fuzz

KEPT = sorted(path for path in fuzz.CORPUS.iterdir() if "-" in path.name)
NEEDS = {"tables": "pyarrow", "vectorizer": "sklearn"}
CASES = {"learners": 60, "models": 300, "texts": 100, "tables": 100, "vectorizer": 1000}  # (of the others 12)


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
