"""Learners in R^d that increase the margin m = w.z of signed examples z = y x, and a model of several classes made of them.

Signed examples, and what a learner keeps, are arrays of float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, TypeAlias

import numpy as np

from .rules import Stats, Step

State: TypeAlias = dict[str, tuple[Any, Any]]


def blocks(Sigma: np.ndarray, z: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield each full block of Sigma, (d, d) or k of them one below the other, with its part of z."""
    d = Sigma.shape[1]
    return zip(Sigma.reshape(-1, d, d), z.reshape(-1, d), strict=True)


def times(Sigma: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return Σz."""
    return Sigma * z if Sigma.ndim == 1 else np.concatenate([S @ x for S, x in blocks(Sigma, z)])


def add_precision(Sigma: np.ndarray, beta: float, z: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Return Σ after Σ^-1 += beta z z', in diagonal form (variances at least `floor`), or in full form on each class's block."""
    if Sigma.ndim == 1:
        return np.maximum(Sigma / (1 + beta * z**2 * Sigma), floor)
    added = lambda S, x: np.linalg.inv(np.linalg.inv(S) + beta * np.outer(x, x)) if x.any() else S  # noqa: E731
    return np.concatenate([added(S, x) for S, x in blocks(Sigma, z)])


def changed(one: Any, **arrays: Any) -> Any:
    """Return a copy of a learner or function with other arrays."""
    found = copy(one)
    for name, value in arrays.items():
        setattr(found, name, value)
    return found


class Learner:
    """Base of all learners.

    state : the arrays of the state, with their factors for the (smaller, larger) label when a third class splits them.
    offset : what the weight of the row's class adds to the wanted margin, (rho - 1) times the margin (docs/which_learner.md).
    """

    state: ClassVar[State] = {"w": (-1 / 2, 1 / 2)}
    Sigma: Any = None
    w: Any
    offset: float = 0.0
    joins_as_none: ClassVar[bool] = False  # see `Model.none`

    def __init__(self, d: int) -> None:
        self.d, self.t = d, 0  # rows consumed so far, counted by the caller
        for name in self.state:
            setattr(self, name, np.zeros(d))

    def step(self, z: Any, c: float = 1.0, *target: float) -> bool:
        """Learn from z with weight c > 0.  True when the model changed; a zero row never changes it.  target : y, epsilon."""
        z = np.asarray(z, dtype=np.float64)
        self.forget()
        return bool(np.any(z)) and self.update(z, c, *target)

    def step_towards(self, x: Any, y: float, c: float = 1.0, epsilon: float = 0.0) -> bool:
        """Learn the target y of x, where errors up to epsilon have no loss."""
        return self.step(x, c, y, epsilon)

    def forget(self) -> None:
        """Forget what a row, whichever it is, lets this learner forget."""

    def update(self, z: np.ndarray, c: float, y: float | None = None, epsilon: float = 0.0) -> bool:
        """Learn the signed example z != 0, or the target y of z.  True when the model changed."""
        raise NotImplementedError

    def split(self, multi_class: str) -> State:
        """Return the factors by which the state splits, so that w becomes -w/2 and w/2."""
        return self.state


class Additive(Learner):
    """w += tau z, for a rule Stats -> Step. `params` are passed to the rule; the loss of classes is 0 from `margin` on."""

    largest: float = float(np.finfo(np.float64).max / 4)  # steps with larger scalars are skipped
    floor: float = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)  # of variances
    joins_as_none = True

    def __init__(self, d: int, rule: Callable[..., Step], margin: float = 1.0, **params: Any) -> None:
        super().__init__(d)
        self.rule, self.wanted, self.params = rule, margin, params

    def update(self, z: np.ndarray, c: float, y: float | None = None, epsilon: float = 0.0) -> bool:
        """Take the rule's step for z; for a target, sgn(y - w.z) z is the signed example, its margin epsilon - |y - w.z|."""
        margin, wanted = float(self.w @ z) - self.offset, self.wanted
        if y is not None:
            error = y - float(self.w @ z)
            z, margin, wanted = z if error >= 0.0 else -z, epsilon - abs(error), 0.0
        along = z if self.Sigma is None else times(self.Sigma, z)
        v = 0.0 if self.Sigma is None else float(z @ along)
        step = self.rule(Stats(margin, max(0.0, wanted - margin), float(z @ z), v, c, self.offset), **self.params)
        if step == (0.0, 0.0) or not max(step.tau, step.beta, step.beta * float(np.max(z**2))) <= self.largest:
            return False
        self.w = self.w + step.tau * along
        if self.Sigma is not None:
            self.Sigma = add_precision(self.Sigma, step.beta, z, self.floor)
        return True


