"""Choose the defaults: progressive errors of a grid of settings on the real data sets, one pass in file order.

    PYTHONPATH=benchmarks python -m studies.defaults [--write] [--only AROWClassifier]

Every set is taken as rows of unit length, as it stands (counts, values, pixels from 0 to 255) and, where it is dense, with
standardised columns. Words are hashed to 2^20 columns (corpora.py). A number of a grid that has a unit (``units`` in the
registry) stands for that number where ||x|| is 1: it is multiplied by the power of the set's `scale_` that the default has.
Errors of a setting are summed up by their geometric mean over all sets and forms, so that a set of 0.5 % counts as much as
one of 30 %. A regressor is given the labels of the sets of two classes as targets -1 and +1; its error is its progressive mean
squared error in per cent of the targets' variance. FIXED has the numbers that were the defaults before they had units.

The errors are kept in docs/defaults.csv, a row a setting, a column a set and form; ``--write`` replaces the rows of what was
measured and makes the tables of docs/defaults.md anew.
"""

import itertools
import sys

import corpora
import numpy as np
from pages import options, read_csv, table, write_between_if, write_csv

import onlinecls
from onlinecls._registry import select

from . import geometric

GRIDS = {
    "Perceptron": {"aggressive": [False, True], "eta0": [0.25, 0.5, 1.0, 2.0]},
    "PassiveAggressiveClassifier": {"loss": ["hinge", "squared_hinge"], "C": [0.1, 0.3, 1.0, 3.0]},
    "AROWClassifier": {"r": [0.02, 0.05, 0.1, 0.2, 0.5]},
    "NAROWClassifier": {"b": [2.0, 5.0, 10.0], "initial_variance": [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]},
    "SecondOrderPerceptron": {"aggressive": [False, True], "r": [0.05, 0.1, 0.2, 0.5, 1.0, 2.0]},
    "ConfidenceWeightedClassifier": {
        "variant": ["stdev", "variance"], "eta": [0.7, 0.8, 0.9], "initial_variance": [0.3, 1.0, 3.0, 10.0, 30.0],
    },
    "SCWClassifier": {
        "variant": ["SCW-I", "SCW-II"], "eta": [0.7, 0.8, 0.9], "initial_variance": [0.3, 1.0, 3.0, 10.0, 30.0],
    },
    "AdaGradClassifier": {
        "update": ["mirror_descent", "dual_averaging"], "eta0": [0.1, 0.2, 0.5, 1.0], "delta": [1e-6, 0.01, 0.1],
    },
    "FTRLClassifier": {"loss": ["log_loss", "hinge"], "alpha": [0.5, 1.0, 2.0], "beta": [1e-6, 0.1]},
    "OGDClassifier": {"learning_rate": ["strongly_convex"], "alpha": [1e-5, 1e-4, 1e-3, 1e-2]},
    "DualAscentClassifier": {"loss": ["hinge", "log_loss"], "sigma": [0.1, 0.2, 0.5, 1.0, 2.0]},
    "MultiplicativePassiveAggressiveClassifier": {"margin": [0.05, 0.1, 0.2], "norm_bound": [0.5, 1.0, 2.0, 4.0]},
    "AROWRegressor": {"r": [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]},
    "FTRLRegressor": {"loss": ["squared", "absolute"], "alpha": [0.05, 0.1, 0.2], "beta": [1e-6, 0.1]},
}
SHARED = ("aggressive", "loss", "variant", "update", "learning_rate")  # the constructor's own default of these is not for tuning
FIXED = {  # what the defaults were when they had no units, with a constant feature of 1
    "Perceptron": {}, "PassiveAggressiveClassifier": {}, "AROWClassifier": {"r": 0.1},
    "NAROWClassifier": {"initial_variance": 1.0}, "SecondOrderPerceptron": {"r": 0.5, "initial_variance": 1.0},
    "ConfidenceWeightedClassifier": {"eta": 0.95, "initial_variance": 1.0},
    "SCWClassifier": {"eta": 0.8, "initial_variance": 1.0},
    "AdaGradClassifier": {"eta0": 0.5, "delta": 1e-6}, "OGDClassifier": {"alpha": 1e-4}, "DualAscentClassifier": {"sigma": 1.0},
    "MultiplicativePassiveAggressiveClassifier": {"norm_bound": 1.0}, "AROWRegressor": {"r": 0.1},
    "FTRLClassifier": {"alpha": 1.0, "beta": 1e-6}, "FTRLRegressor": {"alpha": 0.1, "beta": 1e-6},
}
KEYS = "class", "form", "setting"
GUESS = "guessing"  # the row of the commonest class's share


def sets_and_forms():
    """Return (name, form) of all sets."""
    return corpora.with_forms((*corpora.BINARY, *corpora.MULTICLASS, *corpora.DIGITS))


