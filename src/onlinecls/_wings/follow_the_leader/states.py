"""The model of follow the regularized leader: the rows so far, their dual variables, and the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..._compiled import model
from ..._input.validate import rows_in_order
from ..._models.arrays import Array, Move, as_theta, halved, n_vectors, read_only
from ..._models.params import common
from ..._models.state import Counted
from ..dual_ascent.dual_ascent import LOSSES
from . import forel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import DTypeLike

INT64 = np.dtype(np.int64)
GAP, PENDING = forel.SHARED["gap"], forel.SHARED["pending"]


class LeaderParams(NamedTuple):
    """The fields of the C struct ForelParams (forel.pyx), and what else a pass needs, in units of X."""

    loss: int
    joint: int
    sigma: float
    tolerance: float
    bias: float
    limit: float = 0.0
    open_classes: int = 0
    balanced: int = 0

    model, average_from, probability, variance, level = "leader", -1, 0, 1.0, 0

    @classmethod
    def of(cls, algorithm: Any, values: Mapping[str, Any]) -> Self:
        """Return the parameters of FoReL, from numbers within their ranges."""
        return cls(
            LOSSES[values["loss"]], int(values["multi_class"] == "crammer_singer"), float(values["sigma"]),
            float(values["gap_tol"]), common(values)["bias"],
        )

    @property
    def joins_singly(self) -> bool:
        """True for a softmax, whose sums over more classes round differently."""
        return bool(self.joint and self.loss == LOSSES["log_loss"])

    def limits(self, dtype: DTypeLike) -> Iterator[tuple[str, float, float, float]]:
        """Yield (parameter, its value, the least and the largest one that fit the dtype)."""
        yield "intercept_scaling", self.bias, 0.0, (float(np.finfo(dtype).max) / 4) ** 0.5  # (its square is in the norms)

    def of_pass(self, state: ForelState, is_open: bool, balanced: bool) -> Self:
        """Add the numbers that depend on the model and its labels."""
        limit = min(float(np.finfo(state.dtype).max) / 4, 1e100) * min(self.sigma, 1.0)
        return self._replace(open_classes=int(is_open), balanced=int(balanced), limit=limit)


class ForelState(Counted):
    """The rows so far, their dual variables, and θ.

    data, indices, indptr : the rows as CSR without zeros; labels : codes of their classes; weights : of the rows (0: left out).
    alpha : float64 (rows, columns); theta : float64 (n_features + 1, columns), the constant feature last. counts, counters : as
    in State. shared : see forel.SHARED.
    """

    ARRAYS = {
        **Counted.ARRAYS,
        "data": Array(("entries",), None), "indices": Array(("entries",), INT64), "indptr": Array(("ends",), INT64),
        "labels": Array(("rows",), np.dtype(np.int32)), "weights": Array(("rows",), least=0.0),
        "alpha": Array(("rows", "vectors"), least=0.0, half=halved), "theta": Array(("features", "vectors"), half=as_theta),
        "shared": Array((forel.SHARED["size"],)),
    }
    SCALARS = (*Counted.SCALARS, "joint")
    MAIN, KEPT, geometry = "data", ("loss", "joint", "sigma", "bias"), "leader"
    record, records_from, sparse_coef = None, 0.0, None  # as in Model

    def __init__(self, n_features: int, n_classes: int, dtype, params: LeaderParams):
        self.n_features, self.joint, self.params = n_features, bool(params.joint), params
        k = n_vectors(n_classes)
        self.data, self.indices, self.indptr = np.empty(0, dtype), np.empty(0, np.int64), np.zeros(1, np.int64)
        self.labels, self.weights, self.alpha = np.empty(0, np.int32), np.empty(0), np.empty((0, k))
        self.theta, self.counts = np.zeros((n_features + 1, k)), np.zeros(n_classes)
        self.counters, self.shared = np.zeros(model.N_COUNTERS), np.zeros(forel.SHARED["size"])

    def try_partial_fit(self, *call) -> bool:
        """Return False: all rows are kept, and there is no fast path."""
        return False

    @classmethod
    def _following(cls, n_features: int, n_classes: int, params: LeaderParams) -> dict:
        return {"joint": bool(params.joint)}

    @classmethod
    def _sizes_in(cls, header: dict, arrays: dict, n_classes: int, params: Any) -> dict[str, int]:
        n_rows = len(arrays["labels"])
        return {"features": header["n_features"] + 1, "vectors": n_vectors(n_classes), "classes": n_classes, "rows": n_rows,
                "ends": n_rows + 1, "entries": len(arrays["data"])}

    def _problem_of_values(self, counters: dict) -> str:
        if not rows_in_order(self.indices, self.indptr, self.n_features):
            return "rows that are no sorted CSR matrix"
        if len(self.labels) and not 0 <= self.labels.min() <= self.labels.max() < len(self.counts):
            return "labels without a class"
        if (np.bincount(self.labels, minlength=len(self.counts)) > self.counts).any():
            return "more rows than were counted"
        pending, (lengths, theta), live = self.shared[PENDING], self._follows(self.params.bias), self.weights > 0.0
        if not 0.0 <= pending < 2.0**53 or pending != np.floor(pending):
            return "an invalid number of sweeps"
        taken = self.alpha.sum(axis=1) if self.joint else self.alpha.max(axis=1, initial=0.0)
        beyond = (taken > self.weights * (1.0 + 1e-9)).any()
        if self.alpha[~live].any() or beyond:
            return "dual variables out of range"
        if not float(self.weights[live] @ lengths[live]) <= counters["max_abs_weight"] * (1.0 + 1e-9):
            return "rows larger than were counted"
        if not np.abs(self.theta - theta).max() <= 1e-6 * counters["max_abs_weight"]:
            return "weights that are not those of the dual variables"
        return ""

    def _follows(self, bias: float) -> tuple[np.ndarray, np.ndarray]:
        """Return ||x|| of the rows and θ = Σ α Δφ, computed anew."""
        from scipy.sparse import csr_array

        k, rows = self.n_columns, np.arange(len(self.labels))
        if k == 1:
            steps = self.alpha * (2.0 * self.labels[:, None] - 1.0)
        elif self.joint:
            steps = -self.alpha
            steps[rows, self.labels] = self.alpha.sum(axis=1)
        else:
            steps = np.where(np.arange(k) == self.labels[:, None], self.alpha, -self.alpha)
        places, shape = (self.indices, self.indptr), (len(rows), self.n_features)
        X = csr_array((self.data.astype(np.float64), *places), shape=shape)
        with np.errstate(over="ignore", invalid="ignore"):  # of rows left out for their size, and of forged numbers
            squares = csr_array((X.data**2, *places), shape=shape) @ np.ones(self.n_features) + bias**2
            steps = steps * (squares > 0.0)[:, None]  # (rows of zeros, or with squares of 0, move nothing)
            return np.sqrt(squares), np.vstack([X.T @ steps, bias * steps.sum(axis=0)])

    @property
    def dtype(self):
        return self.data.dtype

    @property
    def n_columns(self) -> int:
        return self.theta.shape[1]

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> ForelState:
        """Return this model with its classes at `places` among n_classes. A single vector's θ and α are halved for its two."""
        grown = self.copy()
        grown.counts = self.counts_at(places, n_classes)
        grown.labels = np.asarray(places, np.int32)[self.labels] if len(self.labels) else self.labels.copy()
        if n_vectors(n_classes) > self.n_columns:
            move = Move.of_classes(places, self.n_columns, n_classes)
            grown.__dict__.update(self._vectors_moved(move, 0.5))
            if self.joint and move.splits and len(places) == 2:  # α_r is of the wrong class
                grown.alpha[:] = 0.0
                grown.alpha[np.arange(len(self.labels)), move.new[1 - self.labels]] = self.alpha[:, 0] / 2
        return grown

    def keep_classes(self, keep: np.ndarray) -> ForelState:
        rest = self.copy()
        rest.counts, rest.labels = self.counts[keep], (np.cumsum(keep) - 1).astype(np.int32)[self.labels]
        rest.__dict__.update(self._vectors_moved(Move.of_kept(keep), 0.5))
        return rest

    def set_scale(self, params: LeaderParams) -> None:
        """Give earlier rows, all zeros, the weight 0."""
        self.params, self.weights, self.alpha = params, np.zeros(len(self.labels)), np.zeros(self.alpha.shape)

    def append(self, data, indices, indptr, labels, weights) -> None:
        """Append the rows to learn next."""
        zeros = np.zeros((len(labels), self.n_columns))
        added = {"data": data, "indices": indices, "labels": labels, "weights": weights, "alpha": zeros}
        longer = {name: np.concatenate([getattr(self, name), rows]) for name, rows in added.items()}
        longer["indptr"] = np.concatenate([self.indptr, self.indptr[-1] + indptr[1:]])
        self.__dict__.update(longer)  # all at once, after memory for all has been allocated

    def truncate(self, n: int) -> None:
        end = self.indptr[n]
        self.data, self.indices, self.indptr = self.data[:end], self.indices[:end], self.indptr[: n + 1]
        self.labels, self.weights, self.alpha = self.labels[:n], self.weights[:n], self.alpha[:n]

    def value(self) -> float:
        """Compute D(α)."""
        found = self.alpha.sum()
        if self.params.loss == LOSSES["log_loss"]:
            live = self.weights > 0.0
            shares = self.alpha[live] / self.weights[live, None]
            rest = 1.0 - (shares.sum(axis=1, keepdims=True) if self.joint and self.n_columns > 1 else shares)
            shares = np.concatenate([shares, rest], axis=1)
            shares = np.where(shares > 0.0, shares, 1.0)
            found = self.weights[live] @ -(shares * np.log(shares)).sum(axis=1)
        return float(found - np.square(self.theta).sum() / (2.0 * self.params.sigma))

    def weights_of(self, params: LeaderParams, features: slice) -> np.ndarray:
        return read_only((self.theta[features] / params.sigma).astype(self.dtype).T)
