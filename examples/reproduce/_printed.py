"""Statements of the four papers whose printed form is false: the smallest stream that breaks each, and the form that holds.

The smallest stream is the first one that is found among streams of few rows and small numbers: of one row, of two, and so on.
Rows of two classes are written z = y x, with y = 1.
"""

import sys
from itertools import product

import numpy as np
from _streams import NO, RANDOM, broken, forel, hinge
from common import picture, plt, reading

from onlinecls import (
    AROWClassifier,
    DualAscentClassifier,
    DualAscentRegressor,
    MultiplicativePassiveAggressiveOneClass,
    NAROWClassifier,
    PNormPerceptron,
    bounds,
)
from onlinecls.reference import PotentialLearner, SquaredNorm
from onlinecls.reference.potential import LOSSES

LINE, PLANE = [(x,) for x in (1.0, -1.0, 0.5, 2.0, -2.0)], [(1.0, 0.0), (1.0, 1.0), (-1.0, -1.0), (0.0, 1.0)]


def followed(learner, Z):
    """Return the course of a learner over rows z."""
    return bounds.follow(learner, Z, np.ones(len(Z)))


def of_rows(rows, competitors, most=3):
    """Yield streams of one to so many of these rows, each with each competitor."""
    for T in range(1, most + 1):
        for Z, u in product(product(rows, repeat=T), competitors):
            yield np.array(Z), np.array(u)


def separated(rng, most=12):
    """Return rows z of random lengths, turned towards a random direction but for a few, and a multiple of it."""
    n, d = rng.integers(1, most), rng.integers(1, 4)
    u = rng.standard_normal(d)
    Z = rng.standard_normal((n, d)) * np.exp(rng.normal(0.0, 0.5, (n, 1)))
    Z *= np.where(rng.random((n, 1)) < 0.1, -1.0, 1.0) * np.sign(Z @ u)[:, None]
    return Z, u * rng.choice([0.3, 1.0, 3.0]) / np.median(np.abs(Z @ u))


# --- (left, right) as printed and mended, of a stream: it is to be that left <= right ------------------------------------------


def narow(Z, u, b=1.0):
    """Return M + U and the bound, with a minus before the sum over r_t, or a plus."""
    course = followed(NAROWClassifier(b, initial_variance=1.0, covariance="full", **NO), Z)
    paid, mended = bounds.narow(course, u)
    m, chi, on = course.margins, course.chi, course.updated
    r = np.divide(chi, b * chi - 1.0, out=np.full(len(chi), 1e100), where=b * chi > 1.0)
    rest = (on * b * m * (2.0 * r - m) / (r + chi)).sum()
    plain = (np.minimum(1.0, b * chi) * on).sum()
    first = 1.0 / b + (course.norms() * on).max() ** 2 * (np.log1p(chi / r) * on).sum()
    allowed = course.loss(u) + np.linalg.norm(u) * np.sqrt(first * max(plain - rest, 0.0))
    return (paid, allowed), (paid, mended)


def uniclass(X, u, epsilon):
    """Return Σ l² + 2 (ε - ε*) Σ l and 8 D, and the same with the factors 15/16 and 1."""
    learner = MultiplicativePassiveAggressiveOneClass(epsilon, norm_bound=1.0, signed=False, dtype=np.float64)
    losses = np.maximum(0.0, -bounds.follow(learner, X).scores - epsilon)
    spare = epsilon - np.linalg.norm(X - u, axis=1).max()
    squares, sums, some = (losses**2).sum(), losses.sum(), u[u > 0.0]
    allowed = 8.0 * some @ np.log(len(u) * some) if spare >= 0.0 else np.inf
    return (squares + 2.0 * spare * sums, allowed), (15.0 / 16.0 * squares + spare * sums, allowed)


def experts(X, y):
    """Return the regret to the best expert, and L √(T log d), for the printed σ = L √(T/log d); mended: half as much again."""
    T, d = X.shape
    L = np.abs(X).max()
    sigma = L * np.sqrt(T / np.log(d))
    learner = DualAscentRegressor(sigma, regularizer="entropic", signed=False, norm_bound=1.0, update="DA1", **NO)
    regret = np.abs(y - bounds.follow(learner, X, y).scores).sum() - np.abs(y[:, None] - X).sum(axis=0).min()
    return (regret, L * np.sqrt(T * np.log(d))), (regret, 1.5 * L * np.sqrt(T * np.log(d)))


def dual(Z, sigma=1.0):
    """Return the course of gradient descent (DA1), and the dual before each row and after the last."""
    learner, values = DualAscentClassifier(sigma, norm_bound=1.0, update="DA1", **NO), [0.0]
    walker = type(learner)(**learner.get_params()).partial_fit(Z[:0], [], classes=[-1, 1])
    for z in Z:
        values.append(walker.partial_fit(z[None], [1]).dual_value_)
    return followed(learner, Z), np.array(values)


