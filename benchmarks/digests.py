"""Digests of every learner's model on fixed streams, to see if a change to the code changes a number.

    python benchmarks/digests.py before.json                    # on the code as it was
    python benchmarks/digests.py after.json --against before.json

Each row of the registry is learnt in every task it has, from CSR (int32 and int64) and dense rows, in float32 and float64, with
classes given and joining, averaged, weighted, in epochs. A digest covers weights, covariances, counters and scores. With
``--against`` the entries that differ are listed, with the largest difference of their scores.
"""

import argparse
import hashlib
import json
import warnings

import numpy as np
from scipy.sparse import csr_matrix

import onlinecls
from onlinecls._registry import ALGORITHMS

#: Parameters away from the defaults, which tuning may move, where an algorithm has some; else its first trial.
PARAMETERS = {
    "perceptron": {"eta0": 0.75}, "aggressive_perceptron": {"eta0": 0.375}, "p_norm": {"p": 3.3}, "aggressive_p_norm": {"p": 6.0},
    "pa1": {"C": 0.02}, "pa2": {"C": 0.05}, "sop": {"r": 2.0}, "aggressive_sop": {"r": 0.7}, "arow": {"r": 0.5},
    "narow": {"b": 0.3, }, "cw_stdev": {"eta": 0.7, "initial_variance": 0.5},
    "cw_variance": {"eta": 0.8, "initial_variance": 2.0}, "scw1": {"C": 0.3, "eta": 0.8, "initial_variance": 0.5},
    "scw2": {"C": 0.6, "eta": 0.8, "initial_variance": 2.0}, "adagrad_md": {"eta0": 0.4, "delta": 0.3},
    "adagrad_da": {"eta0": 0.4, "delta": 0.3, "l1": 0.004}, "pa1_regression": {"C": 0.2, "epsilon": 0.3},
    "pa2_regression": {"C": 0.3, "epsilon": 0.2}, "arow_regression": {"r": 0.5}, "da1": {"sigma": 0.7},
    "da2": {"sigma": 1.3, "margin": 0.8}, "da3": {"sigma": 0.7, "margin": 0.8}, "entropic_da1": {"sigma": 2.0, "norm_bound": 3.0},
    "entropic_da2": {"sigma": 0.7, "norm_bound": 3.0}, "entropic_da3": {"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8},
    "logistic": {"sigma": 0.7, "update": "DA2"}, "entropic_logistic": {"sigma": 0.7, "norm_bound": 3.0, "update": "DA2"},
    "da_regression": {"sigma": 0.7, "update": "DA2"}, "da_squared": {"sigma": 0.7, "update": "DA3"},
    "entropic_da_regression": {"sigma": 2.0, "norm_bound": 3.0}, "entropic_da_squared": {"sigma": 2.0, "norm_bound": 3.0},
    "forel": {"sigma": 2.0, "gap_tol": 1e-3}, "forel_log": {"sigma": 2.0, "gap_tol": 1e-3},
    "ogd": {"alpha": 0.1}, "ogd_sqrt": {"eta0": 0.3}, "hedge": {"eta0": 0.3},
    "pa_one_class": {"epsilon": 1.5}, "multiplicative_pa": {"margin": 0.4, "norm_bound": 2.5},
    "multiplicative_pa_regression": {"epsilon": 0.3, "norm_bound": 6.0},
    "multiplicative_pa_one_class": {"epsilon": 1.5, "norm_bound": 3.0},
}

WAYS = {  # a parameter that a way is about, and its value there
    "first": {}, "plain": {}, "int64": {}, "dense": {}, "weights": {}, "average": {"average": 10},
    "balanced": {"class_weight": "balanced"}, "joins": {}, "fit": {}, "no intercept": {"fit_intercept": False},
}
EPOCHS = {"max_iter": 3, "random_state": 0}


def stream(n_rows, n_features, n_classes, kind, seed):
    """Make rows of about eight non-zeros, some with repeated values, and their labels or targets."""
    generator = np.random.RandomState(seed)
    X = generator.random_sample((n_rows, n_features)) < 8.0 / n_features
    X = np.where(X, generator.standard_normal((n_rows, n_features)), 0)
    X[::3] = np.round(X[::3])
    if kind == "experts":
        X = generator.random_sample((n_rows, n_features))
    scores = X @ generator.standard_normal((n_features, max(n_classes, 2)))
    scores += 0.3 * generator.standard_normal(scores.shape)
    y = scores[:, 0] if kind == "regression" else scores.argmax(axis=1)
    return X, y, np.round(generator.random_sample(n_rows) * 2, 2)


def summary(learner, X):
    """Return the visible parts of a model, each as an array of bytes."""
    for name in ("coef_", "intercept_", "covariance_", "center_", "weights_", "dual_value_", "support_", "dual_coef_"):
        try:
            part = getattr(learner, name)
        except (AttributeError, ValueError):
            continue
        yield name, np.ascontiguousarray(part).tobytes()
    for name in ("t_", "n_mistakes_", "n_updates_", "n_skipped_", "n_iter_", "progressive_mse_", "classes_"):
        yield name, repr(getattr(learner, name, None)).encode()
    yield "scores", np.ascontiguousarray(scores_of(learner, X)).tobytes()


def scores_of(learner, X):
    return learner.decision_function(X) if hasattr(learner, "decision_function") else learner.predict(X)


def cases():
    """Yield (name, function that makes the estimator, function that learns, rows to score)."""
    for algorithm in ALGORITHMS.values():
        task = algorithm.tasks[0]
        cls = getattr(onlinecls, algorithm.estimator)
        chosen = {**algorithm.selects, **PARAMETERS.get(algorithm.name, algorithm.trials[0])}
        signature = cls._parameter_names()
        n_rows, n_features = (60, 12) if task == "leader" else (400, 40)
        kinds = {"binary": (2, "classes"), "leader": (2, "classes"), "experts": (2, "experts"), "regression": (1, "regression"),
                 "one_class": (1, "one_class")}
        forms = [{}]
        if "covariance" in signature:
            forms.append({"covariance": "full"})
        if "signed" in signature:
            forms.append({"signed": False})
        variants = [(*kinds[task], {})]
        if "multi_class" in signature:
            variants += [(5, "classes", {"multi_class": kind}) for kind in ("ovr", "crammer_singer")]
        for form in forms:
            for n_classes, kind, more in variants:
                X, y, weights = stream(n_rows, n_features, n_classes, kind, seed=len(algorithm.name))
                if form.get("signed") is False:
                    X = np.abs(X)
                for ways, about in WAYS.items():
                    for dtype in (np.float32, np.float64) if about.keys() <= set(signature) else ():
                        usual = {"dtype": dtype, **(EPOCHS if ways == "fit" else {})}
                        given = {**chosen, **form, **more, **about}
                        given |= {name: value for name, value in usual.items() if name in signature}
                        name = [algorithm.name, *map(str, form.values()), *map(str, more.values()), ways, np.dtype(dtype).name]
                        yield "/".join(name), cls, given, ways, X.astype(dtype), y, weights, kind


def learnt(cls, given, ways, X, y, weights, kind):
    learner = cls(**given)
    S = X if ways == "dense" else csr_matrix(X)
    if ways == "int64":
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    if kind == "one_class":
        return learner.fit(S) if ways == "fit" else learner.partial_fit(S, None, weights if ways == "weights" else None)
    if ways == "fit":
        return learner.fit(S, y)
    n = len(y) // 3
    options = {"classes": np.unique(y)} if kind in ("classes", "experts") and ways != "joins" else {}
    if ways == "joins":  # the labels come one after another
        order = np.argsort(y[:n], kind="stable") if kind != "regression" else np.arange(n)
        S, y = S[np.r_[order, n : len(y)]], np.r_[y[order], y[n:]]
    for part in (slice(0, 1), slice(1, n), slice(n, None)):
        if ways == "weights":
            options["sample_weight"] = weights[part]
        learner.partial_fit(S[part], y[part], **options)
        options.pop("classes", None)
        if ways == "first":
            learner.partial_fit(S[n : 2 * n], y[n : 2 * n])
            break
    return learner


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    parser.add_argument("--against")
    parser.add_argument("--only", default="", help="names that contain this")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = {}
    for name, cls, given, ways, X, y, weights, kind in cases():
        if arguments.only not in name:
            continue
        try:
            learner = learnt(cls, given, ways, X, y, weights, kind)
        except ValueError as error:
            if ways == "average" and "average must be False" in str(error):
                continue
            raise
        digests = {part: hashlib.sha256(raw).hexdigest()[:16] for part, raw in summary(learner, X)}
        found[name] = {"digests": digests, "scores": np.asarray(scores_of(learner, X[:50]), float).round(12).tolist()}
    with open(arguments.output, "w") as file:
        json.dump(found, file)
    print(f"{len(found)} models")
    if arguments.against:
        with open(arguments.against) as file:
            before = json.load(file)
        differing = [name for name in found if name in before and found[name]["digests"] != before[name]["digests"]]
        for name in differing:
            a, b = np.asarray(found[name]["scores"]), np.asarray(before[name]["scores"])
            parts = [part for part, digest in found[name]["digests"].items() if digest != before[name]["digests"].get(part)]
            apart = float(np.abs(a - b).max()) if a.shape == b.shape else float("nan")
            print(f"{name}: {', '.join(parts)} differ; scores apart by {apart:.2g}")
        gone = sorted(name for name in before.keys() - found.keys() if arguments.only in name)
        print(f"{len(differing)} of {len(found)} differ; {gone[:5] or 'none'} gone")
        raise SystemExit(bool(differing))


if __name__ == "__main__":
    main()
