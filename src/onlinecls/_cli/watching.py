"""`train --predictions`: what is predicted of each row just before it is learnt."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np

from .._estimators.classifier import OnlineClassifier, predict_and_learn
from .._input.compat import is_regressor
from .._input.rows import part_of
from .inputs import shown_label
from .predict import NONE, Lines


class Watching:
    """Learn rows, and write what was predicted of each to a file, in the first pass."""

    def __init__(self, options):
        self.predicts = options.unlabelled == "predict"
        path = options.predictions
        self.file = None if path is None else sys.stdout if path in ("-", "/dev/stdout") else open(path, "w", encoding="utf-8")
        self.lines, self.is_over, self._shown = None, False, cache(shown_label)

    def open(self, stream) -> None:
        """Begin with the lines of a stream."""
        if self.file is not None and self.lines is None:
            self.lines = Lines(stream, NONE, self.file)

    def write_gaps(self) -> None:
        """Write the lines of a stream that have no row, where it pauses or ends."""
        if self.lines is not None and not self.is_over:
            self.lines.write()

    def close(self) -> None:
        """End the pass. Later passes predict rows that have been learnt, and are not watched."""
        self.write_gaps()
        self.is_over = True
        if self.file not in (None, sys.stdout):
            self.file.close()

    def predict(self, learner, X, n_rows: int) -> None:
        """Write what is predicted of rows that are not learnt. X : None if nothing is."""
        if self.is_over or self.lines is None:
            return
        if X is None:
            self.lines.write([NONE] * n_rows)
        elif is_regressor(learner):
            self.lines.write([repr(value) for value in learner.predict(X).tolist()])
        else:
            self.lines.write([self._shown(label) for label in learner.predict(X).tolist()])

    def learn(self, learner, X, y, weight, classes=None) -> None:
        """Do as `partial_fit`, and note what was predicted."""
        if self.is_over:
            learner.partial_fit(X, y, sample_weight=weight)
            return
        if isinstance(learner, OnlineClassifier):
            codes = predict_and_learn(learner, X, y, classes, weight)
            labels = learner.classes_.tolist() if (codes >= 0).any() else []
            predicted = [self._shown(labels[code]) if code >= 0 else NONE for code in codes.tolist()]
        else:
            found = np.zeros(len(y))
            for i in range(len(y)):
                row = part_of(X, i, i + 1)
                if learner.__sklearn_is_fitted__():
                    found[i] = learner.predict(row)[0]
                learner.partial_fit(row, y[i : i + 1], **({} if weight is None else {"sample_weight": weight[i : i + 1]}))
            predicted = [repr(value) for value in found.tolist()]
        if self.lines is not None:
            self.lines.write(predicted)
