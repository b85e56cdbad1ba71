"""Choose the defaults: mean progressive error over the real data sets, one pass in file order, and write docs/defaults.md.

    python benchmarks/defaults.py [--write] [--only AROWClassifier]

Rows are of unit length, unigrams hashed to 2^20 columns (corpora.py). A default is the value with the least mean progressive
error over all sets; where an algorithm has several forms, over all forms. A regressor is given the labels of the sets of two
classes as targets -1 and +1, and its error is its progressive mean squared error in per cent of the targets' variance.
"""

import argparse
import itertools
import sys
from pathlib import Path

import corpora
import numpy as np

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
ROOT = Path(__file__).resolve().parents[1]


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


def grid_table(name, sets):
    cls, rows = getattr(onlinecls, name), []
    for setting in settings(GRIDS[name]):
        rows.append([progressive_error(cls(**setting), X, y) for X, y in sets.values()])
        print(name, setting, np.round(rows[-1], 2), file=sys.stderr)
    return np.array(rows)


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def grid_section(name, sets):
    """A table for each form of the algorithm; the default must serve all forms, so the least mean over the forms is marked."""
    if is_regressor(name):
        sets = {of: (X, y) for of, (X, y) in sets.items() if of in corpora.BINARY}
    grid, errors = GRIDS[name], grid_table(name, sets)
    found, choices = settings(grid), [key for key in grid if key in SHARED]
    forms = sorted({tuple(s[k] for k in choices) for s in found}, key=str)
    rows_of = {form: [i for i, s in enumerate(found) if tuple(s[k] for k in choices) == form] for form in forms}
    means = {form: errors[rows].mean(axis=1) for form, rows in rows_of.items()}
    best, text = np.mean(list(means.values()), axis=0).argmin(), []
    for form, rows in rows_of.items():
        lines = []
        for at, i in enumerate(rows):
            mark = "**" if at == best else ""
            values = ", ".join(f"{k}={v:g}" for k, v in found[i].items() if k not in SHARED)
            lines.append([f"{mark}{values}{mark}", f"{means[form][at]:.2f}"] + [f"{e:.2f}" for e in errors[i]])
        title = f"### {name}" + "".join(f", {k}={v!r}" for k, v in zip(choices, form, strict=True))
        text.append(f"{title}\n\n{markdown(['setting', 'mean', *sets], lines)}\n")
    return "\n".join(text)


def construction_section(sets):
    """multi_class: both constructions with every classifier's defaults."""
    constructions, rows, means = ("crammer_singer", "ovr"), [], []
    for name in (*PLAIN, *(name for name in GRIDS if not is_regressor(name))):
        cls = getattr(onlinecls, name)
        errors = [[progressive_error(cls(multi_class=m), X, y) for X, y in sets.values()] for m in constructions]
        means.append(np.mean(errors, axis=1))
        best = means[-1].argmin()
        for at, (construction, found) in enumerate(zip(constructions, errors, strict=True)):
            mark = "**" if at == best else ""
            rows.append([f"{mark}{name}, {construction}{mark}", f"{means[-1][at]:.2f}"] + [f"{e:.2f}" for e in found])
        print(rows[-2:], file=sys.stderr)
    overall = ", ".join(f"{m} {mean:.2f}" for m, mean in zip(constructions, np.mean(means, axis=0), strict=True))
    table = markdown(["classifier", "mean", *sets], rows)
    return f"### multi_class\n\nMean over all classifiers, each with its defaults: {overall}.\n\n{table}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/defaults.md instead of standard output")
    parser.add_argument("--only", nargs="*", default=list(GRIDS), help="classifiers")
    parser.add_argument("--construction", action="store_true", help="only the section on multi_class")
    args = parser.parse_args()
    names = [name for name in corpora.BINARY + corpora.MULTICLASS if corpora.available(name)]
    if not names:
        sys.exit(f"no data sets in {corpora.data_dir()}: set ONLINECLS_DATA")
    sets = {name: corpora.load(name) for name in names}
    sections = [] if args.construction else [grid_section(name, sets) for name in args.only]
    sections.append(construction_section({name: sets[name] for name in names if name in corpora.MULTICLASS}))
    intro = (
        "# How the defaults were chosen\n\n"
        "Progressive error in per cent, one pass in file order, rows of unit length, unigrams hashed to 2^20 columns; made by\n"
        "`python benchmarks/defaults.py --write`. The setting with the least mean error over the sets (where an algorithm has\n"
        "several forms, over all forms) is in bold: it is the default. Regressors: the labels of two classes are the targets -1\n"
        "and +1, and the error is the progressive mean squared error in per cent of the targets' variance.\n\n"
    )
    text = intro + "\n".join(sections)
    if args.write:
        (ROOT / "docs" / "defaults.md").write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
