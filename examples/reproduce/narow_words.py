"""NAROW paper, Fig. 2 and section 4.3: word frequency against rank in reviews, and the r of rare informative words."""

import sys

import numpy as np
from common import SMOKE, keep, mistakes_along, read_tsv, reading, sentence

from onlinecls import DualAscentClassifier, Perceptron
from onlinecls.reference import best_r
from onlinecls.text import HashingVectorizer

WORDS = HashingVectorizer(n_features=2**20, binary=True, norm=None, alternate_sign=False)
FILES = {"books": "amazon-books.tsv.gz", "DVDs": "amazon-dvd.tsv.gz"}
ORDERS = 2 if SMOKE else 10


def mistakes(X, y, seed):
    """Return the rows, in a random order, that the Perceptron is wrong about."""
    order = np.random.default_rng(seed).permutation(len(y))
    so_far = mistakes_along(Perceptron(eta0=1.0, fit_intercept=False), X[order], y[order], every=1)[1]
    return X[order][np.diff(so_far, prepend=0.0) > 0.5]


def informative(X, y):
    """Return s = Σ u_i² c_i / ||u||² of two support vector machines u, c_i the Perceptron's mistakes that have word i."""
    c, found = np.bincount(mistakes(X, y, 0).indices, minlength=X.shape[1]), []
    for sigma in (100.0, 1000.0):
        machine = DualAscentClassifier(sigma, norm_bound=1.0, scale=1.0, fit_intercept=False, max_iter=20, random_state=0)
        u = machine.fit(X, y).coef_[0].astype(float)
        found.append(float(u**2 @ c / (u @ u)))
    return found


def main():
    source, sets = "NAROW paper, section 4.3, Fig. 2", {}
    for name, file in FILES.items():
        if not (lines := read_tsv(file)):
            keep("narow_words", source, [], {}, f"{file} is not there")
            return
        labels = np.array([label for label, _ in lines])
        sets[name] = WORDS.transform([text for _, text in lines]), np.where(labels == max(labels), 1, -1)
    frequent, better, rare, numbers = [], [], [], {}
    for name, (X, y) in sets.items():
        X = X[:, np.unique(X.indices)]
        counts = np.sort(np.bincount(X.indices))[::-1]
        half, few = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) + 1, float(np.mean(counts <= 5))
        frequent.append((f"{name}: {half} of {len(counts):,} words are half of all occurrences, {few:.0%} occur in at most five "
                         "reviews", half < 0.02 * len(counts) and few > 0.5))
        M, R, d = np.mean([mistakes(X, y, seed).shape[0] for seed in range(ORDERS)]), np.diff(X.indptr).max() ** 0.5, len(counts)
        most, known = M * R**2 / (2 * d), informative(X, y)
        # Squares of the second-order bound as printed, at the r of section 4.3 for shares of that s, and of the Perceptron's.
        bounds = [((r := best_r(s, M, R, d)) + s) * d * np.log1p(M * R**2 / (d * r)) for s in most * np.array([0.01, 0.5, 0.99])]
        better.append((f"{name}: M = {M:.0f}, R² = {R**2:.0f}, d = {d:,}: s < {most:.1f}", max(bounds) < M * R**2))
        rare.append((f"{name}: s = {' and '.join(f'{s:.1f}' for s in known)}, not < {most:.1f}", max(known) < most))
        numbers[name] = {"M": M, "R": R, "d": d, "most s": most, "s": known}
    read = lambda name, told: reading(name, "; ".join(text for text, _ in told), all(held for _, held in told))  # noqa: E731
    keep("narow_words", source, [
        sentence("N12", "Clearly there are few very frequent words and many [rare] words [in two sentiment datasets].", [
            read("", frequent)]),
        sentence("N13", "... with an optimal tuning of r, this bound is better [than] the Perceptron's one. ... it is enough to "
                 "have s < MR²/(2d) [Σ u_i² Σ x_{t,i}² ≤ s ||u||²], and to set r = sMR²/(MR² - 2sd).", [
                     read("the bounds, M and R of the Perceptron", better),
                     read("the s of two linear machines", rare)]),
    ], numbers)


if __name__ == "__main__":
    sys.exit(main())
