"""Models that releases have saved are loaded for ever, and say what they said. (`golden_models.py` writes new ones.)"""

import json

import numpy as np
import pytest
from golden_models import FOLDER, rows_of
from internals import saving
from numpy.testing import assert_allclose

from onlinecls import load

SAID = json.loads((FOLDER / "said.json").read_text())


@pytest.mark.parametrize("name", SAID)
def test_a_model_of_a_release_says_what_it_said(name):
    model, metadata = load(FOLDER / f"{name}.onlinecls.gz", return_metadata=True)
    said = SAID[name]
    rows = rows_of(said["rows"])
    assert metadata == {"name": name} and model.n_features_in_ == rows.shape[1]
    found = model.predict(rows)
    if found.dtype.kind == "f":
        assert_allclose(found, said["predict"], rtol=1e-12)
    else:
        assert found.tolist() == said["predict"]
    for method in ("decision_function", "predict_proba"):
        assert hasattr(model, method) == (method in said)
        if method in said:
            assert_allclose(getattr(model, method)(rows), said[method], rtol=1e-12, atol=1e-300)
    model.partial_fit(rows, *([] if model._estimator_type == "outlier_detector" else [np.resize(found, len(rows))]))


def test_every_estimator_that_can_be_saved_has_one():
    kept = {type(load(path)).__name__ for path in FOLDER.glob("*.onlinecls.gz")}
    assert kept == saving.SAVED
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000
