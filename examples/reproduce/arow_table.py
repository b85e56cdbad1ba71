"""AROW paper, Table 1 and Fig. 3: mean rank and test accuracy of PA, SOP, CW and AROW over text and digit tasks, by label noise.

Parameters and the number of passes are chosen by one randomised run of each task, as in the paper; 2,000 rows of each. Without
--full: fewer pairs of domains and digits, and three of the ten folds.
"""

import sys
from itertools import combinations

import numpy as np
from common import DATA, claim, flipped, keep, picture, plt, read_tsv

from onlinecls import AROWClassifier, ConfidenceWeightedClassifier, PassiveAggressiveClassifier, SecondOrderPerceptron
from onlinecls.text import HashingVectorizer

NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
ROWS = 2000
PASSES = (1, 3, 10)
NO = {"fit_intercept": False}
KINDS = {
    "PA": (lambda C: PassiveAggressiveClassifier(C=C, **NO), [1e-3, 1e-2, 0.1, 1.0]),
    "SOP": (lambda r: SecondOrderPerceptron(r=r, initial_variance=1.0, **NO), [0.01, 0.1, 1.0, 10.0]),
    "CW": (lambda eta: ConfidenceWeightedClassifier(eta=eta, initial_variance=1.0, **NO), [0.55, 0.7, 0.8, 0.9]),
    "AROW": (lambda r: AROWClassifier(r=r, **NO), [0.01, 0.1, 1.0, 10.0]),
}
WORDS = HashingVectorizer(n_features=2**18, ngram_range=(1, 1), alternate_sign=False)
GROUPS = [("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"), ("sci.electronics", "sci.med"),
          ("talk.politics.guns", "talk.politics.mideast")]


