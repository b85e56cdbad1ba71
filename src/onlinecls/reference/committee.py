"""A committee in plain NumPy: the combiner of learners' scores, and learners combined.

>>> from onlinecls.reference import RULES, Additive, Combiner, Committee, Gaussian, Model
>>> makes = [lambda d: Gaussian(d, RULES["arow"].step, r=0.1), lambda d: Additive(d, RULES["pa1"].step, C=0.1)]
>>> committee = Committee([Model(make, 2, 2) for make in makes], Combiner(2))
>>> for x, y in [([1.0, 0.0], 1), ([1.0, 1.0], 0), ([1.0, 0.0], 1)]:
...     committee.consume(x, y)
>>> committee.combiner.w.round(6).tolist(), committee.n_mistakes
([0.631091, 0.238802], 2)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .learners import Level

if TYPE_CHECKING:
    from .learners import Model

RARE = 0.1  # rarity from which on Fisher's weights have no part


@dataclass(eq=False, repr=False)
class Combiner:
    """The weights w of K scores: of AROW with a full covariance over them and of the members ("arow"), or exponential ("hedge").

    r : noise variance of a row. forgetting : before each row Σ <- Σ/(1 - forgetting), scaled back where its trace passes K.
    share : of "hedge", divided equally among the members after each round. L : losses of the members; of "arow" also that of a.
    paid : with "hedge", the sum over rounds of the members' losses averaged by the weights. heaviest : the largest c so far.
    n, mu, S : of "arow" and two classes, the rows of each since one is rare, their mean scores, and the scatter about these.
    v : Fisher's weights, not below 0.

    See Also
    --------
    Committee, NumberCommittee : Members of which it weights the scores.
    """

    k: int
    combine: str = "arow"
    r: float = 1.0
    forgetting: float = 0.01
    share: float = 0.0
    a: np.ndarray = field(init=False)
    w: np.ndarray = field(init=False)
    Sigma: np.ndarray = field(init=False)
    L: np.ndarray = field(init=False)
    n: np.ndarray = field(init=False)
    mu: np.ndarray = field(init=False)
    S: np.ndarray = field(init=False)
    v: np.ndarray = field(init=False)
    paid: float = field(init=False)
    heaviest: float = field(init=False)
    t: int = field(init=False)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start with equal weights, nothing lost."""
        self.a = self.w = self.v = np.full(self.k, 1.0 / self.k)
        self.n, self.mu, self.S = np.zeros(2), np.zeros((2, self.k)), np.zeros((self.k, self.k))
        self.Sigma, self.L = np.eye(self.k), np.zeros(self.k + (self.combine == "arow"))
        self.paid, self.heaviest, self.t = 0.0, 0.0, 0

    def learn_label(
        self, z: np.ndarray, y: float, margins: np.ndarray, rarity: float = 1.0, c: float = 1.0, offset: float = 0.0,
        own: float | None = None, of_two: bool = False,
    ) -> None:
        """Learn that y a.z should be rho = 1 + offset, with the row's own weight, that of its class left out (None: c).

        margins : of each member, whose mistakes weigh c rho. rarity : classes times the share of the rarest in the rows.
        of_two : True if y is the sign of one of two classes, and z the members' scores.
        """
        cost, own = c * (1.0 + offset), c if own is None else own
        self.t, self.heaviest = self.t + 1, max(self.heaviest, cost)
        if self.combine == "hedge":
            self.pay(np.clip(1.0 - margins, 0.0, 1.0), c)
        elif z.any():
            margin = y * (self.a @ z)
            self.L = self.L + cost * (np.append(margins, margin) <= 0.0)
            if of_two and rarity < RARE:
                self.separate(z, int(y > 0.0), own, rarity)
            self.grow(self.forgetting * rarity)
            if margin < 1.0 + offset:
                self.step(z, y * (1.0 - margin + offset), own)
            first = np.append(np.ones(self.k), self.k)  # half of the committee is a
            p = self.exponential(first, self.L / self.heaviest)
            self.w = p[:-1] + p[-1] * self.a
            if of_two and rarity < RARE and self.v.any():
                rest = max(0.0, 2.0 * rarity / RARE - 1.0)
                self.w = rest * self.w + (1.0 - rest) * self.v / self.v.sum()

    def learn_number(self, z: np.ndarray, y: float, c: float = 1.0) -> None:
        """Learn that a.z should be y, both in units of y."""
        self.t += 1
        if self.combine == "hedge":
            self.pay(np.minimum(np.abs(y - z), 1.0), c)
        elif z.any():
            error = y - self.a @ z
            self.grow(self.forgetting)
            self.step(z, error, c)
            self.w = self.a

    def separate(self, z: np.ndarray, label: int, c: float, rarity: float) -> None:
        """Move v >= 0 towards the maximum of N v.(mu_1 - mu_0) - v'(S + rI)v / 2: once along each axis, if the class is rarer."""
        self.n, self.S = self.n * (1.0 - self.forgetting * rarity), self.S * (1.0 - self.forgetting * rarity)
        self.n[label] += c
        gain, d = c / self.n[label], z - self.mu[label]
        self.mu[label] += gain * d
        self.S = self.S + c * (1.0 - gain) * np.outer(d, d)
        if self.n[label] <= self.n[1 - label]:
            self.v = self.v.copy()
            for j in range(self.k):
                others = self.S[j] @ self.v - self.S[j, j] * self.v[j]
                self.v[j] = max(0.0, self.n.sum() * (self.mu[1, j] - self.mu[0, j]) - others) / (self.S[j, j] + self.r)

    def grow(self, rate: float) -> None:
        """Forget at this rate: Σ <- Σ/(1 - rate), scaled back where its trace passes K."""
        self.Sigma = self.Sigma / (1.0 - rate)
        self.Sigma = self.Sigma * min(1.0, self.k / np.trace(self.Sigma))

    def step(self, z: np.ndarray, amount: float, c: float) -> None:
        """Move a by amount times the gain Σz / (z'Σz + r/c), and narrow Σ, as AROW does."""
        u = self.Sigma @ z
        beta = 1.0 / (z @ u + self.r / c)
        self.a = self.a + amount * beta * u
        self.Sigma = self.Sigma - beta * np.outer(u, u)

    def rate(self, n: int, t: int) -> float:
        """Return Hedge's rate √(8 log(n)/t)."""
        return float(np.sqrt(8.0 * np.log(n) / t))

    def exponential(self, first: np.ndarray, L: np.ndarray) -> np.ndarray:
        """Return weights that sum to 1, proportional to first times e^(-rate L)."""
        weights = first * np.exp(-self.rate(len(L), self.t + 1) * (L - L.min()))
        return weights / weights.sum()

    def pay(self, losses: np.ndarray, c: float) -> None:
        """Take the losses of the members, in [0, 1], of a row of weight c, and change the weights of "hedge"."""
        self.paid += c * float(self.a @ losses)
        self.L = self.L + c * losses
        if self.share > 0.0:
            v = self.a * np.exp(-self.rate(self.k, self.t) * c * losses)
            self.a = (1.0 - self.share) * v / v.sum() + self.share / self.k
        else:
            self.a = self.exponential(np.ones(self.k), self.L)
        self.w = self.a


