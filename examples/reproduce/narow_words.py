"""NAROW paper, Fig. 2 and section 4.3: word frequency against rank in reviews, and the r of rare informative words."""

import sys

import numpy as np
from common import SMOKE, keep, mistakes_along, read_tsv, reading, sentence, there

from onlinecls import DualAscentClassifier, Perceptron, SecondOrderPerceptron
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
    return SecondOrderPerceptron(r=r, initial_variance=1.0, scale=1.0, fit_intercept=False)


def machines(X, y, grid):
    """Return (s, share of ||u||² in words of 20 rows at most, (second order's bound, its r), Perceptron's bound) of machines u.

    The rows are those of the Perceptron's mistakes, and c_i of them have word i: s = Σ u_i² c_i / ||u||². Bounds are those on the
    mistakes above the losses, for ||u|| = 1: √(1 + s/r) √(r Σ log(1 + c_i/r)) at the best r of the grid, and √(Σ ||x||²).
    """
    order = np.random.default_rng(0).permutation(len(y))
    so_far = mistakes_along(Perceptron(eta0=1.0, fit_intercept=False), X[order], y[order], every=1)[1]
    c, told = np.bincount(X[order][np.diff(so_far, prepend=0.0) > 0.5].indices, minlength=X.shape[1]).astype(float), []
    for sigma in (100.0, 1000.0):
        machine = DualAscentClassifier(sigma, norm_bound=1.0, scale=1.0, fit_intercept=False, max_iter=20,
                                       random_state=0).fit(X, y)
        u = machine.coef_[0].astype(float) / np.linalg.norm(machine.coef_[0].astype(float))
        s = float(u**2 @ c)
        second = min((float(np.sqrt((1.0 + s / r) * r * np.log1p(c / r).sum())), r) for r in grid)
        told.append((s, float(np.sum(u[c <= 20] ** 2)), second, float(c.sum() ** 0.5)))
    return told


def printed(s, M, R, d):
    """Return by how many times the second-order bound as printed, at the r of section 4.3, is above the Perceptron's."""
    r = best_r(s, M, R, d)
    return float(np.sqrt((r + s) * d * np.log1p(M * R**2 / (d * r)) / (M * R**2)))


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
    numbers, words, below, learnt, sides, made = {}, [], [], [], [], []
    for name, (X, y) in sets.items():
        X = X[:, np.unique(X.indices)]
        counts = np.sort(np.bincount(X.indices))[::-1]
        rare = float(np.mean(counts <= 5))
        half = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) + 1
        words.append((f"{name}: {half} of {len(counts):,} words are half of all occurrences; {rare:.0%} occur in five reviews at "
                      "most", half < 0.02 * len(counts) and rare > 0.5))
        perceptron = mistakes(Perceptron(eta0=1.0, fit_intercept=False), X, y)
        M, R, d = float(perceptron.mean()), float(np.sqrt(np.diff(X.indptr).max())), len(counts)
        most = M * R**2 / (2 * d)
        grid = 10.0 ** (np.arange(0.0, 5.0, 2.0) if SMOKE else np.arange(-1.0, 5.5, 0.5))
        by_r = {float(r): float(mistakes(second_order(r), X, y).mean()) for r in grid}
        chosen = best_r(most / 2, M, R, d)
        found = mistakes(second_order(chosen), X, y)
        less = perceptron - found  # (in the same order)
        error = less.std(ddof=1) / ORDERS**0.5
        ratios = [printed(share * most, M, R, d) for share in (0.01, 0.1, 0.5, 0.9, 0.99)]
        linear = machines(X, y, grid)
        numbers[name] = {"M": perceptron.tolist(), "R": R, "d": d, "most s": most, "r": chosen, "mistakes": found.tolist(),
                         "by r": by_r, "machines": linear}
        below.append((f"{name}: M = {M:.0f}, R² = {R**2:.0f}, d = {d:,}, so that s < {most:.1f}; at 1, 10, 50, 90, 99 % of that "
                      "the bound on mistakes above the losses is "
                      f"{', '.join(f'{one:.3f}' for one in ratios)} of the Perceptron's",
                      max(ratios) < 1.0))
        learnt.append((f"{name}: s = {' and '.join(f'{s:.1f}' for s, *_ in linear)} (threshold {most:.1f}); words in 20 of these "
                       f"rows at most have {' and '.join(f'{share:.0%}' for _, share, *_ in linear)} of ||u||²",
                       all(s < most for s, *_ in linear)))
        sides.append((f"{name}: mistakes above the losses, for ||u|| = 1: " + " and ".join(
            f"{second:.1f} (r = {r:.2g})" for *_, (second, r), _ in linear) + f", the Perceptron's {linear[0][-1]:.1f}",
            all(second < first for *_, (second, _), first in linear)))
        made.append((f"{name}: r = {chosen:.2g}, for half of the s allowed: {found.mean():.0f}, Perceptron {M:.0f} (means of "
                     f"{ORDERS} orders; fewer by {less.mean():.0f} ± {error:.0f}, in {int((less > 0).sum())} of them); best r of "
                     f"the grid, {min(by_r, key=by_r.get):.2g}: {min(by_r.values()):.0f}", less.mean() > 2.0 * error))

    def read(name, told):
        return reading(name, "; ".join(found for found, _ in told), all(held for _, held in told))

    sentences = [
        sentence("N12", "Clearly there are few very frequent words and many [rare] words [in two sentiment datasets].", [
            read("less than 2 % of the words make half of the occurrences, and most words are in five reviews at most", words)]),
        sentence("N13", "[Where] Σ u_i² Σ x_{t,i}² ≤ s ||u||² with s small enough, ... with an optimal tuning of r, this bound "
                 "is better [than] the Perceptron's one. ... it is enough to have s < MR²/(2d), and to set r = "
                 "sMR²/(MR² - 2sd).", [
                     read("both bounds in M, R, s and d alone, M and R those of the Perceptron on reviews", below),
                     read("informative words are in so few rows: s of two linear machines on the reviews", learnt),
                     read("both bounds with the sums of the rows for M, R and d, u these machines, r the best of a grid", sides),
                     read("mistakes in place of bounds", made)]),
    ]
    keep("narow_words", "NAROW paper, section 4.3, Fig. 2", sentences, numbers,
         f"{missing} is not there: text messages, which ship with the package, in its place" if missing else "")


if __name__ == "__main__":
    sys.exit(main())
