"""Time of progressive validation beside learning alone and beside a loop over rows, in turns, on one thread.

    PYTHONPATH=benchmarks python -m studies.evaluation [--write] [--rounds 9]

--write puts the table into docs/evaluation.md. The rows are the 5,574 SMS messages that ship with the package.
"""

import numpy as np
from pages import options, table, write_between_if

from onlinecls import AROWClassifier, PassiveAggressiveClassifier, Perceptron, progressive_validation
from onlinecls.datasets import load_sms_spam

from . import seconds

CLASSES = ["ham", "spam"]
LOOP_ROWS = 500


def loop(learner, X, y):
    mistakes = 0
    for i in range(LOOP_ROWS):
        mistakes += i == 0 or learner.predict(X[i])[0] != y[i]
        learner.partial_fit(X[i], y[i : i + 1], CLASSES)
    return mistakes


def rows(rounds):
    X, y = load_sms_spam()
    for cls in (Perceptron, PassiveAggressiveClassifier, AROWClassifier):
        runs = (
            (lambda cls=cls: cls().partial_fit(X, y, CLASSES), len(y)),
            (lambda cls=cls: progressive_validation(cls(), (X, y), classes=CLASSES), len(y)),
            (lambda cls=cls: loop(cls(), X, y), LOOP_ROWS),
        )
        times = np.min([[1e6 * seconds(run) / n for run, n in runs] for _ in range(rounds)], axis=0)
        yield f"`{cls.__name__}`", f"{times[0]:.2f}", f"{times[1]:.2f}", f"{times[2]:.0f}"


def main():
    args = options(__doc__, rounds=9)
    head = "µs a row", "`partial_fit`", "`progressive_validation`", "a loop over rows"
    write_between_if(args.write, "evaluation.md", "cost", table(head, rows(args.rounds)))


if __name__ == "__main__":
    main()