def increase(Z, u):
    """Return the least of D_{t+1} - D_t, L the Lipschitz constant by the dual of the norm of f, or by it (f: ||.||_inf)."""
    course, values = dual(Z)
    least = [hinge(course.margins) - L**2 / 2.0 for L in (np.abs(Z).max(axis=1), np.linalg.norm(Z, axis=1))]
    return tuple(((one - np.diff(values)).max(), 0.0) for one in least)


def regret(Z, u):
    """Return the regret and f(u) + T L²/(2σ), with the same two L."""
    course = followed(DualAscentClassifier(1.0, norm_bound=1.0, update="DA1", **NO), Z)
    paid = hinge(course.margins).sum() - hinge(Z @ u).sum()
    return tuple((paid, u @ u / 2.0 + len(Z) * L**2 / 2.0) for L in (np.abs(Z).max(), np.linalg.norm(Z, axis=1).max()))


def rise(Z, u):
    """Return how far an update's Δ is from α - ½(α m + α²||z||²/σ), and from α (1 - m) - α²||z||²/(2σ), α = 1."""
    course, values = dual(Z)
    m, squares, on = course.margins, (Z**2).sum(axis=1), course.updated
    return tuple((np.abs(on * (np.diff(values) - form)).max(), 0.0)
                 for form in (1.0 - (m + squares) / 2.0, 1.0 - m - squares / 2.0))


def leader(Z, u):
    """Return the losses of FoReL and of PA (DA2); mended: the dual of PA and of FoReL, which is its primal optimum."""
    margins, _, w = forel(Z, gap=1e-10)
    other = followed(DualAscentClassifier(1.0, norm_bound=1.0, update="DA2", **NO), Z)
    optimum = w @ w / 2.0 + hinge(Z @ w).sum()
    return (hinge(margins).sum(), hinge(other.margins).sum()), (other.learner.dual_value_, optimum)


def several(x, u):
    """Return the 0-1 loss and max over r of 1 - (score of the right class - score of r), or at least 0; u: a row a class."""
    scores = u @ x
    loss = 1.0 - (scores[0] - scores[1:].max())
    wrong = float(scores[0] <= scores[1:].max())
    return (wrong, loss), (wrong, max(0.0, loss))


def steps(Z, u, R=0.625):
    """Return mistakes and (4), with η = min((R²/2 - m)/||x||², 1) where there is no mistake, or that but at least 0."""
    sides = []
    for least in (-np.inf, 0.0):
        theta, M, loss, D, rest = np.zeros(Z.shape[1]), 0, 0.0, 0.0, 0.0
        for z in Z:
            m, square = z @ theta, z @ z
            if m >= 1.0:
                continue
            eta = 1.0 if m <= 0.0 else max(least, min((R**2 / 2.0 - m) / square, 1.0))
            theta, loss, M = theta + eta * z, loss + eta * hinge(z @ u), M + (m <= 0.0)
            if m > 0.0:
                D, rest = D + (eta**2 * square + 2.0 * eta * m) / R**2 - eta, rest + eta
        S = np.linalg.norm(u) * R
        sides.append((M, loss + S**2 / 2.0 + S * np.sqrt(max(S**2 / 4.0 + loss + D, 0.0)) - rest))
    return tuple(sides)


def pa_one(Z, u):
    """Return how far the steps of the aggressive Perceptron with R = √2 are from PA-I's, C = 1: in all rounds, and without
    a mistake."""
    course = followed(PNormPerceptron(2.0, aggressive=True, radius=2.0**0.5, **NO), Z)
    taken, lengths = np.linalg.norm(np.diff(course.weights, axis=0), axis=1), np.linalg.norm(Z, axis=1)
    off = np.abs(taken / lengths - np.minimum(1.0, hinge(course.margins) / lengths**2))
    return (off.max(), 0.0), ((off * (course.margins > 0.0)).max(), 0.0)


def updates(Z, u, r=4.0):
    """Return the rounds in which AROW does not do what m_t <= 1 says, m_t = y x'A_{t-1}^-1 θ_{t-1}; mended: m_t < r."""
    course = followed(AROWClassifier(r, covariance="full", **NO), Z)
    m = r * course.margins  # (θ is r times Σ^-1 w)
    return tuple((float(np.sum(one != course.updated)), 0.0) for one in (m <= 1.0, m < r))


class Shifted(SquaredNorm):
    """f(w) = ||w||²/2 - c.w:  f(0) = 0, its least value -||c||²/2."""

    def begin(self, d):
        self.c = np.ones(d)
        return self

    def value(self, u):
        return float(u @ u / 2.0 - self.c @ u)

    def conjugate(self, theta):
        return float((theta + self.c) @ (theta + self.c)) / 2.0

    def weights(self, theta):
        return theta + self.c


