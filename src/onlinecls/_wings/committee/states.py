"""The model of a committee: its members' models, and what their scores are weighted by (see combine.pyx)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..._files import of_number, require, require_layout
from ..._models.arrays import FLOAT64, Array, Move, laid_out, read_only
from ..._models.state import Counted, State
from . import combine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike

    from ..._input.rows import Rows


FAR = 1e300  # products of weights and scores beyond this count as this, so that their sum is finite


class CommitteeParams(NamedTuple):
    """The parameters of a committee's pass.

    team : new learners like the members. members : their parameters. kinds : the classes of their models.
    """

    team: tuple[Any, ...]
    members: tuple[Any, ...]
    kinds: tuple[type[State], ...]
    probability: int
    open_classes: int = 0
    balanced: int = 0
    limit: float = np.inf

    model, average_from, variance, level = "committee", -1, 0.0, 0

    @property
    def scale(self) -> float:
        return self.members[0].scale

    @property
    def kept(self) -> tuple[Any, ...]:
        """Parameters that the members' models cannot change."""
        each = zip(self.kinds, self.members, strict=True)
        return tuple(tuple(getattr(own, name) for name in kind.KEPT) for kind, own in each)

    def limits(self, dtype: DTypeLike) -> Iterator[tuple[str, float, float, float]]:
        """Yield (parameter, its value, the least and the largest one that fit the dtype) of all members."""
        for own in self.members:
            yield from own.limits(dtype)

    def of_pass(self, state: CommitteeState, is_open: bool, balanced: bool) -> Self:
        """Add the numbers that depend on the members' models and the labels."""
        each = zip(self.members, state.members, strict=True)
        members = tuple(own.of_pass(its_state, is_open, balanced) for own, its_state in each)
        limit = float(np.finfo(state.dtype).max) / 4
        return self._replace(members=members, open_classes=int(is_open), balanced=int(balanced), limit=limit)


