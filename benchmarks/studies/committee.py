"""Choose the members of a committee, by leaving sets out, and write its errors beside theirs to docs/committee.*.

Every candidate scores each row before it learns it; all committees of up to four candidates then learn from these scores,
side by side. Sets are the first rows of those of corpora.py, as rows of unit length, as raw counts or values, and with labels
that turn half-way. A committee is chosen on two thirds of the sets (one that follows change, for at most five passes of
AROW), and its errors are reported on the others. Then the classes themselves run over up to 20,000 rows of each set, over small
tables with standardised columns, whose automatic members have full covariances, over other sets, on which nothing was chosen
("held"), and over streams with a rare class.

    PYTHONPATH=benchmarks python -m studies.committee choose FILE [--rows N]   (half an hour; FILE is JSON)
    PYTHONPATH=benchmarks python -m studies.committee report [FILE]     (writes the page; no FILE: the choice stays)
    PYTHONPATH=benchmarks python -m studies.committee ways              (its table of ways to combine alone; minutes)
    PYTHONPATH=benchmarks python -m studies.committee speed             (its table of times alone)
"""

import argparse
import itertools
import json
import time
from collections import Counter
from pathlib import Path

import corpora
import numpy as np
import scipy.sparse as sp
from pages import table, write_between_if, write_csv

import onlinecls
from benchmarks import common
from onlinecls import progressive_validation
from onlinecls.reference import Combiner
from onlinecls.reference.rules import class_cost

from . import geometric, seconds

AROW, ADAGRAD = onlinecls.AROWClassifier, onlinecls.AdaGradClassifier
# Learners of the unit s² of a set's rows.
CANDIDATES = {
    "arow": lambda s: AROW(0.1 * s),
    "arow .02": lambda s: AROW(0.02 * s),
    "arow .5": lambda s: AROW(0.5 * s),
    "arow 2": lambda s: AROW(2.0 * s),
    "forgetting .001": lambda s: AROW(0.1 * s, forgetting=0.001),
    "forgetting .01": lambda s: AROW(0.5 * s, forgetting=0.01),
    "narow": lambda s: onlinecls.NAROWClassifier(),
    "adagrad md": lambda s: ADAGRAD(),
    "adagrad da": lambda s: ADAGRAD(update="dual_averaging"),
    "scw": lambda s: onlinecls.SCWClassifier(),
    "pa .1": lambda s: onlinecls.PassiveAggressiveClassifier(0.1 / s),
}
FOLLOWING = ("forgetting .001", "forgetting .01", "pa .1")
FORMS = ("unit", "raw", "turned")
SETS = (*corpora.BINARY, *corpora.MULTICLASS)
FOLDS, MOST = 3, 5.0  # thirds of the sets; what the passes of a committee's members take, in passes of AROW, at most


def problem(name, form, n):
    """Return the first n rows of a set and the numbers of their classes."""
    wide = {} if name in corpora.BINARY else {"n_features": 2**18}  # (a vector a class)
    X, y = corpora.load(name, normalize=form != "raw", **wide)
    classes, codes = np.unique(y[:n], return_inverse=True)
    if form == "turned":  # the second half has other names
        half = len(codes) // 2
        codes[half:] = (codes[half:] + 1) % len(classes)
    return X[:n].tocsr(), np.unique(codes, return_inverse=True)[1]


def rows_of(X):
    return [sp.csr_matrix((X.data[a:b], X.indices[a:b], np.array([0, b - a], np.int32)), shape=(1, X.shape[1]))
            for a, b in itertools.pairwise(X.indptr)]


def said_by(make, X, y):
    """Return a learner's scores of each row just before it learns it, (rows, classes)."""
    classes = np.unique(y)
    s = onlinecls.AROWClassifier().partial_fit(X[:50], y[:50], classes=classes).scale_ ** 2
    learner = make(s).partial_fit(X[:0], y[:0], classes=classes)
    said = np.empty((X.shape[0], 1 if len(classes) == 2 else len(classes)))
    for i, row in enumerate(rows_of(X)):
        said[i] = learner.decision_function(row)
        learner.partial_fit(row, y[i : i + 1])
    return said


def mistakes(said, y):
    """Count the mistakes of each candidate by itself; said : (candidates, rows, classes)."""
    predicted = said[:, :, 0] > 0 if said.shape[2] == 1 else said.argmax(axis=2)
    return np.sum(predicted != y, axis=1)