class Gaussian(Additive):
    """w += tau Σz, Σ^-1 += beta z z', Σ (d,) when diagonal, (d, d) when full, at the start initial_variance times the identity.

    Where variances fall to 0 geometrically (CW on noisy labels), those of the diagonal stay at or above `floor`, and at or above
    `least` times the initial variance.
    forgetting : before each row Σ <- D Σ D, D diagonal, D_jj = 1/√(1 - forgetting), or less if Σ_jj would exceed its
    initial value.
    """

    state: ClassVar[State] = {"w": (-1 / 2, 1 / 2), "Sigma": (1 / 2, 1 / 2)}

    def __init__(
        self, d: int, rule: Callable[..., Step], covariance: str = "diagonal", initial_variance: float = 1.0,
        forgetting: float = 0.0, least: float = 0.0, **params: Any,
    ) -> None:
        super().__init__(d, rule, **params)
        self.variance, self.forgetting, self.floor = initial_variance, forgetting, max(self.floor, least * initial_variance)
        self.Sigma = initial_variance * (np.eye(d) if covariance == "full" else np.ones(d))

    def forget(self) -> None:
        """Widen Σ once, by `forgetting`, to at most its initial variances."""
        grown = self.Sigma / (1.0 - self.forgetting)
        if grown.ndim == 1:
            self.Sigma = np.minimum(grown, self.variance)
            return
        for S, _ in blocks(grown, np.zeros(len(grown))):  # (views)
            shares = np.minimum(np.sqrt(self.variance / np.diag(S)), 1.0)
            S *= np.outer(shares, shares)
        self.Sigma = grown


class MatrixAdaGrad(Learner):
    """AdaGrad on the hinge loss with the full matrix G = Σ gg', g = -c z where m < 1. Duchi, Hazan, Singer (COLT 2010).

    Mirror descent: w -= eta0 (delta I + G^(1/2))^-1 g. Each class has its own matrix.
    """

    state: ClassVar[State] = {"w": (-1 / 2, 1 / 2), "G": (1, 1)}

    def __init__(self, d: int, eta0: float, delta: float) -> None:
        super().__init__(d)
        self.eta0, self.delta, self.G = eta0, delta, np.zeros((d, d))

    def update(self, z: np.ndarray, c: float, y: float | None = None, epsilon: float = 0.0) -> bool:
        if float(self.w @ z) >= 1.0:
            return False
        self.G = np.concatenate([S + np.outer(part, part) for S, part in blocks(self.G, c * z)])
        self.descend(c * z)
        return True

    def descend(self, z: np.ndarray) -> None:
        """Move w along z = -g."""
        self.w = self.w + self.scaled(z)

    def scaled(self, a: np.ndarray) -> np.ndarray:
        """Compute eta0 (delta I + G^(1/2))^-1 a."""
        found = []
        for S, x in blocks(self.G, a):
            squares, axes = np.linalg.eigh(S)
            found.append(axes @ (axes.T @ x / (self.delta + np.sqrt(np.maximum(squares, 0.0)))))
        return self.eta0 * np.concatenate(found)


class DualMatrixAdaGrad(MatrixAdaGrad):
    """Dual averaging: w = eta0 (delta I + G^(1/2))^-1 z, z the sum of all -g."""

    state: ClassVar[State] = {"z": (-1 / 2, 1 / 2), "G": (1, 1)}
    z: Any

    @property
    def w(self) -> np.ndarray:
        """The weights of the next round."""
        return self.scaled(self.z)

    def descend(self, z: np.ndarray) -> None:
        self.z = self.z + z


GEOMETRIES: dict[str, type[Additive]] = {"additive": Additive, "gaussian": Gaussian}