def lemma(Z, u):
    """Both sides of Lemma 1, λ = 1, for a constant f with f(0) = 0, and for f less its least value."""
    learner = PotentialLearner(Z.shape[1], Shifted(), LOSSES["hinge"])
    for z in Z:
        learner.step(z, 1.0)
    paid, allowed = learner.lemma_1(u)
    return (paid, allowed), (paid, allowed + Z.shape[1] / 2.0)


# --- streams -------------------------------------------------------------------------------------------------------------------


def one_row_again():
    """Yield streams of n times the same row (s, 0), n rising, with ε and u."""
    for n, s, spare, share in product(range(1, 41), (2.0,), (0.3, 0.5, 0.7), (0.55, 0.6, 0.7)):
        yield np.array([[s, 0.0]] * n), np.array([share, 1.0 - share]), s - 1.0 + spare


def around(rng):
    """Return rows beyond a corner of the simplex, weights near it, and an ε that is larger than their distance."""
    d, n = rng.integers(2, 12), rng.integers(10, 120)
    u = rng.dirichlet(np.full(d, 0.2))
    few = np.maximum(0.0, rng.uniform(1.0, 2.5) * u + 0.05 * rng.standard_normal((rng.integers(1, 3), d)))
    return few[rng.integers(0, len(few), n)], u, np.linalg.norm(few - u, axis=1).max() + rng.uniform(0.1, 0.6)


def noise(rng):
    """Return rows whose labels nobody can learn, and weights that are 0 or small."""
    Z, u = separated(rng)
    return Z * rng.choice([-1.0, 1.0], (len(Z), 1)), u * rng.choice([0.0, 0.1])


def within(radius):
    """Return streams of `separated` whose longest row has this length."""

    def draw(rng):
        Z, u = separated(rng)
        size = radius / np.linalg.norm(Z, axis=1).max()
        return Z * size, u / size

    return draw


def advice(rng):
    """Return what experts say, 1 or -1, the best of whom is right more often, and numbers."""
    T, d = rng.integers(1, 12), rng.integers(2, 6)
    y = rng.choice([-1.0, 1.0], T)
    return np.where(rng.random((T, d)) < np.append(rng.choice([0.0, 0.3]), np.full(d - 1, 0.5)), -1.0, 1.0) * y[:, None], y


def told(names, stream):
    """Write a stream of few rows in words; a part whose name is empty plays no role."""
    words = []
    for name, part in zip(names, stream, strict=True):
        some = np.asarray(part)
        if some.ndim == 2 and len(some) > 4:
            words.append(f"{len(some)} times the row ({', '.join(f'{x:g}' for x in some[0])})")
        elif name:
            inner = [f"({', '.join(f'{x:g}' for x in row)})" for row in some.reshape(-1, some.shape[-1] if some.ndim else 1)]
            words.append(f"{name} {', '.join(inner)}")
    return "; ".join(words)


U1, U2 = [(x,) for x in (1.0, 0.5, 2.0, -1.0)], [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]
CLASSES = [(np.array([1.0]), np.array([[float(s)], [0.0]])) for s in (0, 1, 2)]
ONE_SAYS = [(np.array([[1.0, -1.0]] * T), np.array(y)) for T in (1, 2) for y in product((1.0, -1.0), repeat=T)]
#: The mended form, (left, right) of both forms, small streams, and a function that draws one, by the statement's number
STATEMENTS = {
    "PA Theorem 4 (one class)": ("15/16 Σ l² + (ε - ε') Σ l on the left", uniclass, one_row_again(), around),
    "Tutorial II: sufficient increase": ("l L-Lipschitz by ||.||", increase, of_rows(PLANE, U2[:1]), separated),
    "Tutorial II: theorem": ("l L-Lipschitz by ||.||", regret, of_rows(PLANE, U2), noise),
    "Tutorial II: corollary (entropic)": (
        "3/2 L √(T log d); with σ = L √(T/(2 log d)), √2 L √(T log d)", experts, ONE_SAYS, advice),
    "Tutorial III: FoReL": ("the dual that it reaches, and so its bound", leader, of_rows(LINE, U1[:1]), separated),
    "Tutorial III: Perceptron's Δ": (
        "α (1 - y w.x) - α² ||x||²/(2σ), as on other slides", rise, of_rows(LINE, U1[:1]), separated),
    "Tutorial IV: loss": ("at least 0, that is the hinge", several, CLASSES,
                          lambda rng: (rng.standard_normal(3), rng.choice([0.3, 1.0, 3.0]) * rng.standard_normal((4, 3)))),
    "NAROW Lemma 1": ("the least value of f_0 is 0", lemma, of_rows(LINE, U1), separated),
    "NAROW 4.1: η": ("η at least 0", steps, of_rows([(-0.375, 0.5), (0.5, 0.375), (0.25, 0.5)], [(0.3125, 2.25)]), within(0.625)),
    "NAROW 4.1: PA-I": ("in the rounds without a mistake; in others its step is 1", pa_one,
                        of_rows([(1.0,), (1.25,)], U1[:1]), within(2.0**0.5)),
    "NAROW 4.2: AROW": ("m_t < r: AROW's weights are A^-1 θ/r", updates, of_rows([(1.0,), (2.0,)], U1[:1]), separated),
    "NAROW section 5": ("a plus before the last term, as in 4.2", narow, of_rows(LINE, U1), separated),
}
NAMES = {uniclass: ("rows", "u", "ε"), experts: ("advice", "y"), several: ("row", "weights of the classes"),
         **dict.fromkeys((increase, rise, leader, pa_one, updates), ("rows", ""))}
