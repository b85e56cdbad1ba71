"""Test errors of each classifier's `fit` and of one pass, beside scikit-learn's SGDClassifier.

    PYTHONPATH=benchmarks python -m studies.fit [--write] [--only AROWClassifier ...] [--json FILE] [--reuse FILE]

Every set that comes in a training and a test half is taken as rows of unit length and as it stands, digits with standardised
columns too. "one pass" is one `partial_fit` over the training half in file order; "fit" is `fit` with the defaults, which
shuffles (random_state=0); the other settings change one parameter of it. Columns that do not occur in the training half are left
out: their weights would stay 0. Of MNIST the first 10,000 images are learnt. Errors are summed up by their geometric mean.
`--json` keeps the errors, as they come; `--reuse` measures only what such a file does not have.
"""

import json
import sys
import warnings
from pathlib import Path

import corpora
import numpy as np
import scipy.sparse as sp
from pages import options, table, write_between_if

import onlinecls

from . import geometric

N_DIGITS = 10_000
CLASSES = (  # those that learn by a budget of epochs from any rows: not Hedge (experts' advice), FoReL (one pass), kernels
    "AROWClassifier", "NAROWClassifier", "SecondOrderPerceptron", "ConfidenceWeightedClassifier", "SCWClassifier",
    "AdaGradClassifier", "OGDClassifier", "DualAscentClassifier", "Perceptron", "PassiveAggressiveClassifier", "PNormPerceptron",
    "MultiplicativePassiveAggressiveClassifier",
)
SETTINGS = {
    "one pass": {},
    "fit": {},
    "max_iter=1": {"max_iter": 1},
    "max_iter=3": {"max_iter": 3},
    "max_iter=10": {"max_iter": 10},
    "average": {"average": True},
    "early_stopping": {"early_stopping": True},
    "tol=None": {"tol": None},
}
SGD = "SGDClassifier"


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


def sets_and_forms():
    names = [name for name, pair in corpora.HALVES.items() if all(map(corpora.available, pair))]
    found = [(name, form) for name in names for form in ("unit", "raw")]
    return found + corpora.with_forms(["mnist"])


def makes_sense(name, setting):
    """Return True if a setting is valid and not the default."""
    if name == SGD:
        return setting in ("one pass", "fit", "average")
    default = getattr(onlinecls, name)()
    if setting == "average" and name in ("PNormPerceptron", "MultiplicativePassiveAggressiveClassifier"):
        return False  # they have none
    if setting == "tol=None":
        return default.max_iter <= 10
    return setting in ("one pass", "fit") or any(getattr(default, key) != value for key, value in SETTINGS[setting].items())


def test_error(name, setting, X, y, X_test, y_test):
    if name == SGD:
        from sklearn.linear_model import SGDClassifier

        learner = SGDClassifier(**SETTINGS[setting], random_state=0)
    else:
        learner = getattr(onlinecls, name)(**SETTINGS[setting], random_state=0)
    if setting == "one pass":
        if name == SGD:
            learner.set_params(shuffle=False)
        learner.partial_fit(X, y, classes=np.unique(y))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SGD that did not converge
            learner.fit(X, y)
    return 100.0 * float(np.mean(learner.predict(X_test) != y_test)), int(learner.n_iter_)


def measure(names, found, keep):
    """Fill in the errors that are missing: {"class|setting": {"set form": (error, epochs)}}."""
    data = {each: halves(*each) for each in sets_and_forms()}
    for setting in SETTINGS:
        for name in names:
            if not makes_sense(name, setting):
                continue
            errors = found.setdefault(f"{name}|{setting}", {})
            for each, parts in data.items():
                if " ".join(each) not in errors:
                    errors[" ".join(each)] = test_error(name, setting, *parts)
                    keep(found)
            print(f"{name} {setting} {mean(errors):.2f}", file=sys.stderr, flush=True)
    return found


def mean(errors):
    """Return the geometric mean."""
    return geometric([error for error, _ in errors.values()])


def epochs_table(found):
    """Format a row for each class: error after one pass and after fit, and the effect of each parameter on that of fit."""
    changed = [setting for setting in SETTINGS if setting not in ("one pass", "fit")]
    rows = []
    for name in (SGD, *CLASSES):
        if f"{name}|fit" not in found:
            continue
        fitted = mean(found[f"{name}|fit"])
        epochs = np.mean([n for _, n in found[f"{name}|fit"].values()])
        cells = [f"{mean(found[f'{name}|{each}']):.2f}" if f"{name}|{each}" in found else "" for each in changed]
        once = mean(found[f"{name}|one pass"])
        rows.append([f"`{name}`", f"{once:.2f}", f"{fitted:.2f} ({fitted / once - 1:+.0%})", f"{epochs:.0f}", *cells])
    return table(["class", "one pass", "`fit`", "epochs", *(f"`{each}`" for each in changed)], rows)


def sets_table(found):
    """Format a row for each set and form: the error of AROW's fit, of its one pass and of SGD's fit."""
    columns = {"`AROWClassifier().fit`": "AROWClassifier|fit", "its one pass": "AROWClassifier|one pass",
               "`SGDClassifier().fit`": f"{SGD}|fit", "its one pass ": f"{SGD}|one pass"}
    rows = [[f"{name}, {form}", *(f"{found[key][f'{name} {form}'][0]:.2f}" for key in columns.values())]
            for name, form in sets_and_forms()]
    rows.append(["geometric mean", *(f"{mean(found[key]):.2f}" for key in columns.values())])
    return table(["set and form", *columns], rows)


def main():
    args = options(__doc__, only=[SGD, *CLASSES], json=Path, reuse=Path)
    if not sets_and_forms():
        sys.exit(f"no data sets in {corpora.data_dir()}: set ONLINECLS_DATA")
    found = json.loads(args.reuse.read_text()) if args.reuse and args.reuse.exists() else {}
    found = measure(args.only, found, lambda so_far: args.json and args.json.write_text(json.dumps(so_far, indent=1)))
    write_between_if(args.write, "defaults.md", "fit_sets", sets_table(found))
    write_between_if(args.write, "defaults.md", "fit_epochs", epochs_table(found))


if __name__ == "__main__":
    main()