def combined(said, y, masks, r=1.0, forgetting=0.01):
    """Count the mistakes of the committees of these members, (committees, candidates) 0 or 1, at once: AROW over their scores."""
    size = masks.sum(axis=1)
    a, wrong = masks / size[:, None], np.zeros(len(masks), int)
    sigma = masks[:, :, None] * np.eye(masks.shape[1])
    every = np.arange(len(masks))
    for i in range(len(y)):
        Z = said[:, i]  # (candidates, classes)
        scores = a @ Z
        if Z.shape[1] == 1:
            sign = np.full(len(masks), 2.0 * y[i] - 1.0)
            z, margin = masks * Z[:, 0], sign * scores[:, 0]
            wrong += (scores[:, 0] > 0) != y[i]
        else:
            wrong += scores.argmax(axis=1) != y[i]
            rivals = scores.copy()
            rivals[:, y[i]] = -np.inf
            rival, sign = rivals.argmax(axis=1), np.ones(len(masks))
            z = masks * (Z[:, y[i]] - Z[:, rival].T)
            margin = scores[:, y[i]] - scores[every, rival]
        sigma /= 1.0 - forgetting
        sigma *= np.minimum(1.0, size / np.trace(sigma, axis1=1, axis2=2))[:, None, None]
        step = np.flatnonzero(margin < 1.0)
        u = np.einsum("cij,cj->ci", sigma[step], z[step])
        beta = 1.0 / (np.einsum("ci,ci->c", u, z[step]) + r)
        a[step] += ((1.0 - margin[step]) * beta * sign[step])[:, None] * u
        sigma[step] -= beta[:, None, None] * u[:, :, None] * u[:, None, :]
    return wrong


# --- choosing ------------------------------------------------------------------------------------------------------------------


def least_times(makes, X, y):
    """Return the least processor time of a pass over these rows by what each function makes, of seven."""
    found = np.empty((7, len(makes)))
    for times in found:
        for i, make in enumerate(makes):
            learner = make().partial_fit(X[:0], y[:0], classes=[0, 1])
            times[i] = seconds(lambda learner=learner: learner.partial_fit(X, y), time.process_time)
    return found.min(axis=0)


def choose(path, n):
    """Measure all committees of up to four candidates on all sets and forms."""
    names = list(CANDIDATES)
    groups = [group for size in (1, 2, 3, 4) for group in itertools.combinations(range(len(names)), size)]
    masks = np.array([[float(j in group) for j in range(len(names))] for group in groups])
    alone, together = {}, {}
    times = least_times([lambda make=make: make(1.0) for make in CANDIDATES.values()], *common.stream(20000, 100))
    for name, form in itertools.product(SETS, FORMS):
        X, y = problem(name, form, n)
        said = np.stack([said_by(make, X, y) for make in CANDIDATES.values()])
        alone[f"{name} {form}"] = (mistakes(said, y) / len(y)).tolist()
        together[f"{name} {form}"] = (combined(said, y, masks) / len(y)).tolist()
        path.write_text(json.dumps({"alone": alone, "together": together, "prices": times.tolist(), "groups": groups}))


def mean(errors):
    """Compute geometric means over sets, in per cent."""
    return 100.0 * geometric(errors, 1e-4)


def chosen(found):
    """Make the table of choices: those made without a third of the sets, and their errors on it."""
    names, groups, keys = list(CANDIDATES), found["groups"], list(found["together"])
    together, alone = (np.array(list(found[part].values())) for part in ("together", "alone"))
    prices = np.array(found["prices"])
    allowed = np.array([prices[g].sum() <= MOST * prices[0] and any(names[j] in FOLLOWING for j in g) for g in groups])
    rows, best_ones = [], []
    for fold in (*range(FOLDS), None):
        out = np.array([fold is None or SETS.index(key.split()[0]) % FOLDS == fold for key in keys])
        known = ~out if fold is not None else out
        best = int(np.where(allowed, mean(together[known]), np.inf).argmin())
        members = ", ".join(names[j] for j in groups[best])
        there = mean(together[out])[best], mean(alone[out])[0], mean(alone[out]).min()
        left = "none (so it is)" if fold is None else f"third {fold + 1}"
        rows.append([left, members, *(f"{error:.2f}" for error in there)])
    for i in np.where(allowed, mean(together), np.inf).argsort()[:8].tolist():
        forms = [mean(together[[key.endswith(form) for key in keys]])[i] for form in FORMS]
        best_ones.append([", ".join(names[j] for j in groups[i]), *(f"{error:.2f}" for error in (mean(together)[i], *forms))])
    head = "sets left out", "members chosen without them", "their committee there", "AROW there", "best single there"
    return f"{table(head, rows, left=2)}\n\n{table(('the best committees', 'all', *FORMS), best_ones)}"


