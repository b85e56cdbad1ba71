"""Mistakes of every classifier beside Vowpal Wabbit's and scikit-learn's: one pass, file order, default parameters.

    python benchmarks/scripts/accuracy.py [--sets NAME ...] [--reuse] [--write]
    python benchmarks/scripts/accuracy.py --fit | --hindsight | --committee [--write]

A row counts as a mistake when it is predicted wrongly before its label is shown. All systems see the same hashed unigrams in
rows of unit length. Ours counts its mistakes in one ``partial_fit``; VW's driver predicts before each update (``-p``);
scikit-learn's SGD is asked to predict each block of rows before it learns them. --write makes docs/accuracy_two.csv and
docs/accuracy_several.csv, and the tables of docs/accuracy.md and README.md that stand on them; --reuse takes the others' errors
from these files.

--fit: errors on the test halves of the sets that have them, of `fit` and of one pass, beside SGDClassifier's (docs/accuracy.md).
--hindsight: AROW's least error over a grid of its parameters, beside VW's best in docs/accuracy_two.csv (docs/accuracy.md).
--committee: a committee beside its members, on rows of unit length, raw counts and tables, and its time (docs/committee.md).
"""

import corpora  # isort: skip  (it gives BLAS one thread before numpy is there)

import argparse
import sys
import time
import warnings
from functools import partial

import numpy as np
import pages
from corpora import geometric, load, seconds

from benchmarks import calls
from benchmarks.common import CLASSIFIERS, make_estimator

VW_BINARY = {
    "VW hinge": "--loss_function hinge",
    "VW logistic": "--loss_function logistic",
    "VW ftrl": "--ftrl --loss_function logistic",
    "VW coin": "--coin --loss_function logistic",
}
VW_MULTICLASS = {"VW oaa": "", "VW oaa logistic": "--loss_function logistic"}
SGD = {"SGD hinge": "hinge", "SGD log_loss": "log_loss"}
FILES = {False: "accuracy_two.csv", True: "accuracy_several.csv"}


# --- Systems: (X, y, name of the set) -> mistakes in one pass ---


def ours(X, y, set_name, *, algorithm, **params):
    return int(make_estimator(algorithm, **params).partial_fit(X, y, classes=np.unique(y)).n_mistakes_)


def vw(X, y, set_name, *, options):
    from vowpalwabbit import Workspace

    classes, path = np.unique(y), corpora.vw_file(set_name, X, y)
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
    model, mistakes = SGDClassifier(loss=loss, shuffle=False), 0
    fits = len(y) * (len(classes) if len(classes) > 2 else 1)
    block = next(block for block in (1, 10, 100, 1000) if fits <= 1e6 * block)  # (debian-sections: 10)
    for start in range(0, len(y), block):
        rows, labels = X[start : start + block], y[start : start + block]
        mistakes += np.sum((model.predict(rows) if start else classes[0]) != labels)
        model.partial_fit(rows, labels, classes=classes)
    return int(mistakes)


def systems(several):
    """Return {name: (library, run)} of every contestant."""
    found = {}
    for name in CLASSIFIERS:
        if not several or name == "committee":  # (whose members are one against the rest)
            found[name] = "onlinecls", partial(ours, algorithm=name)
            continue
        for scheme in ("crammer_singer", "ovr"):
            if scheme == "crammer_singer" or not name.startswith("entropic"):  # minutes a set, for errors beyond guessing's
                found[f"{name} {scheme}"] = "onlinecls", partial(ours, algorithm=name, multi_class=scheme)
    runs = VW_MULTICLASS if several else VW_BINARY
    found |= {name: ("Vowpal Wabbit", partial(vw, options=options)) for name, options in runs.items()}
    return found | {name: ("scikit-learn", partial(sgd, loss=loss)) for name, loss in SGD.items()}


def progressive(names, several, reuse):
    """Return a line for each system, with its errors in per cent on these sets."""
    contestants = systems(several)
    known = {line["learner"]: line for line in pages.read_csv(FILES[several])} if reuse else {}
    lines = {name: {"learner": name, "library": library} for name, (library, _) in contestants.items()}
    for set_name in names:
        X, y = load(set_name)
        for name, (library, run) in contestants.items():
            if library != "onlinecls" and set_name in known.get(name, ()):  # (ours is what changes)
                lines[name][set_name] = known[name][set_name]
                continue
            start = time.perf_counter()
            lines[name][set_name] = f"{100 * run(X, y, set_name) / len(y):.2f}"
            told = f"{lines[name][set_name]} % ({time.perf_counter() - start:.1f} s)"
            print(f"{set_name}: {name} {told}", file=sys.stderr, flush=True)
    for line in lines.values():
        line["mean"] = f"{np.mean([float(line[name]) for name in names]):.2f}"
    return list(lines.values())


