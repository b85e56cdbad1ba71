"""Errors on river's own streams, most of which drift: ours behind `TableVectorizer`, river's linear models behind its scaler.

    PYTHONPATH=benchmarks python -m studies.rivers [--rows 10000] [--write]

Each row is predicted, then learnt, in the order of the stream. river has the best of three linear models, chosen for each stream
in hindsight. `--write` puts the table into docs/migrating.md. Needs river, pandas and scikit-learn.
"""

import itertools

import numpy as np
import pandas as pd
from pages import options, shown, table, write_between_if
from river import datasets
from river.datasets import synth

from onlinecls import AROWClassifier, CommitteeClassifier, make_stream_pipeline
from onlinecls.tables import TableVectorizer

from . import geometric
from .tables import river

OURS = {
    "AROW": lambda: AROWClassifier(forgetting=0.01),
    "AROW, full": lambda: AROWClassifier(covariance="full", multi_class="crammer_singer", forgetting=0.001),
    "committee": CommitteeClassifier,
}


def streams(n):
    """Yield (name, rows as dicts with their labels): five streams that river generates, which drift, and two that it ships."""
    quarter = n // 4
    yield "SEA, four concepts", itertools.chain.from_iterable(
        synth.SEA(variant=variant, seed=variant, noise=0.1).take(quarter) for variant in range(4))
    yield "hyperplane that turns", synth.Hyperplane(seed=0, n_drift_features=5, mag_change=0.01).take(n)
    yield "LED, features that change places", itertools.chain.from_iterable(
        synth.LEDDrift(seed=k, noise_percentage=0.1, irrelevant_features=True, n_drift_features=k).take(quarter)
        for k in range(4))
    yield "centres that move (RBF)", synth.RandomRBFDrift(
        seed_model=0, seed_sample=0, n_classes=4, n_features=10, n_centroids=20, change_speed=0.001, n_drift_centroids=10).take(n)
    yield "Agrawal, four concepts", itertools.chain.from_iterable(
        synth.Agrawal(classification_function=k, seed=k).take(quarter) for k in range(4))
    yield "phishing", datasets.Phishing()
    yield "image segments", datasets.ImageSegments()


def errors_of(rows, labels):
    """Return the errors in %, river's first."""
    found = [min(river(pd.DataFrame(rows), labels, False))]
    for make in OURS.values():
        model = make_stream_pipeline(TableVectorizer(bits=0, slots=128, forgetting=0.001), make()).partial_fit(rows, labels)
        found.append(100.0 * model[-1].n_mistakes_ / model[-1].t_)
    return found


def rows(n):
    errors = []
    for name, stream in streams(n):
        rows, labels = zip(*stream, strict=True)
        errors.append(errors_of([{str(key): value for key, value in row.items()} for row in rows], np.array(labels)))
        yield name, *(f"{each:.1f}" for each in errors[-1])
    yield "**geometric mean**", *(f"**{each:.1f}**" for each in geometric(errors))


def main():
    args = options(__doc__, rows=10_000)
    text = table(["errors, %", "river, best of 3", *OURS], shown(rows(args.rows)))
    write_between_if(args.write, "migrating.md", "rivers", text)


if __name__ == "__main__":
    main()
