"""Errors when only some labels are asked for, beside all labels and beside labels drawn at random; into docs/selective.md.

Each row is predicted, and learnt if its label is asked for; every row counts, asked for or not. Sets are the first rows of those
of corpora.py, rows of unit length. The default of b was chosen on three of them, and is reported on six others.

    PYTHONPATH=benchmarks python -m studies.selective [--write] [--rows 8000] [--sets NAME ...]     (five minutes)
    PYTHONPATH=benchmarks python -m studies.selective --choose     (prints errors and labels for several b, on the other sets)
"""

import corpora
import numpy as np
from pages import options, shown, table, write_between_if

import onlinecls
from onlinecls import progressive_validation

CHOSEN_ON = ("amazon-dvd", "ecml-spam-a-u00-tune", "enron-folders-beck-s")
SETS = ("sms-spam", "spamassassin", "a9a", "imdb-train", "20news-train", "reuters21578-single-train")
LEARNERS = {
    "AROW": onlinecls.AROWClassifier,
    "SCW": onlinecls.SCWClassifier,
    "PA": onlinecls.PassiveAggressiveClassifier,
}
DEFAULT = 0.5
RATES = (0.1, 0.2, 0.3, 0.5, 1.0)


def problem(name, n):
    X, y = corpora.load(name, n_features=2**20 if name in corpora.BINARY else 2**18)
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return X[order], y[order]


def asking(X, y, make, b):
    """Return the error in per cent and the share of labels asked for, also in per cent; b None: every label."""
    generator, learner = np.random.default_rng(1), make()
    ask = None if b is None else lambda learner, row: learner.should_ask(row, b=b, random_state=generator)
    found = progressive_validation(learner, (X, y), classes=np.unique(y), every=len(y), ask=ask)
    return 100.0 * found.progressive_error, 100.0 if b is None else 100.0 * found.asked[-1] / found.examples[-1]


def at_random(X, y, make, share):
    """Return the error where each label is asked for with the same chance, as often."""
    generator = np.random.default_rng(2)
    found = progressive_validation(
        make(), (X, y), classes=np.unique(y), every=len(y), ask=lambda learner, row: generator.random(1) < share / 100.0)
    return 100.0 * found.progressive_error


def choose(n):
    for title, make in LEARNERS.items():
        for name in CHOSEN_ON:
            X, y = problem(name, n)
            print(title, name, f"all labels {asking(X, y, make, None)[0]:.2f}")
            for b in RATES:
                error, share = asking(X, y, make, b)
                other = at_random(X, y, make, share)
                print(f"    b={b}: {error:.2f} with {share:.1f} % of the labels, at random {other:.2f}", flush=True)


def rows(sets, n):
    for name in sets:
        X, y = problem(name, n)
        cells = []
        for make in LEARNERS.values():
            (whole, _), (error, share) = asking(X, y, make, None), asking(X, y, make, DEFAULT)
            cells += [f"{whole:.1f}", f"{share:.0f} %", f"{error:.1f}", f"{at_random(X, y, make, share):.1f}"]
        yield name, *cells


def main():
    args = options(__doc__, choose=False, rows=8000, sets=list(SETS))
    if args.choose:
        return choose(args.rows)
    head = ["set", *(cell for title in LEARNERS for cell in (f"{title}: all labels", "labels asked for", "error", "at random"))]
    write_between_if(args.write, "selective.md", "asked", table(head, shown(rows(args.sets, args.rows))))


if __name__ == "__main__":
    main()