def is_regressor(name):
    return getattr(onlinecls, name)._estimator_type == "regressor"


def progressive_error(estimator, X, y):
    if is_regressor(type(estimator).__name__):
        y = np.where(y == np.unique(y)[1], 1.0, -1.0)
        return 100.0 * estimator.partial_fit(X, y).progressive_mse_ / y.var()
    estimator.partial_fit(X, y, classes=np.unique(y))
    return 100.0 * estimator.n_mistakes_ / estimator.t_


def in_units(name, setting, scale):
    """Convert the numbers of a setting to units of the rows."""
    cls = getattr(onlinecls, name)
    values = cls(**{key: value for key, value in setting.items() if key in SHARED}).get_params()
    units = select(cls, values).units
    return {
        key: value * scale ** units[key].power if key in units and key not in SHARED else value for key, value in setting.items()
    }


def settings(name):
    grid = GRIDS[name]
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def row_of(name, form, setting):
    return {"class": name, "form": form, "setting": setting}


def measured(name, X, y):
    """Yield (keys of the row, error) of every setting of a class on one set."""
    scale = onlinecls.Perceptron().partial_fit(X[:64], y[:64]).scale_
    cls = getattr(onlinecls, name)
    for forms in {tuple((k, s[k]) for k in s if k in SHARED): None for s in settings(name)}:
        form = ", ".join(f"{k}={v}" for k, v in forms)
        yield row_of(name, form, "default"), progressive_error(cls(**dict(forms)), X, y)
        yield row_of(name, form, "fixed"), progressive_error(cls(**dict(forms), intercept_scaling=1.0, **FIXED[name]), X, y)
    for setting in settings(name):
        form = ", ".join(f"{k}={v}" for k, v in setting.items() if k in SHARED)
        values = ", ".join(f"{k}={v:g}" for k, v in setting.items() if k not in SHARED)
        yield row_of(name, form, values), progressive_error(cls(**in_units(name, setting, scale)), X, y)


def measure(names):
    """Return the rows of the table: dicts of class, form, setting, and the error on each set and form."""
    found = {}
    for of, form in sets_and_forms():
        X, y = corpora.in_form(of, form)
        found.setdefault((GUESS, "", ""), {})[f"{of} {form}"] = 100.0 * (1.0 - np.unique(y, return_counts=True)[1].max() / len(y))
        for name in names:
            if is_regressor(name) and len(np.unique(y)) > 2:
                continue
            for row, error in measured(name, X, y):
                found.setdefault(tuple(row.values()), {})[f"{of} {form}"] = error
        print(of, form, file=sys.stderr, flush=True)
    return [
        {**dict(zip(KEYS, keys, strict=True)), **{on: f"{error:.3f}" for on, error in errors.items()}}
        for keys, errors in found.items()
    ]


# --- The page, from the data ---


def read_data():
    return read_csv("defaults.csv")


def errors_of(row):
    return {on: float(error) for on, error in row.items() if on not in KEYS and error}


def mean(row):
    """Return the geometric mean."""
    return geometric(list(errors_of(row).values()))


def grid_summary(rows):
    """Format a row for each form: error at the default, at the best setting of the grid, and at the defaults without units."""
    lines = []
    guess = next((errors_of(row) for row in rows if row["class"] == GUESS), {})
    for name in GRIDS:
        forms = {}
        for row in rows:
            if row["class"] == name and row["setting"]:
                forms.setdefault(row["form"], {})[row["setting"]] = row
        for form, tried in forms.items():
            grid = {setting: mean(row) for setting, row in tried.items() if setting not in ("default", "fixed")}
            best, default, fixed = min(grid, key=grid.get), mean(tried["default"]), mean(tried["fixed"])
            worst = max(error / guess[on] for on, error in errors_of(tried["default"]).items())
            lines.append((
                f"`{name}`", form, f"{default:.2f}", f"{grid[best]:.2f} ({default / grid[best] - 1:+.0%})", best,
                f"{fixed:.2f} ({default / fixed - 1:+.0%})", "" if is_regressor(name) else f"{worst:.2f}"))
    head = "class", "form", "geometric mean, %", "best of the grid", "at", "before", "most times guessing"
    return table(head, lines, left=2)


def main():
    args = options(__doc__, only=[*GRIDS])
    if not sets_and_forms():
        sys.exit(f"no data sets in {corpora.data_dir()}: set ONLINECLS_DATA")
    rows = measure(args.only)
    if args.write:
        new = {tuple(row[key] for key in KEYS) for row in rows}
        rows = [row for row in read_data() if tuple(row[key] for key in KEYS) not in new and "sms-spam raw" in row] + rows
        write_csv("defaults.csv", rows)
    write_between_if(args.write, "defaults.md", "grids", grid_summary(rows))


if __name__ == "__main__":
    main()