class Model:
    """k classes, coded 0..k-1 in the order of their labels: one vector for k <= 2, one a class from k = 3 on.

    make : d -> Learner.  Binary is one learner on z = y x, one against the rest one a class.  Crammer-Singer is one in R^(k d) on
    z = phi(x, y) - phi(x, r), where phi(x, y) puts x in block y and r is the top wrong class: ||z||² = 2||x||² and v = v_y + v_r
    need no extra code.

    none : "none of these", one against the rest: the negative of every row since the third class, of which later ones are copies.
    """

    def __init__(self, make: Callable[[int], Any], d: int, k: int, multi_class: str = "crammer_singer") -> None:
        self.make, self.d, self.k, self.multi_class, self.none = make, d, k, multi_class, None
        self.t = self.n_mistakes = self.n_updates = 0
        self.learners = self.arranged([make(d) for _ in range(k if k > 2 else 1)])

    def arranged(self, learners: list[Any]) -> list[Any]:
        """Return learners of a vector each as they learn: those of Crammer-Singer as one, its arrays one below the other."""
        if len(learners) == 1 or self.multi_class == "ovr":
            return learners
        arrays = {name: np.concatenate([getattr(each, name) for each in learners]) for name in learners[0].state}
        return [changed(learners[0], d=self.d * len(learners), **arrays)]

    def parts(self) -> list[Any]:
        """Return the learners of a vector each."""
        return [
            changed(each, d=self.d, **{name: np.split(getattr(each, name), each.d // self.d)[j] for name in each.state})
            for each in self.learners for j in range(each.d // self.d)]

    def everyone(self) -> list[Any]:
        """Return all learners, `none` among them."""
        return [*self.learners, self.none] if self.none else self.learners

    @property
    def W(self) -> np.ndarray:
        """Weights of shape (k, d); k = 1 when one vector serves both classes."""
        return np.concatenate([learner.w for learner in self.learners]).reshape(-1, self.d)

    @property
    def Sigma(self) -> np.ndarray | None:
        """Covariances of shape (k, d), or (k, d, d) if full, or None."""
        found = [learner.Sigma for learner in self.learners]
        return None if found[0] is None else np.concatenate(found).reshape(-1, *[self.d] * found[0].ndim)

    def predict(self, x: np.ndarray) -> int:
        """Return the code of the class of the highest score, the first of equals; of two classes, with one score, 1 above 0."""
        scores = self.W @ x
        return int(np.argmax(scores) if self.k > 2 else self.k > 1 and scores[0] > 0.0)

    def consume(self, x: np.ndarray, y: int, c: float, known: bool = True, offset: float = 0.0) -> None:
        """Run one round: predict, learn, count.  A label that was never seen counts as a mistake.  offset : see `Learner`."""
        for learner in self.everyone():
            learner.offset = offset
        self.n_mistakes += not known or self.predict(x) != y
        self.n_updates += self.learn(x, y, c)
        self.t += 1
        for learner in self.everyone():
            learner.t = self.t

    def learn(self, x: np.ndarray, y: int, c: float) -> bool:
        """Learn a row of class y, by one learner for two classes, one a class, or jointly.  True when the model changed."""
        if self.k <= 2:
            return self.k == 2 and self.learners[0].step(x if y == 1 else -x, c)
        if self.multi_class == "ovr":
            return any([learner.step(x if j == y else -x, c) for j, learner in enumerate(self.everyone())])
        z, others = np.zeros((self.k, self.d)), np.where(np.arange(self.k) == y, -np.inf, self.W @ x)
        z[y], z[others.argmax()] = x, -x
        return self.learners[0].step(z.ravel(), c)

    def add_class(self, at: int) -> None:
        """Add a class with code `at`.  The second starts learning, the third splits the vector; new ones are `none`, or 0."""
        if self.k >= 2:
            parts = [self.side(0), self.side(1)] if self.k == 2 else self.parts()
            newcomer = self.make(self.d)
            newcomer.t = self.t
            if self.multi_class == "ovr" and newcomer.joins_as_none:
                self.none = self.none or newcomer
                newcomer = copy(self.none)
            parts.insert(at, newcomer)
            self.learners = self.arranged(parts)
        self.k += 1

    def side(self, code: int) -> Any:
        """Return the learner of two classes as that of the smaller (code 0) or larger (1) label alone."""
        (both,) = self.learners
        part = changed(both, **{name: of[code] * getattr(both, name) for name, of in both.split(self.multi_class).items()})
        if isinstance(part, Gaussian) and part.Sigma.ndim == 1:
            part.Sigma = np.maximum(part.Sigma, part.floor)
        return part
