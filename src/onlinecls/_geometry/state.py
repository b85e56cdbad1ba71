"""The arrays of a model, how they grow when a class joins, and what can be read off them. Layout: sparse.pxd, full.pxd."""

from __future__ import annotations

import numpy as np

from .. import _core
from .._input.validate import all_finite
from . import link

WITH_VARIANCE = ("gaussian", "potential")
LINKED = ("p_norm", "centre", "sinh", "exp")  # weights that share a number: link.pyx
ONE_SLOT = ("additive", "centre")
NO_ORDER = np.empty(0, np.int64)


def problem_of_numbers(state) -> str:
    """Which of a state's arrays of floats has NaN or infinity; "" if none has."""
    for name in state.PARTS:
        array = getattr(state, name)
        if isinstance(array, np.ndarray) and array.dtype.kind == "f" and not all_finite(array):
            return f"{name} with NaN or infinity"
    return ""


def problem_of_counters(counts: np.ndarray, tally: dict) -> str:
    """Why no rows can have been counted so; "" if they can."""
    whole = np.append(counts, [tally[name] for name in ("t", "mistakes", "updates", "skipped", "seen")])
    if min(*tally.values(), counts.min()) < 0.0 or (whole != np.floor(whole)).any() or whole.max() > 2.0**53:
        return "counters that are not numbers of rows"
    if max(counts.max(), tally["mistakes"], tally["updates"], tally["skipped"]) > tally["t"]:
        return "counters beyond the number of rounds"
    if tally["seen"] != np.count_nonzero(counts):
        return "another number of classes seen than have rows"
    return ""