# --- what the combiner does ----------------------------------------------------------------------------------------------------

AUTOMATIC = ("arow", "arow 2", "forgetting .001", "adagrad da")
WAYS = {  # (rows of the rarest class count, members are followed by their mistakes, rare classes are told apart)
    "a alone, all rows count": (False, False, False), "a alone": (True, False, False), "a and the members": (True, True, False),
    "of rare classes v, too (so it is)": (True, True, True)}


def replayed(said, y, costs, counts_rarest, follows, separates):
    """Return the scores of the slow twin's combiner, (rows, classes), over its members', said : (members, rows, classes).

    costs : of each row the factors rho of the margin and of the weight.
    """
    combiner, n_rows, found = Combiner(len(said)), Counter(), np.empty(said.shape[1:])
    for i, label in enumerate(y):
        Z = said[:, i]
        found[i] = (combiner.w if follows else combiner.a) @ Z
        n_rows[label] += 1
        rarity = len(n_rows) * min(n_rows.values()) / n_rows.total() if counts_rarest else 1.0
        if Z.shape[1] == 1:
            sign = 2.0 * label - 1.0
            rho, weight = costs[i]
            combiner.learn_label(Z[:, 0], sign, sign * Z[:, 0], rarity, weight, rho - 1.0, 1.0, separates)
        else:
            wrong = np.delete(np.arange(Z.shape[1]), label)
            rival = wrong[np.argmax((combiner.a @ Z)[wrong])]
            combiner.learn_label(Z[:, label] - Z[:, rival], 1.0, Z[:, label] - Z[:, wrong].max(axis=1), rarity)
    return found