def texts(full):
    """Yield (name, texts, signs) of each text task with data."""
    if (DATA / "amazon-domains.tsv.gz").exists():
        lines = read_tsv("amazon-domains.tsv.gz")
        domains = sorted({label for label, _ in lines})
        pairs = list(combinations(domains, 2))
        for pair in pairs if full else pairs[:: max(len(pairs) // 4, 1)][:4]:
            yield f"{pair[0]} or {pair[1]}", [line for line in lines if line[0] in pair]
    if (DATA / "20news-train.tsv.gz").exists():
        lines = read_tsv("20news-train.tsv.gz")
        for pair in GROUPS:
            yield f"{pair[0]} or {pair[1]}", [line for line in lines if line[0] in pair]
    if (DATA / "reuters21578-single-train.tsv.gz").exists():
        lines = read_tsv("reuters21578-single-train.tsv.gz")
        labels, counts = np.unique([label for label, _ in lines], return_counts=True)
        common = [str(label) for label in labels[np.argsort(-counts)][:4]]
        for pair in list(combinations(common, 2))[: 3 if full else 2]:
            yield f"{pair[0]} or {pair[1]}", [line for line in lines if line[0] in pair]
    for name in ("amazon-books", "amazon-dvd", "imdb-train", "spamassassin", "sms-spam")[: None if full else 4]:
        if (DATA / f"{name}.tsv.gz").exists():
            yield name, read_tsv(f"{name}.tsv.gz")


def folds(full):
    """Yield (name, kind, [(rows to learn, signs, rows to test, signs), ...]) of each task."""
    for name, lines in texts(full):
        rng = np.random.default_rng(0)
        lines = [lines[i] for i in rng.permutation(len(lines))[:ROWS]]
        labels = np.array([label for label, _ in lines])
        X, y = WORDS.transform([text for _, text in lines]), np.where(labels == np.unique(labels)[-1], 1, -1)
        number = np.arange(len(y)) % 10
        yield name, "text", [(X[number != k], y[number != k], X[number == k], y[number == k]) for k in range(10 if full else 3)]
    if (DATA / "mnist.npz").exists():
        with np.load(DATA / "mnist.npz") as data:
            arrays = {name: data[name] for name in ("X_train", "y_train", "X_test", "y_test")}
        pairs = list(combinations(range(10), 2))
        for pair in pairs if full else pairs[::5]:
            parts = []
            for which, most in (("train", ROWS), ("test", None)):
                y = arrays[f"y_{which}"].astype(int)
                at = np.random.default_rng(0).permutation(np.flatnonzero(np.isin(y, pair)))[:most]
                A = arrays[f"X_{which}"].reshape(len(y), -1)[at] / 255.0
                parts += [A / np.linalg.norm(A, axis=1, keepdims=True), np.where(y[at] == pair[1], 1, -1)]
            yield f"{pair[0]} or {pair[1]}", "digits", [tuple(parts)]


def accuracy(make, passes, X, seen, T, z):
    learner = make.partial_fit(X, seen, classes=[-1, 1])
    for seed in range(passes - 1):
        order = np.random.default_rng(seed).permutation(len(seen))
        learner.partial_fit(X[order], seen[order])
    return learner.score(T, z)


def main():
    full = "--full" in sys.argv
    found = []  # (task, kind, noise, {name: accuracy})
    for name, kind, parts in folds(full):
        X, y = parts[0][:2]
        middle = len(y) * 4 // 5
        for noise in NOISE:
            rng = np.random.default_rng(7)
            order, seen = rng.permutation(len(y)), flipped(y, noise, rng)
            learn, judge = order[:middle], order[middle:]
            best = {}
            for algorithm, (make, grid) in KINDS.items():
                trials = [(value, passes) for value in grid for passes in PASSES]
                scores = [accuracy(make(value), passes, X[learn], seen[learn], X[judge], seen[judge]) for value, passes in trials]
                best[algorithm] = trials[int(np.argmax(scores))]
            scores = {algorithm: [] for algorithm in KINDS}
            for A, b, B, clean in parts:
                turned = flipped(b, noise, np.random.default_rng(8))
                for algorithm, (value, passes) in best.items():
                    scores[algorithm].append(accuracy(KINDS[algorithm][0](value), passes, A, turned, B, clean))
            found.append((name, kind, noise, {algorithm: float(np.mean(scores[algorithm])) for algorithm in KINDS}))
    if not found:
        keep("arow_table", "AROW paper, Table 1, Fig. 3", [], {}, "no data sets")
        return
    table = {}
    for noise in NOISE:
        accuracies = np.array([[one[algorithm] for algorithm in KINDS] for _, _, at, one in found if at == noise])
        ranks = 1 + (accuracies[:, None, :] > accuracies[:, :, None]).sum(axis=2) + (
            (accuracies[:, None, :] == accuracies[:, :, None]).sum(axis=2) - 1) / 2
        table[f"{noise:.0%}"] = {a: float(rank) for a, rank in zip(KINDS, ranks.mean(axis=0), strict=True)}
    figure, axes = plt.subplots(2, 3, figsize=(13, 8.5), layout="constrained")
    wins = {}
    for row, kind in enumerate(("text", "digits")):
        for ax, noise in zip(axes[row], (0.0, 0.1, 0.3), strict=True):
            pairs = np.array([(one["CW"], one["AROW"]) for _, of, at, one in found if of == kind and at == noise])
            if len(pairs):
                ax.plot(100 * pairs[:, 0], 100 * pairs[:, 1], "o", markersize=4)
                low = 100 * pairs.min()
                ax.plot([low, 100], [low, 100], color="grey", linewidth=1)
                wins[kind, noise] = float(np.mean(pairs[:, 1] > pairs[:, 0]) + np.mean(pairs[:, 1] == pairs[:, 0]) / 2)
            ax.set(title=f"{kind}, {noise:.0%} noise", xlabel="CW, accuracy %", ylabel="AROW, accuracy %")
            ax.grid(alpha=0.3)
    picture(figure, "arow_figure_3")
    first = [noise for noise, ranks in table.items() if min(ranks, key=ranks.get) == "AROW"]
    behind = max(ranks["AROW"] - min(ranks.values()) for ranks in table.values())
    shown = "; ".join(f"{noise}: " + ", ".join(f"{a} {r:.2f}" for a, r in ranks.items()) for noise, ranks in table.items())
    n_tasks = len({(name, kind) for name, kind, _, _ in found})
    claims = [
        claim(f"Table 1: AROW has the best mean rank at every noise level ({n_tasks} tasks here, 100 there).", shown,
              len(first) == len(NOISE),
              f"it does at {', '.join(first) or 'none'}; elsewhere PA-I comes first, by {behind:.2f} of a rank at most: its C is "
              "chosen for each task and noise level here, from 0.001 on"),
        claim("Table 1: CW beats PA and SOP without noise, and loses by noise.",
              f"CW's mean rank goes from {table['0%']['CW']:.2f} to {table['30%']['CW']:.2f}",
              table["0%"]["CW"] < min(table["0%"]["PA"], table["0%"]["SOP"]) and table["30%"]["CW"] > table["0%"]["CW"],
              "PA's step size is chosen here as well, which brings it close to CW on clean labels"),
    ]
    for kind in ("text", "digits"):
        shares = [wins[kind, noise] for noise in (0.0, 0.1, 0.3) if (kind, noise) in wins]
        if shares:
            claims.append(claim(
                f"Fig. 3, {kind}: AROW improves relative to CW as the noise increases.",
                "AROW is the better one in " + ", ".join(f"{share:.0%}" for share in shares) + " of the tasks at 0, 10, 30 %",
                shares[-1] >= shares[0] and shares[-1] > 0.5, "see the numbers"))
    keep("arow_table", "AROW paper, section 5, Table 1 and Fig. 3", claims, {"mean rank": table, "tasks": n_tasks})


if __name__ == "__main__":
    sys.exit(main())