class State(_core.Model):
    """Everything that learning changes.

    values : flat array, a run of (first slots, second slots) of all columns for each feature, the constant feature last.
    sigma : full covariances, (columns, n_features + 1, n_features + 1), of which the lower triangles count; or empty.
    drift : float64, (n_features + 1) x columns, or empty: what turns the last weights into the average.
    norms : float64, (1 or columns, link.NORM_SIZE), or empty: of weights that share a norm; power : its p.
    counts : float64 (n_classes,), rows seen of each class. tally : float64, see _core.TALLY.
    """

    PARTS = (
        "counts", "drift", "geometry", "n_columns", "n_features", "norms", "power", "sigma", "tally", "values", "variance"
    )  # fmt: skip

    def __init__(self, geometry: str, n_features: int, n_classes: int, dtype, variance: float, average: bool, power: float = 2.0):
        self.geometry = geometry
        self.n_features = n_features
        self.n_columns = n_classes if n_classes > 2 else 1
        self.variance = variance
        self.power = power
        self.norms = self._unknown_norms(1)
        self.values = self._fresh(self.n_columns, dtype).reshape(-1)
        self.sigma = self._fresh_sigma(self.n_columns, dtype)
        self.drift = np.zeros((n_features + 1) * self.n_columns) if average else np.empty(0)
        self.counts = np.zeros(n_classes)
        self.tally = np.zeros(_core.TALLY_SIZE)

    def parts(self) -> dict:
        """All there is to a model but the parameters that it was last learnt with."""
        return {name: getattr(self, name) for name in self.PARTS}

    @classmethod
    def of(cls, parts: dict):
        """The model of these parts."""
        state = cls.__new__(cls)
        for name, value in parts.items():
            setattr(state, name, value)
        return state

    def __reduce__(self):
        return type(self).of, ({**self.parts(), "params": self.params},)

    def copy(self):
        """A model of its own."""
        parts = {name: part.copy() if isinstance(part, np.ndarray) else part for name, part in self.parts().items()}
        return self.of({**parts, "params": self.params})

    @staticmethod
    def layout(geometry: str, n_features: int, n_classes: int, dtype, average: bool, n_norms: int = 1) -> dict:
        """Name: (shape, dtype) of the arrays that a State of these arguments has, without making one."""
        n_columns, double, is_full = n_classes if n_classes > 2 else 1, np.dtype(np.float64), geometry.startswith("full")
        size = n_features + 1
        n_weights = size * n_columns
        return {
            "values": ((n_weights * (1 if geometry in ONE_SLOT or is_full else 2),), np.dtype(dtype)),
            "sigma": ((n_columns, size, size) if is_full else (0, 1, 1), np.dtype(dtype)),
            "drift": ((n_weights if average else 0,), double),
            "norms": ((n_norms if geometry in LINKED else 0, link.NORM_SIZE), double),
            "counts": ((n_classes,), double),
            "tally": ((_core.TALLY_SIZE,), double),
        }

    @staticmethod
    def n_shared(told: dict, arrays: dict) -> int:
        """How many norms a model in a file has: one against the rest has one each."""
        return told["n_columns"] if len(arrays["norms"]) == told["n_columns"] else 1

    def problem(self) -> str:
        """Why no learning can have left these numbers, "" if it can: for a model that comes from a file."""
        tally = {name: self.tally[at] for name, at in _core.TALLY.items()}
        return problem_of_numbers(self) or problem_of_counters(self.counts, tally) or self._problem_of_values(tally)

    def _problem_of_values(self, tally: dict) -> str:
        """The same for all but the counters."""
        info = np.finfo(self.dtype)
        first, largest = self.view[:, 0], float(info.max) / 4
        # A step of one rounding or more is at most doubled by it: what has moved by `reach` is within a few times that.
        if max(float(first.max()), -float(first.min())) > min(4.0 * tally["reach"], largest):
            return "weights beyond their reach"
        if self.is_linked:
            return self._problem_of_norms()
        if self.is_full:
            # Rounding may bring a variance to 0, never below; the bound is that of _full.pxd. (Upper triangles stay at 0.)
            if np.diagonal(self.sigma, axis1=1, axis2=2).min() < 0.0:
                return "variances below 0"
            if max(float(self.sigma.max()), -float(self.sigma.min())) > 2.0 * self.variance:
                return "covariances out of their range"
        elif self.geometry != "additive":
            second = self.view[:, 1]
            low, high = float(second.min()), float(second.max())
            if self.geometry in WITH_VARIANCE:
                if not (info.tiny / info.eps <= low and high <= self.dtype.type(self.variance)):
                    return "variances out of their range"
            elif not (0.0 <= low and high <= largest):
                return "sums of squares out of their range"
        return ""

    def _problem_of_norms(self) -> str:
        """The same for what is kept beside θ or u: it follows from them, but for rounding."""
        signed = (link.REST_AT, link.SHIFT_AT) if self.geometry == "exp" else (link.REST_AT,)
        if (self.norms[:, [at for at in range(link.NORM_SIZE) if at not in signed]] < 0.0).any():
            return "norms below 0"
        first = self.view[:, 0].astype(np.float64)
        if self.geometry in ("sinh", "exp"):
            return next(filter(None, (self._problem_of_products(first, *pair) for pair in enumerate(self.norms))), "")
        if self.geometry == "centre":
            found, known = [self.norms[0, link.SUM_AT]], [np.sum(first**2)]
            return "" if self.norms[0, link.SCALE_AT] <= 1.0 and np.allclose(found, known, 1e-9, 0.0) else "another norm of u"
        root = link.roots(self.power)["root"]
        if not np.allclose(self.view[:, 1], np.sign(first) * np.abs(first) ** root, 64 * np.finfo(self.dtype).eps, 0.0):
            return "roots that are not those of the weights"
        for at, norm in enumerate(self.norms):
            if norm[link.SCALE_AT] == 0.0:
                continue
            theta = np.abs(first if len(self.norms) == 1 else first[:, at])
            size = float(theta.max())
            size *= float(np.sum((theta / (size or 1.0)) ** self.power) ** (1.0 / self.power))
            inverse, gain = (size**-root if size else 0.0), size / (self.power - 1.0)
            if self.power == 2.0:
                inverse = gain = 1.0
            if not np.allclose(norm[[link.INVERSE_AT, link.GAIN_AT]], [inverse, gain], 1e-3, 0.0):
                return "another norm of the weights"
        return ""

    def _problem_of_products(self, first: np.ndarray, at: int, norm: np.ndarray) -> str:
        """The same for weights that are multiplied."""
        if norm[link.SCALE_AT] == 0.0:
            return ""
        own = slice(None) if len(self.norms) == 1 else slice(at, at + 1)
        theta, second, came = first[:, own], self.view[:, 1, own].astype(np.float64), self.counts[own] > 0.0
        shift, fresh, total, rest = norm[[link.SHIFT_AT, link.FRESH_AT, link.SUM_AT, link.REST_AT]]
        with np.errstate(over="ignore", under="ignore"):
            if self.geometry == "exp":
                expected, terms = np.exp(theta - shift), second
            else:
                near = np.abs(theta) < 0.5
                far = np.sign(theta) * (np.exp(np.abs(theta) - shift) - np.exp(-np.abs(theta) - shift)) / 2
                expected = np.where(near, np.exp(-shift) * np.sinh(np.where(near, theta, 0.0)), far)
                terms = np.hypot(second, fresh)
            info, moved = np.finfo(self.dtype), theta != 0.0
            # |θ| - S is rounded to S times the spacing of doubles, and sinh θ from powers of it is off by 4 times as much.
            rounding = 64 * info.eps + 4 * np.finfo(np.float64).eps * max(shift, 0.0), max(info.tiny, 1e-299)
            if not (np.allclose(second[moved], expected[moved], *rounding) and np.abs(second).max() < 1e30
                    and np.isclose(fresh, min(np.exp(-shift), 1e30), 1e-9, info.tiny)):  # fmt: skip
                return "exponentials that are not those of the weights"
        # Classes without a row, and a constant feature without an intercept, are not in it.
        least = terms[:-1, came if self.n_columns > 1 and len(self.norms) == 1 else slice(None)].sum()
        squares = abs(rest - np.sum(second[:-1] ** 2)) <= 1e-9 * abs(rest)  # one class keeps these there
        if not (0.999 * least <= total <= 1.001 * terms.sum() and total > 0.0 and norm[link.GAIN_AT] > 0.0
                and (abs(rest) <= 1e-14 * total or squares)):  # fmt: skip
            return "another sum of exponentials"
        return ""

    @property
    def dtype(self):
        return self.values.dtype

    def _fresh(self, n_columns: int, dtype) -> np.ndarray:
        slots = 1 if self.geometry in ONE_SLOT or self.is_full else 2
        values = np.zeros((self.n_features + 1, slots, n_columns), dtype)
        if self.geometry in WITH_VARIANCE:
            values[:, 1] = self.variance
        return values

    @property
    def is_linked(self) -> bool:
        return self.geometry in LINKED

    def _unknown_norms(self, n: int) -> np.ndarray:
        """Norms of which nothing is known: the kernels sum them anew."""
        return np.zeros((n if self.is_linked else 0, link.NORM_SIZE))

    def link(self, task: str) -> None:
        """Keep as many norms as the task has learners: one against the rest has one for each vector."""
        n = self.n_columns if task == "ovr" else 1
        if len(self.norms) != n:
            self.norms = self._unknown_norms(n)

    def known(self, params: dict) -> tuple[np.ndarray, np.ndarray]:
        """Values and norms to read with: copies where the norms are not known yet, for reading never writes."""
        return link.known(params, self.values, self.n_columns, self.norms, self.counts)

    def _fresh_sigma(self, n_columns: int, dtype) -> np.ndarray:
        if not self.is_full:
            return np.zeros((0, 1, 1), dtype)
        size = self.n_features + 1
        sigma = np.zeros((n_columns, size, size), dtype)
        sigma[:, np.arange(size), np.arange(size)] = self.variance
        return sigma

    @property
    def is_full(self) -> bool:
        return self.geometry.startswith("full")

    @property
    def view(self) -> np.ndarray:
        """The values as (n_features + 1, slots, columns)."""
        return self.values.reshape(self.n_features + 1, -1, self.n_columns)

    def count(self, name: str) -> int:
        return int(self.tally[_core.TALLY[name]])

    def with_classes(self, places: np.ndarray, n_classes: int, share: float = 0.5) -> State:
        """This model with its classes at `places` among n_classes; the newcomers start from nothing.

        One vector w becomes the two -w/2 and +w/2, with half the variance each, so that every score difference and its variance
        stay what they were. For a potential w = Σθ this means that θ keeps its size; `share` is what a linked θ keeps.
        """
        grown = State.__new__(State)
        for name in ("geometry", "n_features", "variance", "power"):
            setattr(grown, name, getattr(self, name))
        grown.n_columns = n_classes if n_classes > 2 else 1
        grown.counts = np.zeros(n_classes)
        grown.counts[places] = self.counts
        grown.tally = self.tally.copy()
        if grown.n_columns == self.n_columns:
            grown.values, grown.drift = self.values.copy(), self.drift.copy()
            # A full Σ is large, and no one changes it before the first row: it goes along.
            grown.sigma = self.sigma if self.sigma.flags.writeable else self.sigma.copy()
            grown.norms = self.norms.copy()
            return grown
        grown.norms = self.norms.copy() if self.n_columns > 1 else self._unknown_norms(1)
        if self.n_columns > 1 and len(self.norms) == self.n_columns:
            grown.norms = self._unknown_norms(n_classes)
            grown.norms[places] = self.norms
        new, old = self._fresh(n_classes, self.dtype), self.view
        grown.sigma = self._fresh_sigma(n_classes, self.dtype)
        drift = np.zeros((self.n_features + 1, n_classes)) if len(self.drift) else None
        if self.n_columns > 1:
            if self.geometry == "exp" and len(self.norms) == 1:  # where a θ of 0 stands (else all is written anew)
                live = self.n_features + bool(old[-1, 1].any())  # without an intercept the constant feature has none
                new[:live, 1] = self.norms[0, link.FRESH_AT]
            new[:, :, places] = old
            if self.is_full:
                grown.sigma[places] = self.sigma
            if drift is not None:
                drift[:, places] = self.drift.reshape(-1, self.n_columns)
        else:
            share = 1.0 if self.geometry == "potential" else share
            for sign, place in zip((-1, 1), places, strict=False):
                new[:, 0, place] = sign * share * old[:, 0, 0] + 0.0  # no -0
                if self.is_full:
                    np.divide(self.sigma[0], 2, out=grown.sigma[place])
                elif self.geometry in WITH_VARIANCE:
                    info = np.finfo(self.dtype)
                    new[:, 1, place] = np.maximum(old[:, 1, 0] / 2, info.tiny / info.eps)
                elif self.geometry == "p_norm":
                    root = link.roots(self.power)["root"]
                    new[:, 1, place] = sign * share**root * old[:, 1, 0] + 0.0
                elif self.geometry != "additive":
                    new[:, 1, place] = old[:, 1, 0]
                if drift is not None:
                    drift[:, place] = sign * 0.5 * self.drift + 0.0
        grown.values = new.reshape(-1)
        grown.drift = np.empty(0) if drift is None else drift.reshape(-1)
        return grown

    def writable(self) -> State:
        """This model, or a copy where some of its arrays are read-only (memory-mapped by joblib, say)."""
        arrays = (self.values, self.sigma, self.drift, self.norms, self.counts, self.tally)
        if all(array.flags.writeable for array in arrays):
            return self
        return self.with_classes(np.arange(len(self.counts)), len(self.counts))

    def weights(self, params: dict, features: slice) -> np.ndarray:
        """(columns, features) weights that predict: a read-only view where they are stored as they are."""
        view = self.view[features]
        if self.geometry == "centre":
            first = (self.norms[0, link.SCALE_AT] * view[:, 0]).astype(self.dtype).T
            first.flags.writeable = False
            return first
        if self.is_linked:
            found = np.empty((self.n_columns, len(view)), self.dtype)
            values, norms = self.known(params)
            link.weights(params, values.reshape(self.n_features + 1, -1, self.n_columns)[features], norms, found)
            found.flags.writeable = False
            return found
        first = view[:, 0]
        if self.geometry == "potential":
            first = first * view[:, 1]
        elif self.geometry == "dual":
            z, root = first.astype(np.float64), np.sqrt(view[:, 1], dtype=np.float64)
            soft = np.sign(z) * np.maximum(np.abs(z) - params["l1"] * self.count("t"), 0)
            first = (params["eta0"] * soft / (params["delta"] + root)).astype(self.dtype)
        rounds = self.average_rounds(params)
        if rounds:
            first = (first - self.drift.reshape(-1, self.n_columns)[features] / rounds).astype(self.dtype)
        first = first.T
        first.flags.writeable = False
        return first

    def average_rounds(self, params: dict) -> float:
        """Over how many rounds the average runs; 0 if there is none."""
        return max(float(self.count("t") - params["average_from"]), 0.0) if len(self.drift) else 0.0

    def covariance(self) -> np.ndarray:
        """Variances, (columns, n_features), a view; or full covariances, (columns, n_features, n_features), a copy."""
        if self.is_full:
            lower = self.sigma[:, : self.n_features, : self.n_features]
            covariance = np.tril(lower)
            covariance += np.tril(lower, -1).transpose(0, 2, 1)
        else:
            covariance = self.view[: self.n_features, 1].T
        covariance.flags.writeable = False
        return covariance

    def only(self, keep: np.ndarray) -> State:
        """This model of three classes or more without the others, which have never had a row."""
        rest = State.__new__(State)
        for name in ("geometry", "n_features", "variance", "power"):
            setattr(rest, name, getattr(self, name))
        rest.n_columns, rest.counts, rest.tally = int(keep.sum()), self.counts[keep], self.tally.copy()
        rest.norms = self.norms[keep] if len(self.norms) == len(keep) else self.norms
        rest.sigma = self.sigma[keep] if self.is_full else self.sigma
        rest.values = np.ascontiguousarray(self.view[:, :, keep]).reshape(-1)
        rest.drift = self.drift.reshape(-1, self.n_columns)[:, keep].reshape(-1) if len(self.drift) else self.drift
        return rest

    def count_rows(self, n_rows: int, n_new: int) -> None:
        """Rows of the only class there is: nothing to learn from."""
        self.tally[_core.TALLY["t"]] += n_rows
        self.tally[_core.TALLY["seen"]] = 1.0
        self.tally[_core.TALLY["mistakes"]] += n_new
        self.counts[0] += n_rows