def ways(n=4000):
    """Make a table of the errors of each way to combine the automatic members, and of ranks where one class is rare."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    kinds = {"two classes": (corpora.BINARY, "unit"), "several": (corpora.MULTICLASS, "unit"),
             "two, turned": (corpora.BINARY, "turned")}
    found = {}
    for kind, (names, form) in kinds.items():
        rows = []
        for name in names:
            X, y = problem(name, form, n)
            said = np.stack([said_by(CANDIDATES[member], X, y) for member in AUTOMATIC])
            each = np.stack([replayed(said, y, np.ones((len(y), 2)), *way) for way in WAYS.values()])
            rows.append([mistakes(said, y).min() / len(y), *mistakes(each, y) / len(y)])
        found[kind] = [f"{error:.2f}" for error in mean(rows)]
        found[f"{kind}, at most above the best member"] = [
            f"{100.0 * (ratio - 1.0):+.1f} %" for ratio in np.max(np.array(rows) / np.array(rows)[:, :1], axis=0)]
    rows = []
    for make in (lambda: thinned("sms-spam", 0.01, 0), lambda: thinned("a9a", 0.02, 0), lambda: thinned("imdb-train", 0.03, 0),
                 lambda: clicks(20000, 0.01, 1)):
        X, y = make()
        said = np.stack([said_by(lambda s, member=member: CANDIDATES[member](s).set_params(class_weight="balanced"), X, y)
                         for member in AUTOMATIC])
        so_far = np.maximum(np.cumsum(np.eye(2)[y], axis=0), 1.0)
        balanced, every = so_far.sum(axis=1, keepdims=True) / (2.0 * so_far), np.arange(len(y))
        costs = [class_cost(of[label], of.min(), of.max()) for of, label in zip(balanced, y, strict=True)]
        each = [*said, *(replayed(said, y, costs, *way) for way in WAYS.values())]
        half = every >= len(y) // 2
        rows.append([])
        for measure in (roc_auc_score, average_precision_score):
            values = [measure(y[half], scores[half, 0]) for scores in each]
            rows[-1].append([max(values[: len(said)]), *values[len(said) :]])
    for name, values in zip(("AUC, rare", "average precision, rare"), np.mean(rows, axis=0), strict=True):
        found[name] = [f"{100.0 * value:.1f}" for value in values]
    return table(["", *found], zip(("best member", *WAYS), *found.values(), strict=True))


# --- the classes themselves ----------------------------------------------------------------------------------------------------


COLUMNS = ("AROW", "best member", "committee", "exponential weights")
ERRORS, RANKS = "standard errors", "member best in the first half"
CODES = {"balanced": "by balanced weights", None: "without weights"}


def errors_of(X, y, classes):
    """Return errors in per cent: of AROW, the best member in hindsight, the committee, and the one with exponential weights.

    The last number is by how many standard errors of the pairs the committee is above that member: (a - b)/√(a + b), with a
    rows on which the committee alone errs, b on which the member does.
    """
    committee = onlinecls.CommitteeClassifier()
    wrong = progressive_validation(committee, (X, y), classes=classes, predictions=True).predictions != y
    best = committee.members_[committee.member_mistakes_.argmin()]
    alone = progressive_validation(type(best)(**best.get_params()), (X, y), classes=classes, predictions=True).predictions != y
    more, less = np.sum(wrong & ~alone), np.sum(alone & ~wrong)
    hedge = onlinecls.CommitteeClassifier(combine="hedge").partial_fit(X, y, classes=classes)
    arow = onlinecls.AROWClassifier().partial_fit(X, y, classes=classes)
    counts = [arow.n_mistakes_, committee.member_mistakes_.min(), committee.n_mistakes_, hedge.n_mistakes_]
    return [*(100.0 * count / len(y) for count in counts), (more - less) / max(1.0, more + less) ** 0.5]


def tables(found, ranks):
    """Return a line for each set, and tables of the means of each kind of stream: of errors, and of ranks of rare classes."""
    lines = [{"streams": streams, "set": name, **dict(zip(COLUMNS, (f"{each:.2f}" for each in row), strict=False)),
              ERRORS: f"{row[4]:.2f}" if kind is found else "", RANKS: "" if kind is found else f"{row[4]:.2f}"}
             for kind in (found, ranks) for streams, results in kind.items() for name, row in results.items()]
    means, rare = [], []
    for streams, results in found.items():
        most, name = max((row[2] / row[1] - 1.0, name) for name, row in results.items())
        above = [row[4] for row in results.values() if row[2] > row[1]]
        errors = (f"{error:.2f}" for error in geometric([row[:4] for row in results.values()], 0.01))
        means.append([f"{streams}, {len(results)} sets", *errors, f"{len(above)} ({sum(z >= 2.0 for z in above)})",
                      f"{100.0 * most:+.1f} % ({name}, {results[name][4]:.1f} standard errors)"])
    for streams, results in ranks.items():
        rows = np.array(list(results.values()))
        ratios = rows[:, 2] / rows[:, 1]
        told = f"{ratios.mean():.3f} (from {ratios.min():.3f} to {ratios.max():.3f})"
        rare.append([f"{streams}, {len(rows)} streams", *(f"{each:.1f}" for each in rows.mean(axis=0)), told])
    head = ["", *COLUMNS]
    return (lines, table([*head, "sets above the best member (by two standard errors)", "at most"], means),
            table([*head, RANKS, "the committee to the best member"], rare))


def wide(names, form, n=20000):
    return over({name: lambda name=name: problem(name, form, n) for name in names})


def over(sets):
    """Return the errors on each set, a function that makes (X, y)."""
    results = {}
    for name, make in sets.items():
        X, y = make()
        results[name] = errors_of(X, y, np.unique(y))
        print(name, np.round(results[name], 2), flush=True)
    return results


def standardised(X):
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)


def narrow():
    """Return tables of scikit-learn's and a9a's 123 columns, standardised and shuffled, and with labels that turn half-way."""
    from sklearn import datasets

    sets = {}
    for name in ("breast_cancer", "wine", "digits", "iris"):
        sets[name.replace("_", " ")] = getattr(datasets, f"load_{name}")(return_X_y=True)
    X, y = corpora.load("a9a")
    sets["a9a"] = X[:20000, :124].toarray().astype(float), (y[:20000] > 0) * 1
    streams = {}
    for name, (X, y) in sets.items():
        order = np.random.default_rng(0).permutation(len(y))
        X, y = standardised(X)[order], y[order]
        turned = np.where(np.arange(len(y)) < len(y) // 2, y, (y + 1) % (y.max() + 1))
        streams |= {name: lambda X=X, y=y: (X, y), f"{name}, turned": lambda X=X, y=turned: (X, y)}
    return over(streams)


def first(X, y, n):
    return X[:n], np.unique(y[:n], return_inverse=True)[1]


def one(name, label, n):
    """Return the first n rows of a set, and 1 where they are of this class."""
    X, y = corpora.load(name)
    return first(X, y == label, n)


def held(n=20000, n_several=8000):
    """Return errors on sets on which neither the members nor the combiner were chosen."""

    def pair(name, *classes):
        X, y = corpora.load(name)
        chosen = np.isin(y, classes)
        return first(X[chosen], y[chosen], n)

    groups = (
        ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"), ("alt.atheism", "soc.religion.christian"),
        ("talk.politics.guns", "talk.politics.misc"), ("rec.sport.baseball", "rec.sport.hockey"), ("sci.electronics", "sci.med"),
    )
    two = {name: lambda name=name: first(*corpora.load(name), n) for name in corpora.BINARY_TEST}
    two |= {" or ".join(pair_): lambda pair_=pair_: pair("20news-test", *pair_) for pair_ in groups}
    two |= {f"reuters, {label}": lambda label=label: one("reuters21578-single-test", label, n) for label in ("earn", "acq")}
    two |= {"amazon, books or dvd": lambda: pair("amazon-domains", "books", "dvd"),
            "mnist-3-5": lambda: first(*corpora.in_form("mnist-3-5", "unit"), n_several),
            "short texts": lambda: first(*corpora.short_texts(), n), "sentences": lambda: first(*corpora.sentences(), n)}
    several = {name: lambda name=name: first(*corpora.load(name, n_features=2**18), n_several)
               for name in ("20news-test", "reuters21578-single-test", "amazon-domains")}
    several |= {"mnist": lambda: first(*corpora.in_form("mnist", "unit"), n_several),
                "20news-test, 400 columns": lambda: first(*dense("20news-test", 400), n_several)}
    few = {f"{name}, {k} columns": lambda name=name, k=k: first(*dense(name, k), n_several) for name, k in (
        ("imdb-test", 200), ("reuters21578-single-test", 100), ("20news-test", 300))}
    few |= {"a9a-test": lambda: first(standardised(corpora.load("a9a-test")[0][:, :124].toarray()), corpora.load("a9a-test")[1],
                                      n_several),
            "mnist, 50 columns": lambda: first(*digits(50), n_several)}
    return {"held: two classes": over(two), "held: several classes": over(several), "held: few features": over(few)}


def dense(name, k):
    """Return texts as the k first singular vectors of their tf-idf has them, as is usual for dense learners."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    X, y = corpora.load(name, n_features=2**18, normalize=False)
    return TruncatedSVD(k, random_state=0).fit_transform(TfidfTransformer(sublinear_tf=True).fit_transform(X)), y


