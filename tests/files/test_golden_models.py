"""Models that earlier versions have saved: they load, predict what they predicted then, and go on learning."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import onlinecls

GOLDEN = Path(__file__).parents[1] / "golden"
SPEC = importlib.util.spec_from_file_location("golden", GOLDEN / "make.py")
golden = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(golden)


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("format_*")), ids=lambda folder: folder.name)
def test_saved_models_predict_as_they_did(folder):
    expected = json.loads((folder / "expected.json").read_text())
    made = {name: rows for name, _, rows in golden.models()}
    assert set(expected) == {path.stem for path in folder.glob("*.model")} == set(made)
    for name, rows in made.items():
        learner, metadata = onlinecls.load(folder / f"{name}.model", return_metadata=True)
        found = golden.predictions(learner, rows)
        assert metadata == {"name": name} and set(found) == set(expected[name]), name
        for method, values in expected[name].items():
            if isinstance(np.ravel(values)[0], str):
                assert found[method] == values, name
            else:
                np.testing.assert_allclose(found[method], values, rtol=1e-9, atol=1e-12, err_msg=f"{name}, {method}")
        one = ([rows[0]] if isinstance(rows, list) else rows[:1], found["predict"][:1])
        learner.partial_fit(*one[: 1 if name == "one_class" else 2])
