"""Compare every learner's models with those that are on record, to the bit: did a change to the code change a number?

    python benchmarks/scripts/digests.py                  # compares with digests.txt; exit code 1 if a model differs
    python benchmarks/scripts/digests.py --only arow      # cases whose name contains this
    python benchmarks/scripts/digests.py --write          # puts the models of this code on record

Each learner is given all the parameters that its numbers depend on, ``intercept_scaling`` among them, so that no default is in a
digest. It learns one stream in float32 and float64, from CSR rows (int32 and int64 indices) and dense ones, in three calls, with
classes given and joining, averaged, weighted, with class weights, in epochs, and through a file in the middle. A digest covers
weights, covariances, counters, scores and probabilities. Where BLAS multiplies (full covariance, kernels), another machine's
digests may differ in the last bits: record them there, on the code before a change, with ``--output``.
"""

import argparse
import hashlib
import os
import pickle
import warnings
from functools import cache, partial
from inspect import signature
from itertools import product
from pathlib import Path

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # (by several threads, or other SIMD, last bits differ)
os.environ |= {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}

import numpy as np
from scipy.sparse import csr_matrix

import onlinecls
from onlinecls.datasets import load_sms_spam

RECORD = Path(__file__).with_suffix(".txt")
OF_TWO, OF_SEVERAL = "two classes", "five classes"
OVR, CS = {"multi_class": "ovr"}, {"multi_class": "crammer_singer"}
FULL = {"covariance": "full"}
CLASSES = (OF_TWO, {}), (OF_SEVERAL, OVR), (OF_SEVERAL, CS)
NUMBERS, ONE, EXPERTS = (("numbers", {}),), (("one class", {}),), (("experts", {}),)
UNSIGNED = {"signed": False}


DUAL = {"update": "DA3", "regularizer": "euclidean", "norm_bound": 3.0, "sigma": 0.7}
KERNEL = {"kernel": "rbf", "gamma": 0.1, "C": 0.5, "r": 0.5}
PA = "PassiveAggressiveClassifier", {"C": 0.02}


def dual(**parameters):
    return "DualAscentClassifier", {**DUAL, "loss": "hinge", "margin": 1.0, **parameters}


def numbers(**parameters):
    return "DualAscentRegressor", {**DUAL, "loss": "absolute", **parameters}