def digits(k):
    from sklearn.decomposition import PCA

    X, y = corpora.digits("test")
    return PCA(k, random_state=0).fit_transform(X), y


# --- rare classes --------------------------------------------------------------------------------------------------------------


def thinned(name, share, seed):
    """Return a set of two classes with so few rows of the positive one that they are this share."""
    X, y = corpora.load(name)
    positive, rest = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    chosen = np.random.default_rng(seed).choice(positive, int(share * len(rest) / (1.0 - share)), replace=False)
    kept = np.sort(np.concatenate([rest, chosen]))
    return X[kept], (y[kept] > 0) * 1


def fraud(n, share, seed):
    """Return 28 standard numbers, an amount and the time of payments, standardised; the rare ones differ in ten and vary more."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share) * 1
    X = rng.standard_normal((n, 28))
    shift = np.zeros(28)
    shift[:10] = rng.normal(0.0, 0.6, 10)
    X += np.outer(y, shift) + 0.5 * y[:, None] * rng.standard_normal((n, 28))
    amount = rng.lognormal(3.0 + 0.4 * y, 1.2)
    return standardised(np.column_stack([X, amount, np.arange(n)])), y


def clicks(n, share, seed, fields=8, values=200):
    """Return names in eight fields, common and rare, as 0/1 columns, and clicks whose log odds are a weight a name."""
    rng = np.random.default_rng(seed)
    weights, common_ = rng.normal(0.0, 0.7, (fields, values)), np.arange(1, values + 1) ** -1.1
    names = rng.choice(values, (n, fields), p=common_ / common_.sum())
    odds, bias = weights[np.arange(fields), names].sum(axis=1), 0.0
    for _ in range(60):
        bias += np.log(share / np.mean(1.0 / (1.0 + np.exp(-odds - bias))))
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-odds - bias))) * 1
    columns = (names + np.arange(fields) * values).astype(np.int32).ravel()
    ends = np.arange(0, n * fields + 1, fields, dtype=np.int32)
    return sp.csr_matrix((np.full(n * fields, fields**-0.5, np.float32), columns, ends), shape=(n, fields * values)), y


def ranks_of(X, y, class_weight, step=20):
    """Return AUCs and average precisions in per cent, of the second half of a stream, each 20 rows scored before they are learnt.

    Of each: AROW, the best member in hindsight (of this measure), the committee, the one with exponential weights, and the member
    that was best in the first half.
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    learners = [onlinecls.AROWClassifier(class_weight=class_weight), *(onlinecls.CommitteeClassifier(
        combine=combine, class_weight=class_weight) for combine in ("arow", "hedge"))]
    half, said = len(y) // 2, []
    for learner in learners:
        learner.partial_fit(X[:step], y[:step], classes=[0, 1])
    for at in range(step, len(y), step):
        rows = slice(at, at + step)
        alone, committee, hedge = learners
        said.append([each.decision_function(X[rows]) for each in (alone, committee, hedge, *committee.members_)])
        for learner in learners:
            learner.partial_fit(X[rows], y[rows])
    scores, found = np.concatenate(said, axis=1), []
    early, late = slice(0, half - step), slice(half - step, None)  # (the first rows have no scores)
    for measure in (roc_auc_score, average_precision_score):
        first, committee, hedge, *members = (measure(y[half:], each[late]) for each in scores)
        then = np.argmax([measure(y[step:half], each[early]) for each in scores[3:]])
        found.append([100.0 * each for each in (first, max(members), committee, hedge, members[then])])
    return found


