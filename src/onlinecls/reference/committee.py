"""A committee in plain NumPy: the combiner of learners' scores, and learners combined.

>>> from onlinecls.reference import RULES, Additive, Combiner, Committee, Gaussian, Model
>>> makes = [lambda d: Gaussian(d, RULES["arow"].step, r=0.1), lambda d: Additive(d, RULES["pa1"].step, C=0.1)]
>>> committee = Committee([Model(make, 2, 2) for make in makes], Combiner(2))
>>> for x, y in [([1.0, 0.0], 1), ([1.0, 1.0], 0), ([1.0, 0.0], 1)]:
...     committee.consume(x, y)
>>> committee.combiner.a.round(6).tolist(), committee.n_mistakes
([0.135435, 0.383849], 3)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .learners import Level

if TYPE_CHECKING:
    from .learners import Model


@dataclass(eq=False, repr=False)
class Combiner:
    """The weights a of K scores: AROW with a full covariance over them ("arow"), or exponential weights ("hedge").

    r : noise variance of a row. forgetting : before each row Σ <- Σ/(1 - forgetting), scaled back where its trace passes K.
    paid : with "hedge", the sum over rounds of the members' losses averaged by the weights.
    """

    k: int
    combine: str = "arow"
    r: float = 1.0
    forgetting: float = 0.01
    a: np.ndarray = field(init=False)
    Sigma: np.ndarray = field(init=False)
    L: np.ndarray = field(init=False)
    paid: float = field(init=False)
    t: int = field(init=False)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.a, self.Sigma, self.L, self.paid, self.t = np.full(self.k, 1.0 / self.k), np.eye(self.k), np.zeros(self.k), 0.0, 0

    def learn_margin(self, z: np.ndarray, y: float, losses: np.ndarray, c: float = 1.0) -> None:
        """Learn that y a.z should be 1. losses : of each member, in [0, 1]; "hedge" uses only these."""
        margin = y * (self.a @ z)
        if self.combine == "hedge":
            self.pay(losses, c)
        elif z.any():
            self.grow()
            if margin < 1.0:
                self.step(z, y * (1.0 - margin), c)

    def learn_number(self, z: np.ndarray, y: float, c: float = 1.0) -> None:
        """Learn that a.z should be y, both in units of y."""
        if self.combine == "hedge":
            self.pay(np.minimum(np.abs(y - z), 1.0), c)
        elif z.any():
            error = y - self.a @ z
            self.grow()
            self.step(z, error, c)

    def grow(self) -> None:
        self.Sigma = self.Sigma / (1.0 - self.forgetting)
        self.Sigma = self.Sigma * min(1.0, self.k / np.trace(self.Sigma))

    def step(self, z: np.ndarray, amount: float, c: float) -> None:
        u = self.Sigma @ z
        beta = 1.0 / (z @ u + self.r / c)
        self.a = self.a + amount * beta * u
        self.Sigma = self.Sigma - beta * np.outer(u, u)

    def pay(self, losses: np.ndarray, c: float) -> None:
        self.t += 1
        self.paid += c * float(self.a @ losses)
        self.L = self.L + c * losses
        weights = np.exp(-np.sqrt(8.0 * np.log(self.k) / (self.t + 1)) * (self.L - self.L.min()))
        self.a = weights / weights.sum()


@dataclass(eq=False, repr=False)
class Committee:
    """Models of k classes, whose scores a combiner weights."""

    members: list[Model]
    combiner: Combiner
    n_mistakes: int = field(default=0, init=False)

    def consume(self, x: np.ndarray, y: int, c: float = 1.0) -> None:
        """Run one round: all members score the row, the combiner predicts and learns, then the members learn."""
        x = np.asarray(x, dtype=np.float64)
        by_member = np.stack([member.W @ x for member in self.members])
        scores = self.combiner.a @ by_member
        if by_member.shape[1] == 1:
            sign = 2.0 * y - 1.0
            self.n_mistakes += bool((scores[0] > 0.0) != y)
            self.combiner.learn_margin(by_member[:, 0], sign, np.clip(1.0 - sign * by_member[:, 0], 0.0, 1.0), c)
        else:
            self.n_mistakes += bool(np.argmax(scores) != y)
            wrong = np.delete(np.arange(len(scores)), y)
            rival = wrong[np.argmax(scores[wrong])]
            own = by_member[:, y] - by_member[:, wrong].max(axis=1)
            self.combiner.learn_margin(by_member[:, y] - by_member[:, rival], 1.0, np.clip(1.0 - own, 0.0, 1.0), c)
        for member in self.members:
            member.consume(x, y, c)


@dataclass(eq=False, repr=False)
class NumberCommittee:
    """Learners of numbers, whose predictions a combiner weights: deviations from the level of y, in units of the first 16 rows.

    Members learn y as it is. (A committee's AROW learns deviations from a level of its own.)
    """

    members: list[Any]
    combiner: Combiner
    level: Level = field(default_factory=Level)
    unit: float = field(default=1.0, init=False)
    kept: list[tuple[np.ndarray, float, float]] = field(default_factory=list, init=False)

    def consume(self, x: np.ndarray, y: float, c: float = 1.0) -> None:
        dev = self.level.deviation(y, c)
        z = np.array([float(member.w @ x) for member in self.members]) - (y - dev)
        rows = [(z, dev, c)]
        if len(self.kept) < 16:
            self.kept.append((z, dev, c))
            sizes = sorted(abs(target) for _, target, _ in self.kept if target)
            unit = 2.0 ** np.floor(np.log2(sizes[(len(sizes) - 1) // 2]) + 0.5) if sizes else 1.0
            if unit != self.unit:
                self.unit, rows = unit, self.kept
                self.combiner.begin()
        for each, target, weight in rows:
            self.combiner.learn_number(each / self.unit, target / self.unit, weight)
        for member in self.members:
            member.step_towards(x, y, c)
