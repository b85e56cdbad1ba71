"""Microseconds a row of dicts: models of this library in river, by themselves, and river's own, on river's phishing stream.

    PYTHONPATH=benchmarks python -m studies.river_rows [--repeats 9] [--write]

One thread, in time of the processor. Each figure is the median over repeats of the mean time of a row in one pass over the
stream, behind a first pass that is not counted; the models take turns within a repeat. `--write` puts the table into
docs/river.md. Needs river and pandas.
"""

from statistics import median
from time import process_time

import pandas as pd
from pages import options, table, write_between_if
from river import datasets, feature_extraction, linear_model, preprocessing

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.river import Classifier, from_river
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

from . import seconds

ROWS, LABELS = zip(*datasets.Phishing(), strict=True)
TEXTS = [" ".join(map(str, row)) for row in ROWS]
OURS = "`make_stream_pipeline(TableVectorizer(), AROWClassifier())`"


def pipeline():
    return make_stream_pipeline(TableVectorizer(unknown="ignore"), AROWClassifier())


#: {name: (model, rows)}
MODELS = {
    OURS: (pipeline(), ROWS),
    "the same in `Classifier`": (Classifier(pipeline()), ROWS),
    "`AROWClassifier()` in `Classifier`": (Classifier(AROWClassifier()), ROWS),
    "river's `StandardScaler`, `AROWClassifier()` in `Classifier`": (
        preprocessing.StandardScaler() | Classifier(AROWClassifier()), ROWS),
    "river's `StandardScaler` and `LogisticRegression`": (
        preprocessing.StandardScaler() | linear_model.LogisticRegression(), ROWS),
    "`from_river(StandardScaler())`, `AROWClassifier()`": (
        make_stream_pipeline(from_river(preprocessing.StandardScaler()), AROWClassifier()), ROWS),
    "texts: `HashingVectorizer()`, `AROWClassifier()` in `Classifier`": (
        Classifier(make_stream_pipeline(HashingVectorizer(), AROWClassifier())), TEXTS),
    "texts: river's `BagOfWords`, `AROWClassifier()` in `Classifier`": (
        feature_extraction.BagOfWords() | Classifier(AROWClassifier()), TEXTS),
}


def ways(model, rows):
    """Yield what is timed: learning and predicting row by row, and learning a batch of 1,250 rows."""

    def learn():
        for x, y in zip(rows, LABELS, strict=True):
            model.learn_one(x, y)

    def predict():
        for x in rows:
            model.predict_one(x)

    many, labels = (pd.DataFrame(rows) if rows is ROWS else pd.Series(rows)), pd.Series(LABELS)
    learn_many = getattr(model, "learn_many", None) or model.partial_fit
    return learn, predict, lambda: learn_many(many, labels)


def main():
    args = options(__doc__, repeats=9)
    works = {name: ways(*each) for name, each in MODELS.items()}
    times = {name: [[], [], []] for name in works}
    for repeat in range(args.repeats + 1):
        for name, work in works.items():
            for way, found in zip(work, times[name], strict=True):
                taken = 1e6 * seconds(way, process_time) / len(ROWS)
                found += [taken] if repeat else []
    rows = ([name, *(f"{median(each):.3g}" for each in found)] for name, found in times.items())
    text = table(("µs a row", "`learn_one`", "`predict_one`", "`learn_many`"), rows)
    write_between_if(args.write, "river.md", "river_rows", text)


if __name__ == "__main__":
    main()