def rare():
    """Return the ranks of rare classes: shares of 0.3 to 5 %.

    The share from which on v has no part was chosen on every other one of the first 18, by name; on the further ones nothing was.
    """
    thin = {"rcv1-subset1": (0.01, 0.025, 0.05), "spamassassin": (0.01, 0.02, 0.05), "ecml-spam-a-u00": (0.02, 0.05),
            "a9a-test": (0.005, 0.01, 0.03), "imdb-test": (0.01, 0.03)}
    more = {"sms-spam": (0.005, 0.02), "a9a": (0.005, 0.02), "imdb-train": (0.01, 0.04), "ecml-spam-a-u00-tune": (0.01, 0.04)}
    made = ((fraud, 20000, 0.003, 11), (fraud, 20000, 0.01, 10), (fraud, 8000, 0.04, 12), (clicks, 30000, 0.005, 11),
            (clicks, 30000, 0.01, 10))
    others_ = ((fraud, 20000, 0.005, 21), (fraud, 20000, 0.02, 22), (clicks, 30000, 0.003, 21), (clicks, 20000, 0.02, 22))
    labels = {"20news-test": ("sci.space", "rec.autos", "talk.politics.mideast"),
              "reuters21578-single-test": ("crude", "trade", "interest", "ship")}

    def streams(thin, made):
        return {f"{name}, {share:.1%}": lambda name=name, share=share, seed=seed: thinned(name, share, seed)
                for name in thin for seed, share in enumerate(thin[name])} | {
                    f"{make.__name__}, {share:.1%}": lambda make=make, n=n, share=share, seed=seed: make(n, share, seed)
                    for make, n, share, seed in made}

    further = streams(more, others_) | {f"{name}, {label}": lambda name=name, label=label: one(name, label, 20000)
                                        for name in labels for label in labels[name]}
    found = {}
    for kind, sets in (("rare", streams(thin, made)), ("rare, further", further)):
        kinds = {(what, weight): f"{kind}, {what}, {CODES[weight]}" for weight in CODES for what in ("AUC", "average precision")}
        found |= {title: {} for title in kinds.values()}
        for (name, make), weight in itertools.product(sets.items(), CODES):
            X, y = make()
            for what, values in zip(("AUC", "average precision"), ranks_of(X, y, weight), strict=True):
                found[kinds[what, weight]][name] = values
            print(name, weight, np.round(values, 1), flush=True)
    return found


