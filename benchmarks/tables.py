"""Tables of typed columns through `TableVectorizer`, many rows at once and one dict at a time; validation; merging of parts."""

import datetime as dt
import functools

import numpy as np

from onlinecls import AROWClassifier, make_stream_pipeline, merge, progressive_validation
from onlinecls.tables import TableVectorizer

from .common import N_ROWS, Timed, make_estimator, stream

N_DICTS = 1000


@functools.cache
def columns(n=N_DICTS):
    """Return six columns of numbers, two of names and one of booleans, and labels."""
    rng = np.random.default_rng(0)
    found = {f"n{k}": rng.standard_normal(n).tolist() for k in range(6)}
    found |= {"c": rng.choice(["red", "green", "blue"], n).tolist(), "d": [f"w{k}" for k in rng.integers(0, 500, n)]}
    found["e"] = (rng.random(n) < 0.3).tolist()
    return found, np.where(np.array(found["n0"]) + np.array(found["e"]) > 0, "stays", "leaves")


def table(source):
    """Return the same 1,000 rows as this source holds them."""
    found, _ = columns()
    rows = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
    try:
        if source == "pandas":
            import pandas as pd

            return pd.DataFrame(found)
        if source == "polars":
            import polars as pl

            return pl.DataFrame(found)
        if source == "arrow":
            import pyarrow as pa

            return pa.table(found)
    except ImportError:
        raise NotImplementedError(f"{source} is not installed") from None
    return rows if source == "dicts" else np.array([found[f"n{k}"] for k in range(6)]).T


class Table(Timed):
    """1,000 rows of nine values (numpy: of six numbers) from each source, to a model of AROW: 1 ms is 1 us a row."""

    params = [["dicts", "pandas", "polars", "arrow", "numpy"]]
    param_names = ["source"]

    def setup(self, source):
        self.rows, self.labels = table(source), columns()[1]
        self.model = make_stream_pipeline(TableVectorizer(), AROWClassifier())
        self.model.partial_fit(self.rows[:16], self.labels[:16], classes=np.unique(self.labels))

    def time_partial_fit(self, source):
        self.model.partial_fit(self.rows, self.labels)

    def time_predict(self, source):
        self.model.predict(self.rows)


def dicts(kind):
    """Return 1,000 dicts with values of this kind beside numbers."""
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(3000)]
    more = {
        "nine values": lambda: {"c": "xyz"[rng.integers(3)]},
        "twenty numbers": lambda: {f"m{k}": float(rng.standard_normal()) for k in range(12)},
        "a datetime": lambda: {"d": dt.datetime(2024, int(rng.integers(1, 13)), 1, 10, 30)},
        "ten new columns": lambda: {f"v{rng.integers(10**9)}": 1.0 for _ in range(10)},
        "a long text": lambda: {"t": " ".join(rng.choice(words, 20))},
    }[kind]
    return [{**{f"n{k}": float(rng.standard_normal()) for k in range(8)}, **more()} for _ in range(N_DICTS)]


class Dicts(Timed):
    """1,000 dicts, one at a time, learnt and predicted: 1 ms is 1 us a row."""

    params = [["nine values", "twenty numbers", "a datetime", "a long text", "ten new columns"]]
    param_names = ["kind"]

    def setup(self, kind):
        self.rows, self.labels = dicts(kind), columns()[1].tolist()
        self.model = make_stream_pipeline(TableVectorizer(), AROWClassifier())
        self.model.partial_fit(self.rows[:16], self.labels[:16])

    def time_learn_one(self, kind):
        for row, label in zip(self.rows, self.labels, strict=True):
            self.model.learn_one(row, label)

    def time_predict_one(self, kind):
        for row in self.rows:
            self.model.predict_one(row)


class Evaluation(Timed):
    """Progressive validation of 10,000 rows, beside learning alone."""

    params = [["perceptron", "arow"]]
    param_names = ["algorithm"]

    def setup(self, algorithm):
        self.X, self.y = stream()
        self.model = make_estimator(algorithm)

    def time_partial_fit(self, algorithm):
        self.model.partial_fit(self.X, self.y, classes=[0, 1])

    def time_progressive_validation(self, algorithm):
        progressive_validation(self.model, (self.X, self.y), classes=[0, 1])


class Merged(Timed):
    """Eight models, each of an eighth of 10,000 rows, merged into one: time, and the mistakes of the merged on new rows."""

    params = [["perceptron", "arow", "adagrad_md"]]
    param_names = ["algorithm"]

    def setup(self, algorithm):
        self.X, self.y = stream(2 * N_ROWS)
        parts = np.split(np.arange(N_ROWS), 8)
        self.models = [make_estimator(algorithm, scale=1.0).partial_fit(self.X[rows], self.y[rows]) for rows in parts]

    def time_merge(self, algorithm):
        merge(self.models)

    def track_mistakes_on_new_rows(self, algorithm):
        return int(np.sum(merge(self.models).predict(self.X[N_ROWS:]) != self.y[N_ROWS:]))

    track_mistakes_on_new_rows.unit = f"mistakes of {N_ROWS:,}"
