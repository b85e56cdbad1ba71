"""Sizes of a saved model, and errors of what is loaded: rounded to float16, pruned, compressed.

    PYTHONPATH=benchmarks python -m studies.sizes [--write]

Words and pairs of words of 20 newsgroups in 2^20 columns, one pass over the training part; errors are on the test part, which
chose nothing. --write puts the table into docs/saving.md.
"""

import tempfile
from pathlib import Path

import corpora
import numpy as np
from pages import options, shown, table, write_between_if

import onlinecls
from onlinecls.text import HashingVectorizer

LEARNERS = (onlinecls.AROWClassifier, onlinecls.PassiveAggressiveClassifier)
SHARES = (None, 0.01, 0.03, 0.1)  # thresholds of prune, as shares of the largest weight


def errors_of(path, test):
    """Return the error on the test part, and that of the same rows learnt after they were predicted, as learning goes on."""
    X, y = test
    learner = onlinecls.load(path)
    error = 1.0 - learner.score(X, y)
    before, rounds = learner.n_mistakes_, learner.t_
    learner.partial_fit(X, y)
    return error, (learner.n_mistakes_ - before) / (learner.t_ - rounds)


def rows(folder):
    parts = []
    for name in ("20news-train", "20news-test"):
        labels, texts = corpora.labelled_texts(name)
        parts.append((HashingVectorizer(ngram_range=(1, 2)).transform(texts).astype(np.float32), np.array(labels)))
    for make in LEARNERS:
        whole = make(dtype="float32", shuffle=False) if "shuffle" in make().get_params() else make(dtype="float32")
        whole.partial_fit(*parts[0])
        largest = float(np.abs(whole.coef_).max())
        for share in SHARES:
            learner = whole
            if share is not None:
                whole.save(Path(folder, "whole"))
                learner = onlinecls.load(Path(folder, "whole")).prune(share * largest)
            for weights in (None, "float16"):
                paths = [Path(folder, name) for name in ("model", "model.gz")]
                for path in paths:
                    learner.save(path, weights=weights)
                size, packed = (path.stat().st_size / 1e6 for path in paths)
                error, later = errors_of(paths[0], parts[1])
                pruned = "" if share is None else f"{share * largest:.3g}"
                numbers = f"{size:.1f}", f"{packed:.1f}", f"{100 * error:.2f}", f"{100 * later:.2f}"
                yield make.__name__, pruned, weights or "float32", *numbers


def main():
    args = options(__doc__)
    head = "learner", "weights of at most this are pruned", "saved as", "MB", "MB, .gz", "error, %", "learning on, %"
    with tempfile.TemporaryDirectory() as folder:
        write_between_if(args.write, "saving.md", "sizes", table(head, shown(rows(folder))))


if __name__ == "__main__":
    main()
