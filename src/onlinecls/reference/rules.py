"""The papers' rules, as functions from the statistics of a row (`Stats`) to a step (`Step`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple


class Stats(NamedTuple):
    """Statistics of a row z = y x (regression: sgn(y - w.x) x; several classes: the difference of two blocks).

    margin : m = w.z (regression: epsilon - |y - w.x|); of a `PotentialLearner`, m' of weights that have seen the row.
    loss : max(0, 1 - margin) (regression: max(0, -margin)).
    q : ||z||². v : z'Σz before the row, 0 where there is no Σ. weight : the row's c > 0.
    shift : what the weight of the row's class adds to the wanted margin; m has it subtracted.
    """

    margin: float
    loss: float
    q: float
    v: float = 0.0
    weight: float = 1.0
    shift: float = 0.0


class Step(NamedTuple):
    """w += tau z (additive), or w += tau Σz and Σ^-1 += beta z z' (gaussian)."""

    tau: float = 0.0
    beta: float = 0.0


REST = Step()
quantile = NormalDist().inv_cdf  # phi = Φ^-1(eta)


class Rule(NamedTuple):
    """A rule with its geometry. least : the least variance in the diagonal form, as a share of the initial one."""

    step: Callable[..., Step]
    geometry: str = "additive"
    least: float = 0.0


def perceptron(s: Stats, eta0: float = 1.0) -> Step:
    """Step if m <= 0:  w += eta c z.  Tutorial III; NAROW 2."""
    return Step(eta0 * s.weight) if s.margin <= 0.0 else REST


def aggressive_perceptron(s: Stats, eta0: float = 1.0) -> Step:
    """Step if m < 1:  w += eta c z.  Tutorial III, DA1."""
    return Step(eta0 * s.weight) if s.loss > 0.0 else REST


def pa1(s: Stats, C: float = 1.0) -> Step:
    """Step by PA-I:  tau = min(C c, l / ||z||²).  Tutorial III; NAROW 4.1.  C = inf is PA (Crammer et al., NIPS 2003, 3)."""
    return Step(min(C * s.weight, s.loss / s.q)) if s.loss > 0.0 else REST


def pa2(s: Stats, C: float = 1.0) -> Step:
    """Step by PA-II:  tau = l / (||z||² + 1/(2Cc)).  Crammer et al. (NIPS 2003), 5, whose gamma is 1/(2C)."""
    return Step(s.loss / (s.q + 1.0 / (2.0 * C * s.weight))) if s.loss > 0.0 else REST


def least_squares(s: Stats, r: float = 1.0, r1: float | None = None, r2: float | None = None) -> Step:
    """Step on every row:  w += l / (v + r1/c) Σz,  Σ^-1 += c z z'/r2.  Recursive least squares; AROW (NIPS 2009), 7.

    r1 = 1/(2 lambda_1) and r2 = 1/(2 lambda_2) of eq. 1; both are r unless given.
    """
    return Step(s.loss / (s.v + (r if r1 is None else r1) / s.weight), s.weight / (r if r2 is None else r2))


def arow(s: Stats, r: float = 1.0, r1: float | None = None, r2: float | None = None) -> Step:
    """Step if m < 1:  w += l / (v + r1/c) Σz,  Σ^-1 += c z z'/r2.  Crammer, Kulesza, Dredze (NIPS 2009), eqs 7-9."""
    return least_squares(s, r, r1, r2) if s.loss > 0.0 else REST


def stdev_alpha(m: float, v: float, phi: float) -> float:
    """Return alpha = (-m psi + √(m² phi⁴/4 + v phi² zeta)) / (v zeta),  psi = 1 + phi²/2,  zeta = 1 + phi²."""
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    return (-m * psi + sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)


def stdev_step(alpha: float, v: float, phi: float) -> Step:
    """Step by w += alpha Σz,  Σ^-1 += (alpha phi/√u) z z',  √u = (-g + √(g² + 4v)) / 2,  g = alpha v phi.

    The printed form of √u cancels to 0 when v << g²; the code computes the same number without cancellation.
    """
    if not alpha > 0.0:
        return REST
    g = alpha * v * phi
    return Step(alpha, alpha * phi / (2 * v / (g + sqrt(g**2 + 4 * v))))


def held_back(step: Step, c: float) -> Step:
    """Scale step and precision by min(1, c): a hard constraint is already met, so that a weight above 1 changes nothing."""
    return Step(min(1.0, c) * step.tau, min(1.0, c) * step.beta)


def moves_the_mean_alone(rule: Callable[..., Step]) -> Callable[..., Step]:
    """Let Σ narrow as without the shift of a class's margin, which moves the mean alone."""

    @wraps(rule)
    def step(s: Stats, **params: float) -> Step:
        return Step(rule(s, **params).tau, rule(s._replace(margin=s.margin + s.shift), **params).beta)

    return step


@moves_the_mean_alone
def cw_stdev(s: Stats, eta: float) -> Step:
    """Step by CW, standard deviation form.  Crammer, Dredze, Pereira (NIPS 2008): exact convex confidence-weighted learning."""
    phi = quantile(eta)
    return held_back(stdev_step(stdev_alpha(s.margin, s.v, phi), s.v, phi), s.weight) if s.v > 0.0 else REST


@moves_the_mean_alone
def cw_variance(s: Stats, eta: float) -> Step:
    """Step by CW, variance form.  Dredze, Crammer, Pereira (ICML 2008): confidence-weighted linear classification."""
    if not s.v > 0.0:
        return REST
    phi = quantile(eta)
    b = 1 + 2 * phi * s.margin
    alpha = (-b + sqrt(b**2 - 8 * phi * (s.margin - phi * s.v))) / (4 * phi * s.v)
    return held_back(Step(alpha, 2 * alpha * phi), s.weight) if alpha > 0.0 else REST


@moves_the_mean_alone
def scw1(s: Stats, eta: float, C: float = 1.0) -> Step:
    """Step by SCW-I:  CW's alpha, at most C c.  Wang, Zhao, Hoi (ICML 2012), proposition 1."""
    phi = quantile(eta)
    if not phi * sqrt(s.v) > s.margin:
        return REST
    return stdev_step(min(C * s.weight, stdev_alpha(s.margin, s.v, phi)), s.v, phi)


@moves_the_mean_alone
def scw2(s: Stats, eta: float, C: float = 1.0) -> Step:
    """Step by SCW-II, with a squared penalty.  Proposition 2 (LIBOL has n * 2 where n² is meant)."""
    m, v, phi = s.margin, s.v, quantile(eta)
    if not phi * sqrt(v) > m:
        return REST
    n = v + 1 / (2 * C * s.weight)
    gamma = phi * sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
    return stdev_step((-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2)), v, phi)


#: The rules, by the names of their algorithms in the registry.
RULES = {
    "perceptron": Rule(perceptron), "aggressive_perceptron": Rule(aggressive_perceptron),
    "pa1": Rule(pa1), "pa2": Rule(pa2), "pa1_regression": Rule(pa1), "pa2_regression": Rule(pa2),
    "arow": Rule(arow, "gaussian"), "arow_regression": Rule(least_squares, "gaussian"),
    "cw_stdev": Rule(cw_stdev, "gaussian", least=1e-4), "cw_variance": Rule(cw_variance, "gaussian"),
    "scw1": Rule(scw1, "gaussian"), "scw2": Rule(scw2, "gaussian"),
}