class CommitteeState(State, combine.CommitteeModel):
    """values : the first member's; all have the same dtype. Each member has its own counters, as if it were alone.

    parts : the committee's own, and those of member i as "i.name".
    """

    ARRAYS = {
        **Counted.ARRAYS,
        "calibration": State.ARRAYS["calibration"], "correction": Array((0,)), "mistakes": Array(("members",), least=0.0),
        "squares": Array(("members",), least=0.0, most=1e200), "scored": Array((1,), least=0.0),
    }
    SCALARS = ("n_columns", "n_features")
    SLOTS = ()
    geometry = "committee"
    KEPT = ("probability", "kinds", "kept", "level")

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: CommitteeParams):
        members = []
        for kind, own in zip(params.kinds, params.members, strict=True):
            members.append(kind(n_features, n_classes, dtype, own))
            members[-1].params = own
        self._begin(members, n_classes, params)

    def _begin(self, members: list[Any], n_classes: int, params: CommitteeParams) -> None:
        self.params, self._hyperplane = params, None
        self._seat(members)
        self.n_features, self.n_columns = members[0].n_features, members[0].n_columns
        sizes = {"classes": n_classes, "calibrated": self.n_columns if params.probability else 0, "members": len(members)}
        for name, (shape, dtype) in laid_out(self.ARRAYS, sizes, FLOAT64).items():
            setattr(self, name, self._fresh(name, shape, dtype))

    @classmethod
    def n_bytes(cls, params: CommitteeParams, n_features: int, n_classes: int, dtype: DTypeLike) -> int:
        each = zip(params.kinds, params.members, strict=True)
        return sum(kind.n_bytes(own, n_features, n_classes, dtype) for kind, own in each)

    def stays_in_range(self, params: CommitteeParams) -> bool:
        return all(member.stays_in_range(own) for member, own in zip(self.members, params.members, strict=True))

    def _seat(self, members: Any) -> None:
        self.members = tuple(members)
        self.values = self.members[0].values

    # --- parts ---------------------------------------------------------------------------------------------------------------

    def parts(self) -> dict:
        found = super().parts()
        for at, member in enumerate(self.members):
            found.update({f"{at}.{name}": part for name, part in member.parts().items()})
        return found

    def __setstate__(self, parts: dict) -> None:
        params: dict[str, Any] = parts["params"]
        super().__setstate__({name: part for name, part in parts.items() if "." not in name})
        members = []
        for at, (kind, own) in enumerate(zip(params.kinds, params.members, strict=True)):
            prefix = f"{at}."
            its_parts = {name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)}
            members.append(kind.of({**its_parts, "params": own}))
        self._hyperplane = None
        self._seat(members)

    def prepare(self, holds_level: bool, foresight: int, depth: int) -> None:
        super().prepare(holds_level, foresight, depth)
        for member, params in zip(self.members, self.params.members, strict=True):
            member.params = params
            member.prepare(holds_level, foresight, depth)

    @property
    def is_told(self) -> bool:
        return self.members[0].is_told

    @property
    def scale(self) -> float:
        """s of the members."""
        return self.members[0].scale

    @property
    def constant(self) -> float:
        """The weight of the constant feature is that of a feature that is 1 beside x."""
        return 1.0

    def tell_scale(self, rows: Rows, numbers: np.ndarray) -> None:
        for each in self.members:
            each.tell_scale(rows, numbers)

    def count_rows(self, n_rows: int) -> None:
        for each in self.members:
            each.count_rows(n_rows)
        super().count_rows(n_rows)
        self.mistakes[:] = self.count("mistakes")

    # --- classes -------------------------------------------------------------------------------------------------------------

    def _with(self, members: list[State], counts: np.ndarray) -> CommitteeState:
        """Return a committee of these members, which have other classes, with the same counts of mistakes and sums."""
        arrays = {name: getattr(self, name).copy() for name in self.ARRAYS}
        new = self.sharing(**{**arrays, "counts": counts, "n_columns": members[0].n_columns})
        new._seat(members)
        return new

    @classmethod
    def joins_singly(cls, params: CommitteeParams) -> bool:
        return any(kind.joins_singly(own) for kind, own in zip(params.kinds, params.members, strict=True))

    def grow_classes(self, places: np.ndarray, n_classes: int, params: CommitteeParams) -> CommitteeState:
        members = []
        for member, own in zip(self.members, params.members, strict=True):
            member.is_open = self.is_open
            members.append(member.grow_classes(places, n_classes, own))
        joined = self._with(members, self.counts_at(places, n_classes))
        if joined.n_columns > self.n_columns:
            self._move(joined, Move.of_classes(places, self.n_columns, joined.n_columns, self.n_none), 0.5)
        return joined

    def compact(self) -> CommitteeState:
        members = [member.compact() for member in self.members]
        if all(new is old for new, old in zip(members, self.members, strict=True)):
            return self
        return self._with(members, self.counts)

    def keep_classes(self, keep: np.ndarray, n_none: int | None = None) -> CommitteeState:
        rest = self._with([member.keep_classes(keep, n_none) for member in self.members], self.counts[keep])
        self._move(rest, Move.of_kept(np.append(keep, np.ones(rest.n_none, bool))), 0.5)
        return rest

    # --- reading -------------------------------------------------------------------------------------------------------------

    def weights_of(self, params: CommitteeParams, features: slice) -> np.ndarray:
        """Return the combined weights Σ a_k w_k, computed at first use and kept until the next row. The constant feature is 1."""
        whole, rounds = features == slice(0, self.n_features), float(self.counters[self.COUNTERS["t"]])
        if whole and self._hyperplane is not None and self._hyperplane[0] == rounds:
            return self._hyperplane[1]
        total: Any = 0.0
        for share, member, own in zip(self.shares, self.members, params.members, strict=True):
            found = member.weights_of(own, features).astype(np.float64)
            if features.stop is None:
                found[:, -1] *= member.constant
            total = total + np.clip(share * found, -FAR, FAR)
        total = read_only(np.clip(total, -self.largest, self.largest).astype(self.dtype))
        if whole:
            self._hyperplane = rounds, total
        return total

    # --- files ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: CommitteeParams) -> CommitteeState:
        """Return the model of these parts, its members' among them; raise InvalidError if learning cannot produce one."""
        header, members = dict(header), []
        for at, (kind, own) in enumerate(zip(params.kinds, params.members, strict=True)):
            own = own._replace(open_classes=params.open_classes)
            members.append(kind.of_file(of_number(at, header), of_number(at, arrays), n_classes, own))
            alike = [(each.n_features, each.dtype, each.counts.tolist(), each.count("t")) for each in (members[0], members[-1])]
            require(alike[0] == alike[1], "members that have learnt the same rows", alike)
        state = cls.__new__(cls)
        state._begin(members, n_classes, params)
        scalars = {name: getattr(state, name) for name in cls.SCALARS}
        require(header == scalars, f"a state of {scalars}", header)
        require_layout(arrays, {name: (getattr(state, name).shape, FLOAT64) for name in cls.ARRAYS})
        for name, part in arrays.items():
            setattr(state, name, part)
        return state.checked()

    def _problem_of_values(self, counters: dict) -> str:
        first = self.members[0]
        if counters["t"] != first.count("t") or self.counts.tolist() != first.counts.tolist():
            return "other rows than the members'"
        if self.mistakes.max() > counters["t"] or (self.mistakes % 1.0).any():
            return "mistakes that no rows produce"
        if self.squares.any() and not self.scored[0]:
            return "squares of no scores"
        return ""
