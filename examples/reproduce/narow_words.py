"""NAROW paper, Fig. 2 and section 4.3: word frequency against rank in reviews, and the r of rare informative words."""

import sys

import numpy as np
from common import SMOKE, claim, keep, picture, plt, read_tsv, there

from onlinecls import Perceptron, SecondOrderPerceptron
from onlinecls.datasets import load_sms_spam
from onlinecls.reference import best_r
from onlinecls.text import HashingVectorizer

WORDS = HashingVectorizer(n_features=2**20, binary=True, norm=None, alternate_sign=False)
FILES = {"books": "amazon-books.tsv.gz", "DVDs": "amazon-dvd.tsv.gz"}

ORDERS = 2 if SMOKE else 10


def mistakes(learner, X, y):
    """Return the mistakes of a learner in one pass, for each of some random orders."""
    found = []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(y))
        fresh = type(learner)(**learner.get_params())
        found.append(fresh.partial_fit(X[order], y[order], classes=[-1, 1]).n_mistakes_)
    return np.array(found)


def second_order(r):
    return SecondOrderPerceptron(r=r, initial_variance=1.0, fit_intercept=False)


def main():
    missing, sets = there(*FILES.values()), {}
    if missing:
        X, y = load_sms_spam()
        X.data[:] = 1.0
        sets["text messages"] = X, np.where(y == "spam", 1, -1)
    else:
        for name, file in FILES.items():
            lines = read_tsv(file)
            labels = np.array([label for label, _ in lines])
            sets[name] = WORDS.transform([text for _, text in lines]), np.where(labels == np.unique(labels)[-1], 1, -1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    claims, numbers = [], {}
    for name, (X, y) in sets.items():
        counts = np.sort(np.diff(X.tocsc().indptr))[::-1]
        counts = counts[counts > 0]
        left.loglog(np.arange(1, len(counts) + 1), counts, label=name)
        rare = float(np.mean(counts <= 5))
        half = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) + 1
        claims.append(claim(
            f"Sentiment, {name}: a few words are very frequent, and many are rare.",
            f"{half} of {len(counts):,} words are half of all occurrences; {rare:.0%} occur in five reviews at most",
            half < 0.02 * len(counts) and rare > 0.5, "see the numbers"))
        perceptron = mistakes(Perceptron(eta0=1.0, fit_intercept=False), X, y)
        M, R, d = float(perceptron.mean()), float(np.sqrt(np.diff(X.indptr).max())), len(counts)
        most = M * R**2 / (2 * d)
        grid = 10.0 ** (np.arange(0.0, 5.0, 2.0) if SMOKE else np.arange(-1.0, 5.5, 0.5))
        by_r = {float(r): float(mistakes(second_order(r), X, y).mean()) for r in grid}
        right.semilogx(grid, list(by_r.values()), label=f"{name}: second order")
        colour = right.lines[-1].get_color()
        right.axhline(M, color=colour, linestyle=":", label=f"{name}: Perceptron")
        chosen = best_r(most / 2, M, R, d)
        found = mistakes(second_order(chosen), X, y)
        right.plot([chosen], [found.mean()], "o", color=colour, label=f"{name}: r of section 4.3, {chosen:.2g}")
        numbers[name] = {"M": perceptron.tolist(), "R": R, "d": d, "most s": most, "r": chosen, "mistakes": found.tolist(),
                         "by r": by_r}
        less = perceptron - found  # (in the same order)
        error = less.std(ddof=1) / ORDERS**0.5
        claims.append(claim(
            f"Section 4.3, {name}: where informative words are in s < MR²/(2d) rows, r = sMR²/(MR² - 2sd) beats the "
            "Perceptron.",
            f"s < {most:.1f}; for half of it r = {chosen:.2g}: {found.mean():.0f} mistakes, Perceptron {M:.0f} (means of "
            f"{ORDERS} orders; fewer by {less.mean():.0f} ± {error:.0f}, in {int((less > 0).sum())} of them)",
            less.mean() > 2.0 * error,
            f"within two standard errors; the best r of the grid, {min(by_r, key=by_r.get):.2g}, makes {min(by_r.values()):.0f}"))
    left.set(xlabel="rank of the word", ylabel="reviews that it is in", title="NAROW Fig. 2")
    right.set(xlabel="r", ylabel=f"mistakes in one pass, mean of {ORDERS} orders",
              title="The conservative second-order Perceptron")
    for ax in (left, right):
        ax.legend(fontsize="small")
        ax.grid(alpha=0.3)
    picture(figure, "narow_figure_2")
    keep("narow_words", "NAROW paper, section 4.3, Fig. 2", claims, numbers,
         f"{missing} is not there: text messages, which ship with the package, in its place" if missing else "")


if __name__ == "__main__":
    sys.exit(main())
