"""Test errors of AROW's `fit` and of its one pass, beside those of scikit-learn's SGDClassifier.

    PYTHONPATH=benchmarks python -m studies.fit [--write]

Every set that comes in a training and a test half is taken as rows of unit length and as it stands, digits with standardised
columns too. "one pass" is one `partial_fit` over the training half in file order; `fit` has its defaults, and shuffles
(random_state=0). Columns that do not occur in the training half are left out: their weights would stay 0. Of MNIST the first
10,000 images are learnt. Errors are summed up by their geometric mean.
"""

import sys
import warnings

import corpora
import numpy as np
import scipy.sparse as sp
from pages import options, shown, table, write_between_if
from sklearn.linear_model import SGDClassifier

from onlinecls import AROWClassifier

from . import geometric

N_DIGITS = 10_000


def halves(name, form):
    """Return X, y to learn from and X, y to test on."""
    if name == "mnist":
        (X, y), (X_test, y_test) = corpora.digits("train"), corpora.digits("test")
        X, y = X[:N_DIGITS], y[:N_DIGITS]
        if form == "standard":
            mean, deviation = X.mean(axis=0), X.std(axis=0)
            X, X_test = ((part - mean) / np.where(deviation > 0.0, deviation, 1.0) for part in (X, X_test))
        if form == "unit":
            X, X_test = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (X, X_test))
        return np.ascontiguousarray(X, np.float32), y, np.ascontiguousarray(X_test, np.float32), y_test
    (X, y), (X_test, y_test) = (corpora.load(half, normalize=form == "unit") for half in corpora.HALVES[name])
    used = np.unique(X.indices)
    return sp.csr_matrix(X[:, used]), y, sp.csr_matrix(X_test[:, used]), y_test


def errors(X, y, X_test, y_test):
    """Return the errors in per cent of AROW's fit and one pass, and of SGD's."""
    learners = (
        AROWClassifier(random_state=0).fit(X, y), AROWClassifier().partial_fit(X, y), SGDClassifier(random_state=0).fit(X, y),
        SGDClassifier(random_state=0, shuffle=False).partial_fit(X, y, classes=np.unique(y)),
    )
    return [100.0 * float(np.mean(learner.predict(X_test) != y_test)) for learner in learners]


def main():
    args = options(__doc__)
    names = [name for name, pair in corpora.HALVES.items() if all(map(corpora.available, pair))]
    sets = [(name, form) for name in names for form in ("unit", "raw")] + corpora.with_forms(["mnist"])
    if not sets:
        sys.exit(f"no data sets in {corpora.data_dir()}: set ONLINECLS_DATA")
    warnings.simplefilter("ignore")  # SGD that did not converge
    found = {f"{name}, {form}": errors(*halves(name, form)) for name, form in sets}
    found["geometric mean"] = geometric(list(found.values()))
    head = "set and form", "`AROWClassifier().fit`", "its one pass", "`SGDClassifier().fit`", "its one pass "
    rows = ([title, *(f"{error:.2f}" for error in each)] for title, each in found.items())
    write_between_if(args.write, "accuracy.md", "fit_sets", table(head, shown(rows)))


if __name__ == "__main__":
    main()
