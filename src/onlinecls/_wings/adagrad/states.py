"""The model of AdaGrad with its full matrix: a matrix of products of gradients for each vector of weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._compiled import model
from ..._models.arrays import Array, as_theta
from ..._models.state import NO_ORDER, UNDERFLOW
from ..._models.states import AdditiveState

if TYPE_CHECKING:
    from ..._input.rows import Rows
    from ..._models.state import Shard

MOST_FEATURES = 500  # with the full matrix: more would take longer than 50 ms a row
NO_STEP: dict[str, Any] = {"rule": model.RULES["pa1"], "C": 0.0}  # a rule of the compiled loop whose steps are all 0


def scaled(G: np.ndarray, delta: float, a: np.ndarray) -> np.ndarray:
    """Return (δI + G^{1/2})^{-1} a.

    The result is a vector, so G's tridiagonal form is enough: Q'GQ = T = V diag(λ) V'. This takes less time than all eigenvectors
    of G, and signals are handled between its two halves.
    """
    from scipy.linalg import eigh_tridiagonal
    from scipy.linalg.lapack import dormqr, dsytrd, dsytrd_lwork

    live, n = np.diagonal(G) > 0.0, len(G)
    if not live.all():  # (weights of features never seen stay exactly 0)
        found = a / delta
        if live.any():
            found[live] = scaled(G[np.ix_(live, live)], delta, a[live])
        return found
    if n == 1:
        return a / (delta + np.sqrt(G[0]))
    largest = np.diagonal(G).max()
    size = 1.0 if largest < 1e150 else 2.0 ** (np.frexp(largest)[1] // 2)  # (LAPACK's products of G's entries would overflow)
    G = G if size == 1.0 else G / size / size
    reflectors, diagonal, below, tau, _ = dsytrd(G, lower=1, lwork=int(dsytrd_lwork(n, lower=1)[0]))
    squares, V = eigh_tridiagonal(diagonal, below, check_finite=False)
    Q = reflectors[1:, :-1], tau  # (the first entry of a vector does not change)
    turned = np.append(a[:1], dormqr("L", "T", *Q, a[1:, None], n)[0])
    turned = V @ ((turned @ V) / (delta + size * np.sqrt(np.maximum(squares, 0.0))))
    return np.append(turned[:1], dormqr("L", "N", *Q, turned[1:, None], n)[0])


class FullMirrorState(AdditiveState):
    """values : w. products : float64, (columns, n_features + 1, n_features + 1), G = Σ gg' of each vector of weights.

    The compiled loop counts each row, with a rule that takes no step; the step itself, O(d³), is taken here.
    """

    geometry = "matrix_mirror"
    ARRAYS = {**AdditiveState.ARRAYS, "products": Array(("vectors", "features", "features"), least="lowest", most="largest")}
    SUMS: tuple[str, ...] = ("products",)  # arrays that are sums over rows
    IS_LOCAL = HAS_ROOM = False
    products: np.ndarray

    def try_partial_fit(self, *call: Any) -> bool:
        """Return False: the compiled fast path takes no steps of this kind."""
        return False

    # --- learning ------------------------------------------------------------------------------------------------------------

    def learn(
        self, task: int, rows: Rows, targets: np.ndarray, weights: np.ndarray, class_weights: np.ndarray, order: np.ndarray,
        predictions: np.ndarray,
    ) -> None:
        """Learn rows one at a time. An interrupted row is undone."""
        given = self.params
        try:
            self.params = given._replace(**NO_STEP)
            for at in order.tolist() if len(order) else range(rows.n_rows):
                one = slice(at, at + 1)
                undo = [(array, array.copy()) for array in (self.counts, self.counters, self.calibration)]
                try:
                    before = self.counters[self.COUNTERS["t"]]
                    super().learn(
                        task, rows.part(at, at + 1), targets[one], weights[one], class_weights, NO_ORDER, predictions[one],
                    )
                    if self.counters[self.COUNTERS["t"]] > before:
                        c = float(weights[at]) if len(weights) else 1.0
                        c *= float(class_weights[targets[at]]) if len(class_weights) else 1.0
                        self._step(task, self._dense(rows, at), int(targets[at]), c, undo)
                except BaseException:
                    for array, old in undo:
                        array[...] = old
                    raise
        finally:
            self.params = given

    def _dense(self, rows: Rows, at: int) -> np.ndarray:
        """Return a row with its constant feature."""
        x, entries = np.zeros(self.n_features + 1), slice(rows.indptr[at], rows.indptr[at + 1])
        x[slice(self.n_features) if rows.is_dense else rows.indices[entries]] = rows.data[entries]
        x[-1] = self.params.bias
        return x

    def _step(self, task: int, x: np.ndarray, label: int, c: float, undo: list) -> None:
        """Take the steps of a row that has been counted. undo : a list to which the old values of what changes are added."""
        if self.params.balanced:
            c = max(c * (self.count("t") / (self.count("seen") * float(self.counts[label]))), 5e-324)
        with np.errstate(over="ignore", invalid="ignore"):
            scores, square, updated, skipped = x @ self.primary, x @ x, False, False
            if not (0.0 < square < np.inf and np.isfinite(scores).all()):
                return
            for moves, margin in self._examples(task, scores, label):
                if margin < 1.0:
                    found = [(column, *self._moved(column, -c * sign * x)) for column, sign in moves]
                    if all(self._fits(w, *sums) for _, w, *sums in found):
                        for column, w, *sums in found:
                            self._put(column, w, sums, undo)
                        updated = True
                    else:
                        skipped = True
            self.counters[self.COUNTERS["updates"]] += updated
            self.counters[self.COUNTERS["skipped"]] += skipped

    def _examples(self, task: int, scores: np.ndarray, label: int) -> Iterator[tuple[list[tuple[int, float]], float]]:
        """Yield for each example the vectors that it moves, with the signs of x in them, and its margin."""
        joined = self.counts > 0.0 if self.params.open_classes else np.ones(len(self.counts), bool)
        if task == model.TASKS["binary"]:
            yield [(0, 2.0 * label - 1.0)], (2.0 * label - 1.0) * scores[0]
        elif task == model.TASKS["ovr"]:
            for column in np.flatnonzero(joined).tolist():
                sign = 1.0 if column == label else -1.0
                yield [(column, sign)], sign * scores[column]
        else:
            joined[label] = False
            if joined.any():
                wrong = int(np.where(joined, scores, -np.inf).argmax())
                yield [(label, 1.0), (wrong, -1.0)], scores[label] - scores[wrong]

    def _moved(self, column: int, g: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return w and the sums of a vector after a gradient; w is not finite if a sum is not."""
        G = self.products[column] + np.outer(g, g)
        if not np.isfinite(G).all():
            return np.full(len(g), np.nan), G
        step = scaled(G, self.params.delta, g)  # (at most 1 long, but for rounding and underflow, as G includes gg')
        return self.primary[:, column] - self.params.eta0 * (step / max(1.0, np.linalg.norm(step))), G

    def _fits(self, w: np.ndarray, *sums: np.ndarray) -> bool:
        limit = self.params.limit
        largest = np.abs(w).max() * max(self.params.bias, 1.0)
        return bool(largest <= limit and all(np.abs(part).max() <= limit for part in sums))

    def _put(self, column: int, w: np.ndarray, sums: list[np.ndarray], undo: list) -> None:
        """Store a vector and its sums in the model, and add the step to the average."""
        for name, new in zip(self.SUMS, sums, strict=True):
            part = getattr(self, name)[column]
            undo.append((part, part.copy()))
            part[...] = new
        own = self.primary[:, column]
        undo.append((own, own.copy()))
        own[...] = w
        if len(self.correction):
            rounds = max(self.counters[self.COUNTERS["t"]] - 1.0 - self.params.average_from, 0.0)
            correction = self.correction.reshape(-1, self.n_columns)[:, column]
            undo.append((correction, correction.copy()))
            correction += rounds * (own.astype(np.float64) - undo[-2][1])
        for name, part in (("max_abs_weight", own), ("curvature", sums[0])):
            at = self.COUNTERS[name]
            self.counters[at] = max(self.counters[at], float(np.abs(part).max()))

    # --- merging and files ---------------------------------------------------------------------------------------------------

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        """Take the mean of the weights; sums over rows add up, with constant features in the units of the result."""
        super()._merge_values(shards, shares)
        for name in self.SUMS:
            setattr(self, name, sum(shard.state.in_units(name, shard.constant) for shard in shards))

    def in_units(self, name: str, constant: float) -> np.ndarray:
        """Return sums in the units of a model whose constant feature is smaller by the factor `constant`."""
        units = np.ones(self.n_features + 1)
        units[-1] = 1.0 / constant
        return getattr(self, name) * (np.outer(units, units) if name == "products" else units)

    def _merge_bounds(self) -> None:
        super()._merge_bounds()
        self.counters[self.COUNTERS["curvature"]] = float(np.abs(self.products).max())

    def _problem_of_derived(self) -> str:
        G = self.products
        roots = np.sqrt(np.diagonal(G, axis1=1, axis2=2)) + UNDERFLOW
        fit = (G == G.transpose(0, 2, 1)).all() and not np.isnan(roots).any()
        within = fit and (np.abs(G) <= (1.0 + 1e-9) * roots[:, :, None] * roots[:, None, :]).all()
        return "" if within else "products that gradients cannot have"


class FullDualState(FullMirrorState):
    """values : w = η (δI + G^{1/2})^{-1} z. gradients : float64, (columns, n_features + 1), z = -Σ g."""

    geometry = "matrix_dual"
    GRADIENTS = Array(("vectors", "features"), half=as_theta, least="lowest", most="largest")
    ARRAYS = {**FullMirrorState.ARRAYS, "gradients": GRADIENTS}
    SUMS = ("products", "gradients")
    gradients: np.ndarray

    def _moved(self, column: int, g: np.ndarray) -> tuple[np.ndarray, ...]:
        G, z = self.products[column] + np.outer(g, g), self.gradients[column] - g
        return self._weights(G, z), G, z

    def _weights(self, G: np.ndarray, z: np.ndarray) -> np.ndarray:
        if not (np.isfinite(G).all() and np.isfinite(z).all()):
            return np.full(len(z), np.nan)
        return self.params.eta0 * scaled(G, self.params.delta, z)

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        super()._merge_values(shards, shares)
        for column in range(self.n_columns):
            self.primary[:, column] = self._weights(self.products[column], self.gradients[column])
