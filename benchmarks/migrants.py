"""What a loop written for scikit-learn gets by the new import line: mistakes beside scikit-learn's own, at all defaults.

    python benchmarks/migrants.py [--write] [--sets NAME ...]

The loop is `predict` of the next 100 rows, then `partial_fit` of them with all classes given: what it predicts wrongly counts.
scikit-learn shuffles each batch (random_state=0). Rows are hashed words (corpora.py) of unit length, and raw counts.
"""

import argparse
import sys
import warnings

import corpora
import numpy as np
from pages import DOCS, write_between

import onlinecls

CLASSES = ("PassiveAggressiveClassifier", "Perceptron")
SETS = tuple(name for name in (*corpora.BINARY, *corpora.MULTICLASS) if name != "a9a")  # (a9a is no text)
BATCH = 100


def mistakes(learner, X, y):
    classes, wrong = np.unique(y), 0
    for start in range(0, len(y), BATCH):
        rows, labels = X[start : start + BATCH], y[start : start + BATCH]
        wrong += np.sum((learner.predict(rows) if start else classes[:1]) != labels)
        learner.partial_fit(rows, labels, classes=classes)
    return int(wrong)


def measure(sets):
    """{(set, form): {(class, library): mistakes per cent}}"""
    from sklearn import linear_model

    found = {}
    for name in sets:
        for form in ("unit", "raw"):
            X, y = corpora.in_form(name, form)
            X = X[:, np.unique(X.indices)]  # each call costs O(d) there; a column that never occurs keeps weight 0
            for cls in CLASSES:
                for library, learner in (
                    ("scikit-learn", getattr(linear_model, cls)(random_state=0)), ("onlinecls", getattr(onlinecls, cls)()),
                ):
                    found.setdefault((name, form), {})[cls, library] = 100.0 * mistakes(learner, X, y) / len(y)
            print(name, form, {key: round(value, 2) for key, value in found[name, form].items()}, file=sys.stderr, flush=True)
    return found


def table(found):
    lines = ["| mistakes, % | rows | " + " | ".join(f"scikit-learn's `{cls}` | onlinecls" for cls in CLASSES) + " |",
             "|---|---|" + "---:|" * (2 * len(CLASSES))]
    for (name, form), errors in found.items():
        cells = []
        for cls in CLASSES:
            theirs, ours = errors[cls, "scikit-learn"], errors[cls, "onlinecls"]
            cells.append(f"{theirs:.2f} | {ours:.2f} ({ours / theirs - 1:+.0%})")
        lines.append(f"| {name} | {form} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/migrating.md")
    parser.add_argument("--sets", nargs="*", default=SETS)
    args = parser.parse_args()
    sets = [name for name in args.sets if corpora.available(name)]
    if not sets:
        sys.exit(f"no data sets in {corpora.data_dir()}: set ONLINECLS_DATA")
    warnings.simplefilter("ignore", FutureWarning)  # scikit-learn is about to remove its PassiveAggressiveClassifier
    found = measure(sets)
    if args.write:
        write_between(DOCS / "migrating.md", "migrants", table(found))
    else:
        print(table(found))


if __name__ == "__main__":
    main()