NORMS = "f = ||w||²/2 is 1-strongly convex by ||.||_inf, and L = max |x| is by its dual, ||.||_1"
WAYS = {  # why the smallest stream breaks it, by hand
    "Tutorial II: sufficient increase": NORMS,
    "Tutorial II: theorem": NORMS,
    "Tutorial II: corollary (entropic)": "the first prediction is 0, its loss 1, that of one expert 0",
    "Tutorial III: FoReL": "PA's weights are 1, 1.5, FoReL's 1, 1",
    "Tutorial III: Perceptron's Δ": "w = 1, m = -1: Δ is 1.5; its conclusion, Δ >= 1 - 1/(2σ) for a mistake, stands",
    "NAROW Lemma 1": "f(w) = ||w||²/2 - w_1 - ... - w_d, whose least value is -d/2; no row changes w = 1",
    "NAROW 4.1: η": "R = 5/8; the third step is -7/8, and the root has -0.1086 in it, read as 0",
    "NAROW 4.2: AROW": "r = 4; before the second row θ = 1, A = 5/4",
    "NAROW section 5": "b = 1; bχ <= 1 in both rows, so that Σ = I and the last term is 2bm",
}


def drawn_in_print():
    """Draw both forms along three streams."""
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    n, d = 40, 12
    again, share = np.array([[2.0] + [0.0] * (d - 1)] * 100), np.array([0.7] + [0.3 / (d - 1)] * (d - 1))
    crowd, y = np.array([[1.0, -1.0]] * n), np.where(np.arange(n) % 4 == 3, -1.0, 1.0)
    for ax, name, sides, streams in zip(axes, ("NAROW section 5", "PA Theorem 4, one class", "tutorial, entropic"),
                                        (narow, uniclass, experts),
                                        ([(np.full((t, 1), 0.1), np.array([10.0])) for t in range(1, n)],
                                         [(again[:t], share, 1.5) for t in range(1, 100)],
                                         [(crowd[:t], y[:t]) for t in range(1, n)]), strict=True):
        printed, mended = np.array([sides(*stream) for stream in streams]).transpose(1, 2, 0)
        ax.plot(printed[0], label="paid")
        ax.plot(printed[1], "--", label="allowed, as printed")
        if not np.array_equal(printed, mended):
            ax.plot(mended[1] * printed[0] / np.maximum(mended[0], 1e-300), ":", label="allowed, mended (for the same paid)")
        ax.set(title=name, xlabel="rows")
        ax.grid(alpha=0.3)
        ax.legend()
    picture(figure, "printed")


def readings(number):
    """Return both readings of a statement, and their numbers."""
    mended, sides, small, draw = STATEMENTS[number]
    rng = np.random.default_rng(0)
    found = [sides(*draw(rng)) for _ in range(RANDOM)]
    refuted, wrong = (sum(broken(*one[form]) for one in found) for form in (0, 1))
    stream = next((one for one in small if broken(*sides(*one)[0])), None)
    if stream is None:
        sys.exit(f"{number}: no small stream breaks what is printed")
    (left, right), (own, most) = sides(*stream)
    how = f" ({WAYS[number]})" if number in WAYS else ""
    first, second = (f"{paid:.4g} <= {allowed:.4g}" if right else f"off by {max(paid, 0.0):.2g}"
                     for paid, allowed in ((left, right), (own, most)))
    rows, held = told(NAMES.get(sides, ("rows", "u")), stream), not wrong and not broken(own, most)
    return [reading("as printed", f"{rows}: {first}{how}; false in {refuted} of {RANDOM:,} random streams", False),
            reading(f"mended: {mended}", f"there {second}; false in {wrong} of {RANDOM:,}", held)]
