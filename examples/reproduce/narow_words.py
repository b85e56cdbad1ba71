"""NAROW paper, Fig. 2 and section 4.3: word frequency against rank in reviews, and the r of rare informative words."""

import sys

import numpy as np
from common import claim, keep, picture, plt, read_tsv, there

from onlinecls import Perceptron, SecondOrderPerceptron
from onlinecls.datasets import load_sms_spam
from onlinecls.reference import best_r
from onlinecls.text import HashingVectorizer

WORDS = HashingVectorizer(n_features=2**20, binary=True, norm=None, alternate_sign=False)
FILES = {"books": "amazon-books.tsv.gz", "DVDs": "amazon-dvd.tsv.gz"}


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
        perceptron = Perceptron(eta0=1.0, fit_intercept=False).partial_fit(X, y, classes=[-1, 1])
        M, R, d = perceptron.n_mistakes_, float(np.sqrt(np.diff(X.indptr).max())), len(counts)
        most = M * R**2 / (2 * d)
        mistakes = {}
        grid = 10.0 ** np.arange(-1.0, 5.5, 0.5)
        for r in grid:
            learner = SecondOrderPerceptron(r=r, initial_variance=1.0, fit_intercept=False)
            mistakes[float(r)] = learner.partial_fit(X, y, classes=[-1, 1]).n_mistakes_
        right.semilogx(grid, list(mistakes.values()), label=f"{name}: second order")
        colour = right.lines[-1].get_color()
        right.axhline(M, color=colour, linestyle=":", label=f"{name}: Perceptron")
        chosen = best_r(most / 2, M, R, d)
        learner = SecondOrderPerceptron(r=chosen, initial_variance=1.0, fit_intercept=False).partial_fit(X, y, classes=[-1, 1])
        right.plot([chosen], [learner.n_mistakes_], "o", color=colour, label=f"{name}: r of section 4.3, {chosen:.2g}")
        numbers[name] = {"M": M, "R": R, "d": d, "most s": most, "r": chosen, "mistakes": learner.n_mistakes_, "by r": mistakes}
        claims.append(claim(
            f"Section 4.3, {name}: where informative words are in s < MR²/(2d) rows, r = sMR²/(MR² - 2sd) beats the Perceptron.",
            f"s < {most:.1f}; for half of it r = {chosen:.2g}: {learner.n_mistakes_} mistakes, Perceptron {M}",
            learner.n_mistakes_ < M, "the condition is about the bound; the informative words here are more frequent than s"))
    left.set(xlabel="rank of the word", ylabel="reviews that it is in", title="NAROW Fig. 2")
    right.set(xlabel="r", ylabel="mistakes in one pass", title="The conservative second-order Perceptron")
    for ax in (left, right):
        ax.legend(fontsize="small")
        ax.grid(alpha=0.3)
    picture(figure, "narow_figure_2")
    keep("narow_words", "NAROW paper, section 4.3, Fig. 2", claims, numbers,
         f"{missing} is not there: text messages, which ship with the package, in its place" if missing else "")


if __name__ == "__main__":
    sys.exit(main())
