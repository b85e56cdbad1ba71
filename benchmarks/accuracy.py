"""Progressive error of every classifier beside Vowpal Wabbit and scikit-learn: one pass, file order, default parameters.

A row counts as a mistake when it is predicted wrongly before its label is shown. All systems see the same hashed unigrams in
rows of unit length. Ours counts its mistakes in one ``partial_fit``; VW's driver predicts before each update (``-p``);
scikit-learn's SGD is asked to predict each block of rows before it learns them.

    python benchmarks/accuracy.py [--sets NAME ...] [--only PATTERN ...] [--json FILE] [--reuse FILE]
"""

import argparse
import fnmatch
import importlib.util
import itertools
import json
import sys
import time
import warnings
from functools import partial

import corpora
import numpy as np
import pages

from benchmarks import common

VW_BINARY = {
    "VW hinge": "--loss_function hinge",
    "VW logistic": "--loss_function logistic",
    "VW ftrl": "--ftrl --loss_function logistic",
    "VW coin": "--coin --loss_function logistic",
}
VW_MULTICLASS = {"VW oaa": "", "VW oaa logistic": "--loss_function logistic"}
HINDSIGHT_R = (0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
HINDSIGHT_SCALES = (0.03, 0.1, 0.3, 1.0, 3.0)  # of the intercept, beside none
SGD = {"SGD hinge": "hinge", "SGD log_loss": "log_loss"}


# --- Systems: (X, y, name of the set) -> mistakes in one pass ---


def ours(X, y, set_name, *, algorithm, **params):
    model = common.make_estimator(algorithm, **params)
    model.partial_fit(X, y, classes=np.unique(y))
    return int(model.n_mistakes_)


def vw(X, y, set_name, *, options):
    from vowpalwabbit import Workspace

    classes = np.unique(y)
    path = corpora.vw_file(set_name, X, y)
    predictions = path.with_suffix(".predictions")
    # --binary predicts the sign of what would have been printed, with 0 as -1: our rule too.
    task = f"--oaa {len(classes)}" if len(classes) > 2 else "--binary"
    bits = corpora.vw_bits(len(classes))
    Workspace(f"-d {path} -b {bits} -p {predictions} --no_stdin --quiet {task} {options}").finish()
    predicted = np.loadtxt(predictions)
    predictions.unlink()
    if len(predicted) != len(y):
        raise RuntimeError(f"VW made {len(predicted)} predictions for the {len(y)} rows of {set_name}")
    return int(np.sum(predicted != corpora.vw_labels(y)))


def sgd(X, y, set_name, *, loss):
    from sklearn.linear_model import SGDClassifier

    classes = np.unique(y)
    X = X[:, np.unique(X.indices)]  # each call costs O(d) there; a column that never occurs keeps weight 0, so nothing changes
    model = SGDClassifier(loss=loss, shuffle=False)
    block = sgd_block(len(y), len(classes))
    mistakes = 0
    for start in range(0, len(y), block):
        rows, labels = X[start : start + block], y[start : start + block]
        predicted = model.predict(rows) if start else classes[0]
        mistakes += np.sum(predicted != labels)
        model.partial_fit(rows, labels, classes=classes)
    return int(mistakes)


def sgd_block(n_rows, n_classes):
    """Return the rows in a block: 1, or more to stay below a million calls for single classes (debian-sections: 10)."""
    binary_fits = n_rows * (n_classes if n_classes > 2 else 1)
    return next(block for block in (1, 10, 100, 1000) if binary_fits <= 1e6 * block)


def systems(multiclass):
    """Return {name: (group, run)} of every installed contestant."""
    algorithms = {name: {"algorithm": name} for name in (common.MULTICLASS if multiclass else common.BINARY)}
    algorithms |= {"pa": {"algorithm": "pa1", "C": float("inf")}, "committee": {"algorithm": "committee"}}
    found = {}
    for name, params in algorithms.items():
        if multiclass and name != "committee":  # (whose members are one against the rest)
            for scheme in ("crammer_singer", "ovr"):
                if scheme == "ovr" and name.startswith("entropic"):
                    continue  # minutes a set, for more errors than naming the commonest class makes
                found[f"{name} {scheme}"] = ("ours", partial(ours, multi_class=scheme, **params))
        else:
            found[name] = ("ours", partial(ours, **params))
    if installed("vowpalwabbit"):
        runs = VW_MULTICLASS if multiclass else VW_BINARY
        found.update({name: ("vw", partial(vw, options=options)) for name, options in runs.items()})
    if installed("sklearn"):
        found.update({name: ("sklearn", partial(sgd, loss=loss)) for name, loss in SGD.items()})
    return found


def installed(module):
    if importlib.util.find_spec(module):
        return True
    print(f"skipped, not installed: {module}", file=sys.stderr)
    return False


# --- Running ---


def run_set(set_name, contestants, known):
    """Return the progressive error, in per cent, of every contestant on one set."""
    X, y = corpora.load(set_name)
    errors = {}
    for name, (group, run) in contestants.items():
        if name in known and group != "ours":  # ours is never taken from an old file: it is what changes
            errors[name] = known[name]
            continue
        start = time.perf_counter()
        errors[name] = 100 * run(X, y, set_name) / len(y)
        print(f"{set_name}: {name} {errors[name]:.2f} % ({time.perf_counter() - start:.1f} s)", file=sys.stderr, flush=True)
    return errors


def chosen(contestants, patterns):
    if not patterns:
        return contestants
    return {
        name: (group, run)
        for name, (group, run) in contestants.items()
        if group in patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    }


def best(errors, contestants, group):
    return min((error for name, error in errors.items() if contestants[name][0] == group), default=None)


# --- Reporting ---


def as_lines(results, contestants):
    """Return a line for each system, with its errors on all sets."""
    libraries = {"ours": "onlinecls", "vw": "Vowpal Wabbit", "sklearn": "scikit-learn"}
    lines = []
    for name, (group, _) in contestants.items():
        found = {key: f"{error[name]:.2f}" for key, error in results.items()}
        mean = np.mean([error[name] for error in results.values()])
        lines.append({"learner": name, "library": libraries[group], **found, "mean": f"{mean:.2f}"})
    return lines


def hindsight(results, contestants):
    """Find AROW's least error on each set over a grid of its parameters, beside the best run of VW."""
    rows = []
    grid = [{"r": r, "intercept_scaling": scale} for r, scale in itertools.product(HINDSIGHT_R, HINDSIGHT_SCALES)]
    grid += [{"r": r, "fit_intercept": False} for r in HINDSIGHT_R]
    held, won = np.zeros(len(grid), int), 0
    for name, errors in results.items():
        X, y = corpora.load(name)
        found = [100 * ours(X, y, name, algorithm="arow", **point) / len(y) for point in grid]
        target, at = best(errors, contestants, "vw"), int(np.argmin(found))
        held += np.array(found) <= target
        won += found[at] <= target
        told = ", ".join(f"{key}={value}" for key, value in grid[at].items())
        rows.append([name, *(f"{error:.2f}" for error in (target, errors["arow"], errors["committee"], found[at])), told])
    says = f"At or below the best of VW: the best of these {len(grid)} settings for all sets on {held.max()}, "
    head = "error, %", "best of VW", "AROW", "committee", "least of AROW", "at"
    return pages.table(head, rows) + f"\n\n{says}each set's own best setting on {won} of {len(results)}."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", help="names of sets, or 'binary', 'multiclass' (these two if left out), 'test'")
    parser.add_argument("--only", nargs="+", metavar="PATTERN", help="systems by name (* allowed) or by group: ours, vw, sklearn")
    parser.add_argument("--json", help="write the errors to this file as well")
    parser.add_argument("--reuse", help="take the errors of VW and scikit-learn from this file instead of running them")
    parser.add_argument("--hindsight", action="store_true", help="AROW's least error on each binary set over a grid, too")
    parser.add_argument("--write", action="store_true", help="write docs/accuracy_*.csv, and the pages' tables of them")
    args = parser.parse_args()
    if args.write and (args.sets or args.only):
        parser.error("the page has all sets and systems: leave out --write, or --sets and --only")
    warnings.filterwarnings("ignore", category=FutureWarning)

    groups = {"binary": corpora.BINARY, "multiclass": corpora.MULTICLASS, "test": corpora.BINARY_TEST}
    wanted = [name for item in args.sets or ("binary", "multiclass") for name in groups.get(item, (item,))]
    known = {}
    if args.reuse:
        with open(args.reuse) as file:
            known = json.load(file)
    absent = [name for name in wanted if not corpora.available(name)]
    if absent:
        print(f"skipped, not in {corpora.data_dir()}: {', '.join(absent)}", file=sys.stderr)

    everything = {}
    for multiclass in (False, True):
        names = [name for name in wanted if name not in absent and (name in corpora.MULTICLASS) == multiclass]
        if not names:
            continue
        contestants = chosen(systems(multiclass), args.only)
        results = {}
        for name in names:
            results[name] = everything[name] = run_set(name, contestants, known.get(name, {}))
            if args.json:  # after each set: a long run that is stopped keeps what it has
                with open(args.json, "w") as file:
                    json.dump(everything, file, indent=1)
        lines = as_lines(results, contestants)
        print(pages.errors(lines), end="\n\n")
        if args.write:
            pages.write_csv("accuracy_several.csv" if multiclass else "accuracy_two.csv", lines)
        if args.hindsight and not multiclass:
            pages.write_between_if(args.write, "accuracy.md", "hindsight", hindsight(results, contestants))
    if args.write:
        pages.write_derived()


if __name__ == "__main__":
    main()