def log_loss(learner, X, y):
    """Compute the log loss on the second half of the rows, after learning the first."""
    half = len(y) // 2
    learner.partial_fit(X[:half], y[:half], classes=[0, 1])
    shares = learner.predict_proba(X[half:])[np.arange(len(y) - half), y[half:]]
    return -np.log(np.maximum(shares, 1e-15)).mean()


def others():
    """Return log losses of probabilities, and squared errors of targets -1 and 1, on sets of two classes: geometric means."""
    losses, errors = [], []
    for name in corpora.BINARY:
        X, y = problem(name, "unit", 20000)
        committee = onlinecls.CommitteeClassifier(probability=True)
        own = log_loss(committee, X, y)
        members = [type(each)(**{**each.get_params(), "probability": True}) for each in committee.members_]
        losses.append([log_loss(onlinecls.AROWClassifier(probability=True), X, y),
                       min(log_loss(member, X, y) for member in members), own])
        numbers = onlinecls.CommitteeRegressor().partial_fit(X, 2.0 * y - 1.0)
        alone = onlinecls.AROWRegressor().partial_fit(X, 2.0 * y - 1.0)
        errors.append([each.progressive_mse_ for each in (alone, min(
            numbers.members_, key=lambda member: member.progressive_mse_), numbers)])
    rows = ([title, *(f"{each / 100.0:.4f}" for each in mean(found))] for title, found in (
        ("log loss of the second half", losses), ("squared error, targets -1 and 1", errors)))
    return table(("ten sets of two classes, geometric means", "AROW", "best member", "committee"), rows)


def priced(X, y):
    """Time one pass, of AROW, of all automatic members and of the committee, and rows one by one, on the processor."""
    begun = onlinecls.CommitteeClassifier().partial_fit(X, y)
    makes = [lambda each=each: type(each)(**each.get_params()) for each in (onlinecls.AROWClassifier(), *begun.members_, begun)]
    arow, *members, committee = least_times(makes, X, y)
    lines = [("AROW, a pass", f"{1e3 * arow:.0f} ms")]
    named = zip(begun.member_names_, members, strict=True)
    lines += [(f"{name}, a pass", f"{each / arow:.2f} times AROW") for name, each in named]
    lines += [("the committee, a pass", f"{committee / arow:.2f} times AROW, {committee / sum(members):.2f} times its members")]
    rows, codes = rows_of(X[:2000]), [y[i : i + 1] for i in range(2000)]
    for learner in (onlinecls.AROWClassifier(), onlinecls.CommitteeClassifier()):
        learner.partial_fit(X[:100], y[:100], classes=[0, 1])
        for what, call in (("learn", learner.partial_fit), ("predict", lambda row, code: learner.predict(row))):  # noqa: B023
            found = []
            for start in range(0, 2000, 100):
                started = time.process_time()
                for row, code in zip(rows[start : start + 100], codes[start : start + 100], strict=True):
                    call(row, code)
                found.append(time.process_time() - started)
            lines.append((f"{type(learner).__name__}, {what} one row", f"{1e4 * min(found):.1f} µs"))
    return table(("20,000 rows of 100 non-zeros", "time"), lines)


def report(path):
    write_between_if(True, "committee.md", "others", others())
    if path is not None:
        write_between_if(True, "committee.md", "chosen", chosen(json.loads(path.read_text())))
    lines, means, ranks = tables({
        "two classes": wide(corpora.BINARY, "unit"),
        "several classes": wide(corpora.MULTICLASS, "unit", 8000),
        "labels that turn half-way": wide([*corpora.BINARY, *corpora.MULTICLASS[2:]], "turned", 8000),
        "few features": narrow(),
        **held(),
    }, rare())
    write_csv("committee.csv", lines)
    write_between_if(True, "committee.md", "errors", means)
    write_between_if(True, "committee.md", "rare", ranks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("choose", "report", "ways", "speed"))
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, default=4000)
    options = parser.parse_args()
    if options.what == "choose":
        choose(options.file, options.rows)
    if options.what in ("ways", "report"):
        write_between_if(True, "committee.md", "ways", ways())
    if options.what in ("speed", "report"):
        write_between_if(True, "committee.md", "speed", priced(*common.stream(20000, 100)))
    if options.what == "report":
        report(options.file)


if __name__ == "__main__":
    main()