#: name: (class, parameters), the tasks, and forms of the model that are learnt besides.
LEARNERS = {
    "perceptron": (("Perceptron", {"eta0": 0.75}), CLASSES),
    "aggressive_perceptron": (("Perceptron", {"eta0": 0.375, "aggressive": True}), CLASSES),
    "pa": (("PassiveAggressiveClassifier", {"C": float("inf")}), CLASSES),
    "pa1": (("PassiveAggressiveClassifier", {"C": 0.02}), CLASSES),
    "pa1_margin": (("PassiveAggressiveClassifier", {"C": 0.3, "margin": 2.5}), CLASSES),
    "pa2": (("PassiveAggressiveClassifier", {"C": 0.05, "loss": "squared_hinge"}), CLASSES),
    "pa_cycles": (("PassiveAggressiveClassifier", {"C": 0.02, "loss_tol": 1e-3}), CLASSES),
    "sop": (("SecondOrderPerceptron", {"r": 2.0, "initial_variance": 1.0}), CLASSES, FULL),
    "aggressive_sop": (("SecondOrderPerceptron", {"r": 0.7, "initial_variance": 1.0, "aggressive": True}), CLASSES, FULL),
    "arow": (("AROWClassifier", {"r": 0.5}), CLASSES, FULL),
    "arow_r1_r2": (("AROWClassifier", {"r": 0.5, "r1": 0.3, "r2": 1.5}), CLASSES, FULL),
    "arow_forgetting": (("AROWClassifier", {"r": 0.5, "forgetting": 0.01}), CLASSES, FULL),
    "narow": (("NAROWClassifier", {"b": 0.3, "initial_variance": 1.0}), CLASSES, FULL),
    **{f"cw_{variant}": (("ConfidenceWeightedClassifier", {"eta": 0.8, "initial_variance": 0.5, "variant": variant}), CLASSES,
                         FULL) for variant in ("stdev", "variance")},
    "scw1": (("SCWClassifier", {"C": 0.3, "eta": 0.8, "initial_variance": 0.5, "variant": "SCW-I"}), CLASSES, FULL),
    "scw2": (("SCWClassifier", {"C": 0.6, "eta": 0.8, "initial_variance": 2.0, "variant": "SCW-II"}), CLASSES, FULL),
    "adagrad_md": (("AdaGradClassifier", {"eta0": 0.4, "delta": 0.3, "update": "mirror_descent"}), CLASSES),
    "adagrad_da": (("AdaGradClassifier", {"eta0": 0.4, "delta": 0.3, "update": "dual_averaging", "l1": 0.0}), CLASSES),
    "adagrad_da_l1": (("AdaGradClassifier", {"eta0": 0.4, "delta": 0.3, "update": "dual_averaging", "l1": 0.004}), CLASSES),
    "ftrl": (("FTRLClassifier", {"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1, "loss": "log_loss"}), CLASSES),
    "ftrl_hinge": (("FTRLClassifier", {"alpha": 0.4, "beta": 0.3, "l1": 0.0, "l2": 0.0, "loss": "hinge"}), CLASSES),
    "p_norm": (("PNormPerceptron", {"p": 3.3, "radius": 1.5}), CLASSES),
    "p_norm_2": (("PNormPerceptron", {"p": 2.0, "radius": 1.5}), CLASSES),
    "aggressive_p_norm": (("PNormPerceptron", {"p": 6.0, "radius": 1.7, "aggressive": True}), CLASSES),
    "ogd": (("OGDClassifier", {"alpha": 0.1, "learning_rate": "strongly_convex"}), CLASSES),
    "ogd_sqrt": (("OGDClassifier", {"eta0": 0.3, "learning_rate": "sqrt"}), CLASSES),
    "multiplicative_pa": (("MultiplicativePassiveAggressiveClassifier", {"margin": 0.4, "norm_bound": 2.5}), CLASSES, UNSIGNED),
    **{f"da{k}": (dual(update=f"DA{k}"), CLASSES) for k in (1, 2, 3)},
    "da3_auto": (dual(sigma="auto", norm_bound=2.0), CLASSES),
    **{f"entropic_da{k}": (dual(update=f"DA{k}", regularizer="entropic"), CLASSES, UNSIGNED) for k in (1, 2, 3)},
    "entropic_da2_auto": (dual(update="DA2", regularizer="entropic", sigma="auto"), CLASSES),
    **{f"logistic_da{k}": (dual(update=f"DA{k}", loss="log_loss"), CLASSES) for k in (1, 2, 3)},
    "entropic_logistic": (dual(update="DA2", loss="log_loss", regularizer="entropic"), CLASSES, UNSIGNED),
    "hedge": (("HedgeClassifier", {"eta0": 0.3}), EXPERTS, {"signed": True}),
    "hedge_auto": (("HedgeClassifier", {"eta0": "auto"}), EXPERTS),
    "pa1_regression": (("PassiveAggressiveRegressor", {"C": 0.2, "epsilon": 0.3}), NUMBERS),
    "pa2_regression": (("PassiveAggressiveRegressor", {"C": 0.3, "epsilon": 0.2, "loss": "squared_epsilon_insensitive"}),
                       NUMBERS),
    "arow_regression": (("AROWRegressor", {"r": 0.5}), NUMBERS, FULL),
    "arow_regression_r2": (("AROWRegressor", {"r": 0.5, "r2": 2.0, "forgetting": 0.02}), NUMBERS, FULL),
    "multiplicative_regression": (("MultiplicativePassiveAggressiveRegressor", {"epsilon": 0.3, "norm_bound": 6.0}),
                                  NUMBERS, UNSIGNED),
    "da_regression": (numbers(update="DA2"), NUMBERS),
    "da_squared": (numbers(loss="squared"), NUMBERS),
    "entropic_da_regression": (numbers(regularizer="entropic", sigma=2.0), NUMBERS, UNSIGNED),
    "entropic_da_squared": (numbers(regularizer="entropic", loss="squared", sigma=2.0), NUMBERS, UNSIGNED),
    "pa_one_class": (("PassiveAggressiveOneClass", {"epsilon": 1.5}), ONE),
    "multiplicative_one_class": (("MultiplicativePassiveAggressiveOneClass", {"epsilon": 1.5, "norm_bound": 3.0}), ONE),
    **{f"kernel_{name}": (("KernelOnlineClassifier", {**KERNEL, "eta0": 1.0, "algorithm": name}),
                          ((OF_TWO, {}), (OF_SEVERAL, OVR)), {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"budget": 30})
       for name in ("perceptron", "pa", "sop", "arow")},
    **{f"kernel_{name}_regression": (("KernelOnlineRegressor", {**KERNEL, "algorithm": name}), NUMBERS, {"budget": 30})
       for name in ("pa", "arow")},
    **{f"to_batch_{method}": (("OnlineToBatch", {"method": method, "estimator": PA}), ((OF_TWO, {}), (OF_SEVERAL, {})))
       for method in ("average", "validation")},
}  # fmt: skip

#: How a stream is learnt, and a parameter that this is about.
WAYS = {
    "plain": {}, "dense": {}, "int64": {}, "weights": {}, "joins": {}, "file": {}, "fit": {}, "average": {"average": 10},
    "class weights": {"class_weight": {0: 2.0, 1: 0.5}}, "balanced": {"class_weight": "balanced"},
    "probability": {"probability": True}, "no intercept": {"fit_intercept": False},
}  # fmt: skip
EXPLICIT = {"scale": 1.0, "intercept_scaling": 1.0, "fit_intercept": True, "max_iter": 3, "random_state": 0, "shuffle": True,
            "tol": 1e-3,
            "n_iter_no_change": 5}


@cache
def stream(task, positive):
    """Return 400 rows of about eight non-zeros, some of them round, their labels or targets, and weights."""
    generator = np.random.RandomState(len(task))
    X = generator.random_sample((400, 40)) < 0.2
    X = np.where(X, generator.standard_normal((400, 40)), 0)
    X[::3] = np.round(X[::3])
    if task == "experts":
        X = generator.random_sample((400, 40))
    scores = X @ generator.standard_normal((40, 5 if task == OF_SEVERAL else 2))
    scores += 0.3 * generator.standard_normal(scores.shape)
    y = scores[:, 0] if task == "numbers" else scores.argmax(axis=1)
    return np.abs(X) if positive else X, y, np.round(generator.random_sample(400) * 2, 2)


def learn(learner, way, X, y, weights, task):
    """Return the learner after three calls, or after epochs."""
    S = X if way == "dense" else csr_matrix(X)
    if way == "int64":
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    if way == "fit" or getattr(learner, "loss_tol", None) is not None:
        return learner.fit(S) if task == "one class" else learner.fit(S, y)
    named = task in (OF_TWO, OF_SEVERAL, "experts") and way != "joins"
    if way == "joins" and task != "numbers":  # the labels come one after another
        order = np.r_[np.argsort(y[:133], kind="stable"), 133:400]
        S, y = S[order], y[order]
    for start, stop in ((0, 1), (1, 133), (133, 400)):
        options = {"classes": np.unique(y)} if named and start == 0 else {}
        if way == "weights":
            options["sample_weight"] = weights[start:stop]
        learner.partial_fit(S[start:stop], None if task == "one class" else y[start:stop], **options)
        if way == "file":
            learner = pickle.loads(pickle.dumps(learner))
    return learner


def digest(learner, X):
    """Return the digest of what a user sees of a model."""
    seen = hashlib.sha256()
    for name in ("coef_", "intercept_", "covariance_", "center_", "support_", "dual_coef_"):
        part = getattr(learner, name, None)
        if part is not None:
            seen.update(name.encode() + np.ascontiguousarray(part).tobytes())
    for name in ("t_", "n_mistakes_", "n_updates_", "n_skipped_", "n_iter_", "classes_"):
        seen.update(f"{name}{np.asarray(getattr(learner, name, 0)).tolist()}".encode())
    for name in ("decision_function", "predict", "predict_proba"):
        if hasattr(learner, name):
            seen.update(name.encode() + np.ascontiguousarray(getattr(learner, name)(X)).tobytes())
    return seen.hexdigest()[:12]


def make(cls, parameters):
    """Return an estimator with these parameters, and the explicit ones that it has."""
    cls = getattr(onlinecls, cls)
    if isinstance(parameters.get("estimator"), tuple):
        parameters = {**parameters, "estimator": make(*parameters["estimator"])}
    known = signature(cls).parameters
    return cls(**{**{name: value for name, value in EXPLICIT.items() if name in known}, **parameters})


def cases():
    """Yield (name, a function that returns the digest) of every model."""
    for name, ((cls, parameters), tasks, *forms) in LEARNERS.items():
        known = set(signature(getattr(onlinecls, cls)).parameters)
        for form, (task, kind), way in product(({}, *forms), tasks, WAYS):
            if not known.issuperset(WAYS[way]):
                continue
            given = {**parameters, **form, **kind, **WAYS[way]}
            if way == "class weights" and task == OF_SEVERAL:
                given["class_weight"] = {0: 2.0, 1: 0.5, 4: 3.0}
            for dtype in (np.float32, np.float64):
                own = {**given, "dtype": dtype} if "dtype" in known else given
                words = (name, *map(str, form.values()), task, *map(str, kind.values()), way, np.dtype(dtype).name)
                yield "/".join(words), partial(model, cls, own, way, task, dtype)
    yield "texts/plain/float32", texts


def model(cls, given, way, task, dtype):
    X, y, weights = stream(task, positive=given.get("signed") is False)
    X = X.astype(dtype)
    try:
        return digest(learn(make(cls, given), way, X, y, weights, task), X[:50])
    except ValueError:  # parameters that exclude each other
        return "refused"


def texts():
    """Return the digest of AROW on 5,574 text messages, hashed."""
    from onlinecls.text import HashingVectorizer

    messages, y = load_sms_spam(return_text=True)
    X = HashingVectorizer(n_features=2**18, dtype=np.float32).transform(messages)
    return digest(onlinecls.AROWClassifier(r=0.1, scale=1.0, intercept_scaling=0.25).partial_fit(X, y), X[:50])


def written(found):
    """Return the record: a line a learner, form and task, with its ways in order, each by the digests of its dtypes."""
    lines = {}
    for name, value in found.items():
        *where, way, _ = name.split("/")
        lines.setdefault("/".join(where), {}).setdefault(way, [way]).append(value)
    return "".join(f"{where}: {', '.join(' '.join(each) for each in ways.values())}\n" for where, ways in lines.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--against", type=Path, default=RECORD, help="the record to compare with")
    parser.add_argument("--output", type=Path, help="write a record of this code's models here")
    parser.add_argument("--write", action="store_true", help="write it to benchmarks/scripts/digests.txt")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = {name: compute() for name, compute in cases() if arguments.only in name}
    if arguments.write or arguments.output:
        (arguments.output or RECORD).write_text(written(found))
        print(f"{len(found)} models on record")
        return
    on_record = {line.split(": ")[0]: line for line in arguments.against.read_text().splitlines(keepends=True)}
    differing = []
    for line in written(found).splitlines(keepends=True):
        where, ways = line.rstrip("\n").split(": ")
        known = on_record.get(where, f"{where}: \n").rstrip("\n").split(": ")[1].split(", ")
        differing += [f"{where}: {way}" for way in ways.split(", ") if way not in known]
    print(*differing, f"{len(found)} models, {len(differing)} pairs of dtypes differ", sep="\n")
    raise SystemExit(bool(differing))


if __name__ == "__main__":
    main()