@dataclass(eq=False, repr=False)
class Committee:
    """Models of k classes, whose scores a combiner weights. n_rows : of each class.

    See Also
    --------
    NumberCommittee : The same for numbers.
    onlinecls.CommitteeClassifier : The compiled committee.
    """

    members: list[Model]
    combiner: Combiner
    n_mistakes: int = field(default=0, init=False)
    n_rows: Counter[int] = field(default_factory=Counter, init=False)

    def consume(self, x: np.ndarray, y: int, c: float = 1.0, offset: float = 0.0, own: float | None = None) -> None:
        """Run one round: all members score the row, the combiner predicts and learns, then the members learn."""
        x = np.asarray(x, dtype=np.float64)
        by_member = np.stack([member.W @ x for member in self.members])
        scores, of_a = self.combiner.w @ by_member, self.combiner.a @ by_member
        self.n_rows[y] += 1
        rarity = len(self.n_rows) * min(self.n_rows.values()) / self.n_rows.total()
        if by_member.shape[1] == 1:
            sign = 2.0 * y - 1.0
            self.n_mistakes += bool((scores[0] > 0.0) != y)
            self.combiner.learn_label(by_member[:, 0], sign, sign * by_member[:, 0], rarity, c, offset, own, True)
        else:
            self.n_mistakes += bool(np.argmax(scores) != y)
            wrong = np.delete(np.arange(len(scores)), y)
            rival = wrong[np.argmax(of_a[wrong])]
            margins = by_member[:, y] - by_member[:, wrong].max(axis=1)
            self.combiner.learn_label(by_member[:, y] - by_member[:, rival], 1.0, margins, rarity, c, offset, own)
        for member in self.members:
            member.consume(x, y, c, offset=offset)


@dataclass(eq=False, repr=False)
class NumberCommittee:
    """Learners of numbers, whose predictions a combiner weights: deviations from the level of y, in units of the first 16 rows.

    Members learn y as it is. (A committee's AROW learns deviations from a level of its own.)

    See Also
    --------
    Committee : The same for labels.
    onlinecls.CommitteeRegressor : The compiled committee.
    """

    members: list[Any]
    combiner: Combiner
    level: Level = field(default_factory=Level)
    unit: float = field(default=1.0, init=False)
    kept: list[tuple[np.ndarray, float, float]] = field(default_factory=list, init=False)

    def consume(self, x: np.ndarray, y: float, c: float = 1.0) -> None:
        """Run one round: all members predict y, the combiner learns, then the members learn."""
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
