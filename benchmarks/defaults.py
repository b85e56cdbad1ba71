"""Choose the defaults: progressive errors of a grid of parameters on the real data sets, one pass in file order.

    python benchmarks/defaults.py [--write] [--only AROWClassifier multi_class]

Rows are of unit length, unigrams hashed to 2^20 columns (corpora.py). A default is the value with the least mean progressive
error over all sets; where an algorithm has several forms, over all forms. A regressor is given the labels of the sets of two
classes as targets -1 and +1, and its error is its progressive mean squared error in per cent of the targets' variance.
The errors are kept in docs/defaults.csv, a row a setting, a column a set; ``--write`` replaces the rows of what was measured
and makes the tables of docs/defaults.md anew.
"""

import argparse
import csv
import itertools
import sys

import corpora
import numpy as np
from pages import DOCS, write_between

import onlinecls

GRIDS = {
    "AROWClassifier": {"r": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]},
    "NAROWClassifier": {"b": [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0, 1000.0]},
    "SecondOrderPerceptron": {"aggressive": [False, True], "r": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]},
    "ConfidenceWeightedClassifier": {
        "variant": ["stdev", "variance"],
        "eta": [0.51, 0.52, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99],
    },
    "SCWClassifier": {"variant": ["SCW-I", "SCW-II"], "eta": [0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999]},
    "MultiplicativePassiveAggressiveClassifier": {"margin": [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0]},
    "AROWRegressor": {"r": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]},
    "AdaGradClassifier": {
        "update": ["mirror_descent", "dual_averaging"],
        "eta0": [0.05, 0.1, 0.2, 0.5, 1.0],
        "delta": [1e-6, 0.01, 0.1, 0.3, 1.0],
    },
}
SHARED = ("aggressive", "variant", "update")  # the constructor's own default of these is not for tuning
PLAIN = ("Perceptron", "PassiveAggressiveClassifier")
CONSTRUCTIONS = ("crammer_singer", "ovr")
DATA = DOCS / "defaults.csv"


def is_regressor(name):
    return getattr(onlinecls, name)._estimator_type == "regressor"


def progressive_error(estimator, X, y):
    if is_regressor(type(estimator).__name__):
        y = np.where(y == np.unique(y)[1], 1.0, -1.0)
        return 100.0 * estimator.partial_fit(X, y).progressive_mse_ / y.var()
    estimator.partial_fit(X, y, classes=np.unique(y))
    return 100.0 * estimator.n_mistakes_ / estimator.t_


def settings(grid):
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def grid_rows(name, sets):
    """Every setting of the grid: a dict of class, form, setting, and the error on each set."""
    if is_regressor(name):
        sets = {of: (X, y) for of, (X, y) in sets.items() if of in corpora.BINARY}
    found = []
    for setting in settings(GRIDS[name]):
        form = ", ".join(f"{k}={v}" for k, v in setting.items() if k in SHARED)
        values = ", ".join(f"{k}={v:g}" for k, v in setting.items() if k not in SHARED)
        found.append({"class": name, "form": form, "setting": values, **errors_on(sets, name, setting)})
    return found


def construction_rows(sets):
    """multi_class: both constructions with every classifier's defaults."""
    sets = {of: (X, y) for of, (X, y) in sets.items() if of in corpora.MULTICLASS}
    names = [*PLAIN, *(name for name in GRIDS if not is_regressor(name))]
    return [
        {"class": name, "form": f"multi_class={scheme}", "setting": "", **errors_on(sets, name, {"multi_class": scheme})}
        for name in names
        for scheme in CONSTRUCTIONS
    ]


def errors_on(sets, name, setting):
    cls = getattr(onlinecls, name)
    errors = {of: f"{progressive_error(cls(**setting), X, y):.2f}" for of, (X, y) in sets.items()}
    print(name, setting, *errors.values(), file=sys.stderr, flush=True)
    return errors


# --- The page, from the data ---


def read_data():
    with open(DATA, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_data(rows):
    columns = ["class", "form", "setting", *corpora.BINARY, *corpora.MULTICLASS]
    with open(DATA, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def mean(row):
    return np.mean([float(error) for of, error in row.items() if of not in ("class", "form", "setting") and error])


def grid_summary(rows):
    """A row a form: its error at the default, which is chosen for all forms of the class, and at its own best setting."""
    lines = ["| class | form | default | mean error, % | least of the grid | at | most |", "|---|---|---|---:|---:|---|---:|"]
    for name in GRIDS:
        forms = {}
        for row in rows:
            if row["class"] == name and row["setting"]:
                forms.setdefault(row["form"], {})[row["setting"]] = mean(row)
        if not forms:
            continue
        tried = next(iter(forms.values()))
        default = min(tried, key=lambda setting: sum(errors[setting] for errors in forms.values()))
        for form, errors in forms.items():
            best = min(errors, key=lambda setting: (round(errors[setting], 2), setting != default))
            cells = f"{errors[default]:.2f} | {errors[best]:.2f} | {best} | {max(errors.values()):.2f}"
            lines.append(f"| `{name}` | {form} | {default} | {cells} |")
    return "\n".join(lines)


def construction_summary(rows):
    found = {(row["class"], row["form"].removeprefix("multi_class=")): mean(row) for row in rows if not row["setting"]}
    lines = ["| mean error, % | " + " | ".join(CONSTRUCTIONS) + " |", "|---|---:|---:|"]
    for name in dict.fromkeys(name for name, _ in found):
        lines.append(f"| `{name}` | " + " | ".join(f"{found[name, scheme]:.2f}" for scheme in CONSTRUCTIONS) + " |")
    return "\n".join(lines)


def write_page(rows):
    write_between(DOCS / "defaults.md", "grids", grid_summary(rows))
    write_between(DOCS / "defaults.md", "multi_class", construction_summary(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the errors and tables into docs/defaults.csv and .md")
    parser.add_argument("--only", nargs="*", default=[*GRIDS, "multi_class"], help="classes, or multi_class")
    args = parser.parse_args()
    names = [name for name in corpora.BINARY + corpora.MULTICLASS if corpora.available(name)]
    if not names:
        sys.exit(f"no data sets in {corpora.data_dir()}: set ONLINECLS_DATA")
    sets = {name: corpora.load(name) for name in names}
    for only in args.only:
        rows = construction_rows(sets) if only == "multi_class" else grid_rows(only, sets)
        if not args.write:
            print(construction_summary(rows) if only == "multi_class" else grid_summary(rows))
            continue
        measured = {(row["class"], row["form"], row["setting"]) for row in rows}
        kept = [row for row in read_data() if (row["class"], row["form"], row["setting"]) not in measured]
        write_data(kept + rows)  # after each class: a long run that is stopped keeps what it has
    if args.write:
        write_page(read_data())


if __name__ == "__main__":
    main()