def hindsight(sets):
    """Return the table of AROW's least error on each set of two classes over a grid, beside the best run of VW."""
    grid = [{"r": r, **more} for r in (0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
            for more in (*({"intercept_scaling": each} for each in (0.03, 0.1, 0.3, 1.0, 3.0)), {"fit_intercept": False})]
    known, rows, held, won = pages.read_csv(FILES[False]), [], np.zeros(len(grid), int), 0
    for name in filter(corpora.BINARY.__contains__, sets):
        X, y = load(name)
        own = [100 * ours(X, y, name, algorithm=algorithm) / len(y) for algorithm in ("arow", "committee")]
        found = np.array([100 * ours(X, y, name, algorithm="arow", **point) / len(y) for point in grid])
        target, at = min(float(line[name]) for line in known if line["library"] == "Vowpal Wabbit"), int(np.argmin(found))
        held, won = held + (np.round(found, 2) <= target), won + (round(found[at], 2) <= target)
        told = ", ".join(f"{key}={value}" for key, value in grid[at].items())
        rows.append([name, *(f"{error:.2f}" for error in (target, *own, found[at])), told])
        print(*rows[-1], file=sys.stderr, flush=True)
    says = (f"At or below the best of VW: the best of these {len(grid)} settings for all sets on {held.max()}, each set's own "
            f"best setting on {won} of {len(rows)}.")
    return pages.table(("error, %", "best of VW", "AROW", "committee", "least of AROW", "at"), rows) + f"\n\n{says}"


# --- Held out: fit beside one pass ---


def forms(name):
    """Yield (form, X, y, test rows, their labels) of a set: of unit length, as it stands, and digits standardised."""
    if name != "mnist":
        for form in ("unit", "raw"):
            (X, y), (Z, z) = (load(half, normalize=form == "unit") for half in corpora.HALVES[name])
            used = np.unique(X.indices)  # (columns that never occur are left out: their weights would stay 0)
            yield form, X[:, used], y, Z[:, used], z
        return
    (X, y), (Z, z) = corpora.digits("train"), corpora.digits("test")
    X, y = X[:10_000], y[:10_000]
    mean, deviation = X.mean(axis=0), np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
    ways = {"unit": lambda each: each / np.linalg.norm(each, axis=1, keepdims=True), "raw": lambda each: 255 * each,
            "standard": lambda each: (each - mean) / deviation}
    for form, way in ways.items():
        yield form, way(X).astype(np.float32), y, way(Z).astype(np.float32), z


def fit(sets):
    """Return the table of errors on test halves, of AROW and PA, `fit` and one pass, beside scikit-learn's SGD."""
    from sklearn.linear_model import SGDClassifier

    found, makers = {}, {"AROW": partial(make_estimator, "arow"), "PA": partial(make_estimator, "pa1"), "SGD": SGDClassifier}
    for name in sets:
        for form, X, y, Z, z in forms(name):
            learners = []
            for make in makers.values():
                learners.append(make(random_state=0).fit(X, y))
                named = {"classes": np.unique(y)} if make is SGDClassifier else {}
                learners.append(make(shuffle=False).partial_fit(X, y, **named))
            found[f"{name}, {form}"] = [100.0 * np.mean(learner.predict(Z) != z) for learner in learners]
            print(name, form, np.round(found[f"{name}, {form}"], 2), file=sys.stderr, flush=True)
    found["geometric mean"] = geometric(list(found.values()))
    head = "set and form", *(f"{name}{way}" for name in makers for way in (", `fit`", ", one pass"))
    return pages.table(head, ((title, *(f"{error:.2f}" for error in each)) for title, each in found.items()))


# --- A committee beside its members ---


def kinds(sets, n_rows):
    """Yield (kind, name, rows, labels): the first rows of these sets, and small tables with standardised columns."""
    from sklearn import datasets

    held = *corpora.BINARY_TEST, "20news-test", "reuters21578-single-test", "amazon-domains"
    for kind, chosen, n in (("two classes", corpora.BINARY, n_rows), ("several classes", corpora.MULTICLASS, n_rows // 2),
                            ("two classes, held", held[:3], n_rows), ("several classes, held", held[3:], n_rows // 2)):
        for name in corpora.available([name for name in chosen if not sets or name in sets]):
            for form in ("", ", raw counts") if chosen in (corpora.BINARY, corpora.MULTICLASS) else ("",):
                X, y = load(name, n_features=2**18, normalize=not form)
                yield kind + form, name, X[:n], y[:n]
    for name in ("breast_cancer", "wine", "digits", "iris"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        deviation, order = X.std(axis=0), np.random.default_rng(0).permutation(len(y))
        yield "tables", name, ((X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))[order], y[order]


def committee(sets, n_rows):
    """Return the tables of geometric mean errors of a committee and its members, and of its time."""
    errors, ratios = {}, {}
    for kind, name, X, y in kinds(sets, n_rows):
        team, alone, classes = make_estimator("committee"), make_estimator("arow"), np.unique(y)
        times = [seconds(lambda learn=each.partial_fit, X=X, y=y, classes=classes: learn(X, y, classes=classes))
                 for each in (alone, team)]
        ratios.setdefault(kind, []).append(times[1] / times[0])
        errors.setdefault(kind, {})[name] = [100.0 * each.n_mistakes_ / len(y) for each in (*team.members_, team)]
        print(kind, name, np.round(errors[kind][name], 2), file=sys.stderr, flush=True)
    rows = []
    for kind, found in errors.items():
        over = {name: each[-1] / max(each[0], 1e-3) for name, each in found.items()}
        worst, means = max(over, key=over.get), geometric(list(found.values()))
        rows.append((f"{kind}, {len(found)} sets", *(f"{mean:.2f}" for mean in means), f"{means[-1] / means[0]:.3f}",
                     f"{sum(ratio > 1.0 for ratio in over.values())}, at most {over[worst]:.2f} ({worst})"))
    head = "errors, %", "AROW", "NAROW", "FTRL", "PA", "committee", "over AROW's", "sets where it errs more"
    lines = [(f"a pass over {kind}, in passes of AROW", f"{np.median(each):.1f}") for kind, each in ratios.items()
             if kind in ("two classes", "several classes")]
    model, few = calls.grown(make_estimator("committee"), 2**20), calls.sparse_rows(2**20)
    for method, labels in (("partial_fit", (calls.LABELS[1:],)), ("predict", ())):
        run = calls.repeated(getattr(model, method), [(row, *labels) for row in few])
        lines.append((f"`{method}` of a row, µs", f"{min(1e3 * seconds(run) for _ in range(9)):.1f}"))
    return pages.table(head, rows), pages.table(("", "time"), lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", help="names of sets; all if left out")
    parser.add_argument("--reuse", action="store_true", help="take the errors of VW and scikit-learn from the files in docs")
    parser.add_argument("--fit", action="store_true", help="held-out errors of `fit` and of one pass instead")
    parser.add_argument("--hindsight", action="store_true", help="AROW's least error over a grid instead")
    parser.add_argument("--committee", action="store_true", help="a committee beside its members instead")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of a set for --committee")
    parser.add_argument("--write", action="store_true", help="write the files and the tables of pages")
    args = parser.parse_args()
    if args.write and args.sets:
        parser.error("pages have all sets: leave out --write or --sets")
    warnings.simplefilter("ignore")  # SGD that did not converge; what is about to be removed there
    if args.fit:
        return pages.show(args.write, "accuracy.md", "fit_sets", fit(args.sets or (*corpora.HALVES, "mnist")))
    if args.committee:
        for marker, text in zip(("errors", "speed"), committee(args.sets, args.rows), strict=True):
            pages.show(args.write, "committee.md", marker, text)
        return
    sets = corpora.available(args.sets or (*corpora.BINARY, *corpora.MULTICLASS))
    if not sets:
        sys.exit("no data sets: set ONLINECLS_DATA")
    if args.hindsight:
        return pages.show(args.write, "accuracy.md", "hindsight", hindsight(sets))
    for several in (False, True):
        if names := [name for name in sets if (name in corpora.MULTICLASS) == several]:
            lines = progressive(names, several, args.reuse)
            print(pages.errors(lines, None), end="\n\n")
            if args.write:
                pages.write_csv(FILES[several], lines)
    if args.write:
        pages.write_derived()


if __name__ == "__main__":
    main()
