"""Time of progressive validation beside learning alone and beside a loop over rows, in turns, on one thread.

    PYTHONPATH=benchmarks python -m studies.evaluation [--write] [--rounds 9]

--write puts the table into docs/evaluation.md. The rows are the 5,574 SMS messages that ship with the package.
"""

import argparse
import time

import numpy as np
from pages import ROOT, write_between

from onlinecls import AROWClassifier, PassiveAggressiveClassifier, Perceptron, progressive_validation
from onlinecls.datasets import load_sms_spam

PAGE = ROOT / "docs" / "evaluation.md"
CLASSES = ["ham", "spam"]
LOOP_ROWS = 500


def loop(learner, X, y):
    mistakes = 0
    for i in range(LOOP_ROWS):
        mistakes += i == 0 or learner.predict(X[i])[0] != y[i]
        learner.partial_fit(X[i], y[i : i + 1], CLASSES)
    return mistakes


def microseconds(run, n_rows):
    """Measure this thread's CPU time: the machine may have other things to do."""
    start = time.thread_time()
    run()
    return 1e6 * (time.thread_time() - start) / n_rows


def table(rounds):
    X, y = load_sms_spam()
    yield from ("| µs a row | `partial_fit` | `progressive_validation` | a loop over rows |", "|---|---|---|---|")
    for cls in (Perceptron, PassiveAggressiveClassifier, AROWClassifier):
        runs = (
            (lambda cls=cls: cls().partial_fit(X, y, CLASSES), len(y)),
            (lambda cls=cls: progressive_validation(cls(), (X, y), classes=CLASSES), len(y)),
            (lambda cls=cls: loop(cls(), X, y), LOOP_ROWS),
        )
        times = np.min([[microseconds(*run) for run in runs] for _ in range(rounds)], axis=0)
        yield f"| `{cls.__name__}` | {times[0]:.2f} | {times[1]:.2f} | {times[2]:.0f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/evaluation.md")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    lines = list(table(arguments.rounds))
    print("\n".join(lines))
    if arguments.write:
        write_between(PAGE, "cost", "\n".join(lines))


if __name__ == "__main__":
    main()
