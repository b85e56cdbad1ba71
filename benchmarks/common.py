"""What the benchmarks share: learners by name, made-up rows of words, and how a model is readied for a timed pass.

Streams have 10,000 rows (or 1,000, which is said at the benchmark), so that times can be read off: 1 ms a pass of 10,000 rows is
100 ns an example. Only public names of the package are used, so that older and newer commits can be measured alike.
"""

import functools
import time

import numpy as np
import scipy.sparse as sp

import onlinecls

N_ROWS = 10_000
N_FEATURES = 2**18
N_WORDS = 200_000  # distinct columns of a stream at most: hashed text leaves most columns empty

ENTROPIC, LOGISTIC = {"regularizer": "entropic"}, {"loss": "log_loss"}

#: name: (class, its parameters). These names are used in the tables of docs/ as well.
CLASSIFIERS = {
    "perceptron": ("Perceptron", {}),
    "aggressive_perceptron": ("Perceptron", {"aggressive": True}),
    "pa": ("PassiveAggressiveClassifier", {"C": float("inf")}),
    "pa1": ("PassiveAggressiveClassifier", {}),
    "pa2": ("PassiveAggressiveClassifier", {"loss": "squared_hinge"}),
    "sop": ("SecondOrderPerceptron", {}),
    "aggressive_sop": ("SecondOrderPerceptron", {"aggressive": True}),
    "arow": ("AROWClassifier", {}),
    "narow": ("NAROWClassifier", {}),
    "cw_stdev": ("ConfidenceWeightedClassifier", {"variant": "stdev"}),
    "cw_variance": ("ConfidenceWeightedClassifier", {"variant": "variance"}),
    "scw1": ("SCWClassifier", {"variant": "SCW-I"}),
    "scw2": ("SCWClassifier", {"variant": "SCW-II"}),
    "adagrad_md": ("AdaGradClassifier", {"update": "mirror_descent"}),
    "adagrad_da": ("AdaGradClassifier", {"update": "dual_averaging"}),
    "ftrl": ("FTRLClassifier", LOGISTIC),
    "ftrl_hinge": ("FTRLClassifier", {"loss": "hinge"}),
    "p_norm": ("PNormPerceptron", {}),
    "aggressive_p_norm": ("PNormPerceptron", {"aggressive": True}),
    "multiplicative_pa": ("MultiplicativePassiveAggressiveClassifier", {}),
    **{f"da{k}": ("DualAscentClassifier", {"update": f"DA{k}"}) for k in (1, 2, 3)},
    **{f"entropic_da{k}": ("DualAscentClassifier", {"update": f"DA{k}", **ENTROPIC}) for k in (1, 2, 3)},
    "logistic": ("DualAscentClassifier", LOGISTIC),
    "entropic_logistic": ("DualAscentClassifier", {**LOGISTIC, **ENTROPIC}),
    "ogd": ("OGDClassifier", {}),
    "ogd_sqrt": ("OGDClassifier", {"learning_rate": "sqrt"}),
    "committee": ("CommitteeClassifier", {}),
}
REGRESSORS = {
    "pa1_regression": ("PassiveAggressiveRegressor", {}),
    "pa2_regression": ("PassiveAggressiveRegressor", {"loss": "squared_epsilon_insensitive"}),
    "arow_regression": ("AROWRegressor", {}),
    "multiplicative_pa_regression": ("MultiplicativePassiveAggressiveRegressor", {}),
    "da_regression": ("DualAscentRegressor", {"loss": "absolute"}),
    "da_squared": ("DualAscentRegressor", {"loss": "squared"}),
    "entropic_da_regression": ("DualAscentRegressor", {"loss": "absolute", **ENTROPIC}),
    "entropic_da_squared": ("DualAscentRegressor", {"loss": "squared", **ENTROPIC}),
}
ONE_CLASS = {
    "pa_one_class": ("PassiveAggressiveOneClass", {}),
    "multiplicative_pa_one_class": ("MultiplicativePassiveAggressiveOneClass", {}),
}


class Timed:
    """How asv times: a call on what `setup` has made for it alone, by processor time, which other load hardly moves."""

    number, repeat, rounds, warmup_time, timeout = 1, (3, 10, 0.5), 2, 0, 120
    timer = time.process_time


def make_estimator(name, **params):
    """Make an estimator by its name, or skip the benchmark where the measured commit does not have it."""
    cls, chosen = (CLASSIFIERS | REGRESSORS | ONE_CLASS).get(name, (name, {}))
    if cls not in onlinecls.__all__:
        raise NotImplementedError(f"this version has no {cls}")
    return getattr(onlinecls, cls)(**chosen, **params)


@functools.cache
def stream(n_rows=N_ROWS, nnz=20, n_features=N_FEATURES, dtype="float32", n_classes=2, seed=0, spread=0.0, n_words=N_WORDS):
    """Make unit-length CSR rows of about ``nnz`` columns, with Zipf's frequencies as of words, and their labels.

    A quarter of the tokens tell the class of their row and a tenth of the labels is wrong, so that learners go on making updates.
    The lengths of rows vary by a log-normal law, the standard deviation of whose logarithm is ``spread``.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    # A few tokens repeat within a row.
    tokens = np.maximum(np.rint(1.05 * nnz * np.exp(spread * rng.standard_normal(n_rows) - spread**2 / 2)), 1).astype(np.int32)
    row_of = np.repeat(np.arange(n_rows), tokens)
    n_words = min(n_features, n_words)
    # Log-uniform ranks have frequencies proportional to 1 / rank; the first few ranks are no word's.
    ranks = np.exp(np.log(20) + rng.random(len(row_of)) * np.log(n_words / 20)).astype(np.int64)
    telling = rng.random(ranks.shape) < 0.25
    ranks[telling] += (y[row_of] - ranks % n_classes)[telling]
    columns = rng.permutation(n_features)[ranks % n_words].astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(tokens)]).astype(np.int32)
    X = sp.csr_matrix((np.ones(columns.size), columns, indptr), shape=(n_rows, n_features))
    X.sum_duplicates()
    norms = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data = (X.data / np.repeat(norms, np.diff(X.indptr))).astype(dtype)
    wrong = rng.random(n_rows) < 0.1
    y[wrong] = rng.integers(n_classes, size=wrong.sum())
    return X, y


def begun(learner, X, y, classes=None):
    """Let a learner learn 16 rows, which tell it the scale of X, and rows that reach all of its memory, so that it is there.

    What is timed after this is the learning of rows: the pages of a new model of 2^20 columns cost as much as 10,000 rows.
    """
    learner.partial_fit(X[:16], y[:16], **({} if classes is None else {"classes": classes}))
    labels = y[:1] if classes is None else classes
    if not sp.issparse(X):
        return learner.partial_fit(np.full((len(labels), X.shape[1]), X.shape[1] ** -0.5, dtype=X.dtype), labels)
    columns = np.arange(0, X.shape[1], 16, dtype=np.int32)  # (at least one a page of memory)
    row = sp.csr_matrix((np.full(len(columns), len(columns) ** -0.5, dtype=X.dtype), columns, [0, len(columns)]), (1, X.shape[1]))
    for label in labels:
        learner.partial_fit(row, np.array([label]))
    return learner
