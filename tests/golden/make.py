"""Write the models of this folder, a file each, and what they predict: python tests/golden/make.py (refuses to replace any).

tests/files/test_golden_models.py reads them with every later version. A version that changes the format adds a folder of its own.
"""

import json
from pathlib import Path

import numpy as np

import onlinecls
from onlinecls import make_stream_pipeline
from onlinecls.steps import OnlineMaxAbsScaler, OnlineTfidf
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

HERE = Path(__file__).parent
DICTS = [{"price": 9.5, "colour": "red"}, {"price": "$80", "colour": None}, {"price": 12, "colour": "blue"}] * 8
TEXTS = ["cheap pills now", "lunch at noon?", "win a free prize", "see you at lunch"] * 6


def problem():
    """Return rows, labels of two and of three classes, and numbers."""
    generator = np.random.default_rng(11)
    X = generator.integers(-4, 5, (24, 5)) / 4.0
    return X, np.where(X[:, 0] > 0.0, "spam", "ham"), np.argmax(X[:, :3], axis=1), X @ [1.0, -2.0, 0.5, 0.0, 3.0]


def models():
    """Yield a learner of each kind that is saved in another way, with the rows that it predicts."""
    X, two, three, numbers = problem()
    yield "arow", onlinecls.AROWClassifier(probability=True).partial_fit(X, two), X
    yield "arow_three", onlinecls.AROWClassifier(forgetting=0.01, average=True).partial_fit(X, three), X
    yield "arow_full", onlinecls.AROWClassifier(covariance="full", dtype="float32").partial_fit(X, three), X
    yield "arow_young", onlinecls.AROWClassifier().partial_fit(X[:7], two[:7]), X
    yield "pa", onlinecls.PassiveAggressiveClassifier(multi_class="crammer_singer").partial_fit(X, three), X
    yield "adagrad", onlinecls.AdaGradClassifier(update="dual_averaging", l1=0.01).partial_fit(X, two), X
    yield "ftrl", onlinecls.FTRLClassifier(l1=0.1).partial_fit(X, three), X
    yield "dual_ascent", onlinecls.DualAscentClassifier(loss="log_loss").partial_fit(X, three), X
    yield "regressor", onlinecls.AROWRegressor().partial_fit(X, numbers), X
    yield "one_class", onlinecls.PassiveAggressiveOneClass(epsilon=1.0).partial_fit(X), X
    yield "kernel", onlinecls.KernelOnlineClassifier(kernel="rbf", gamma=0.5, budget=10).partial_fit(X, two), X
    yield "committee", onlinecls.CommitteeClassifier().partial_fit(X, two), X
    yield "online_to_batch", onlinecls.OnlineToBatch(onlinecls.Perceptron()).partial_fit(X, two), X
    tables = make_stream_pipeline(TableVectorizer(bits=4), onlinecls.AROWClassifier())
    yield "tables", tables.partial_fit(DICTS, ["yes", "no", "yes"] * 8), DICTS
    texts = make_stream_pipeline(HashingVectorizer(n_features=256), onlinecls.Perceptron())
    yield "texts", texts.partial_fit(TEXTS, ["spam", "ham"] * 12), TEXTS
    steps = HashingVectorizer(n_features=256, norm=None), OnlineMaxAbsScaler(), OnlineTfidf(sublinear_tf=True)
    idf = make_stream_pipeline(*steps, onlinecls.AROWClassifier())
    yield "idf", idf.partial_fit(TEXTS, ["spam", "ham"] * 12), TEXTS


def predictions(learner, rows):
    """Return what a model says of rows, as numbers and texts that JSON keeps."""
    found = {}
    for name in ("predict", "decision_function", "predict_proba"):
        if hasattr(learner, name):
            found[name] = np.asarray(getattr(learner, name)(rows)).tolist()
    return found


if __name__ == "__main__":
    folder = HERE / "format_2"
    folder.mkdir()
    expected = {}
    for name, learner, rows in models():
        learner.save(folder / f"{name}.model", {"name": name})
        expected[name] = predictions(learner, rows)
    lines = (f"{json.dumps(name)}: {json.dumps(said)}" for name, said in expected.items())
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")  # a line a model
