"""Rows of the table of algorithms, and ranges of parameters. The table itself is in _registry.py."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Range(NamedTuple):
    """The values that a parameter may have: those listed, and the objects of a class, numbers from low to high.

    kind : the class; None: the listed values alone. open_low, open_high : True if the end is not in the range. words : what an
    error requires. hint : its last sentence.
    """

    values: tuple = ()
    kind: Any = None
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    words: str = ""
    hint: str = ""

    def __contains__(self, value) -> bool:
        for one in self.values:
            is_of_type = isinstance(value, type(one)) or (type(one) is bool and type(value).__name__ in ("bool", "bool_"))
            if value is one or (is_of_type and value == one):  # (bool of numpy, which is not imported here)
                return True
        if self.kind is None or isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        if not issubclass(self.kind, numbers.Number):
            return True
        try:
            value = float(value) if self.kind is numbers.Real else value
        except OverflowError:
            return False
        return (self.low < value or (self.low == value and not self.open_low)) and (
            value < self.high or (self.high == value and not self.open_high)
        )


def Real(
    low: float = -math.inf, high: float = math.inf, low_allowed: bool = False, high_allowed: bool = False, hint: str = ""
) -> Range:
    """Return a range of real numbers."""
    if high < math.inf:
        words = f"a number in {'[' if low_allowed else '('}{low:g}, {high:g}{']' if high_allowed else ')'}"
    else:
        above = "" if low == -math.inf else f" {'>=' if low_allowed else '>'} {low:g}"
        words = ("a number" if high_allowed else "a finite number") + above
    return Range((), numbers.Real, low, high, not low_allowed, not high_allowed, words, hint)


def Integer(low: float = -math.inf, high: float = math.inf, hint: str = "") -> Range:
    """Return the range of the integers from low to high."""
    above = "" if low == -math.inf else f" >= {low}"
    return Range((), numbers.Integral, low, high, words="an integer" + (f" in [{low}, {high}]" if high < math.inf else above),
                 hint=hint)


def Options(values: tuple, hint: str = "") -> Range:
    """Return the range of a few values."""
    return Range(values, words=("one of " if len(values) > 1 else "") + ", ".join(map(repr, values)), hint=hint)


def Either(ranges: tuple[Range, ...], hint: str = "") -> Range:
    """Return the range of the values in one of these ranges, of which at most one has a class."""
    texts = [each.words for each in ranges]
    words = (", or " if any(", " in text for text in texts[:-1]) else " or ").join(texts)
    whole = next((each for each in ranges if each.kind), ranges[0])
    return whole._replace(values=tuple(one for each in ranges for one in each.values), words=words, hint=hint)


def parameter_error(who: str, name: str, allowed: Range, value: object) -> ValueError:
    """Return the error of a parameter out of its range: who, what was required, what came, what to do."""
    hint = f" {allowed.hint}" if allowed.hint else ""
    return ValueError(f"{who}: {name} must be {allowed.words}, got {name}={value!r}.{hint}")


class Conflict(NamedTuple):
    """Parameters that exclude each other.

    names : the parameter that must change, and those to show with it. must : what it must be, with {fields} for parameters.
    occurs : whether an estimator's parameters are in conflict. why : the end of the error.
    """

    names: tuple[str, ...]
    must: str
    occurs: Callable[[Mapping[str, Any]], bool]
    why: str

    def error(self, who: str, values: Mapping[str, Any]) -> ValueError:
        got = " and ".join(f"{name}={values[name]!r}" for name in self.names)
        return ValueError(f"{who}: {self.names[0]} must be {self.must.format_map(values)}, got {got}: {self.why}")


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Algorithm(NamedTuple):
    """A row of the table: an algorithm.

    name : also that of the slow twin in `reference`. rule, geometry : names of the compiled code, in ``_rules.pxd`` or, for dual
    ascent and its baselines, ``_wings/dual_ascent/dual_ascent.pyx``. estimator : its class. params : ranges of its own
    hyper-parameters. title, paper : its name and source. selects : constructor arguments that choose it in its class. defaults :
    the numbers that None stands for, where the algorithms of a class differ in them. margin : rows of at least this margin have
    no loss. trigger : when it may take a step, a name of Trigger in _rules.pxd. kernel : Params fields that do not depend on
    parameters. tasks : the loops that the estimator runs it in, ("binary", "multiclass"), ("regression",), ("one_class",), or
    ("experts",) where the features are advice in [0, 1]. merge : how models of parts of a stream are merged, a key of MERGES; or
    else why they cannot be. theorems : the functions of `bounds` that apply to it; `follow` uses the first. conflicts :
    parameters that exclude each other. level : True for a regressor that learns deviations from the mean of the targets where its
    intercept is "auto". costs : how the weight of a class enters, a name of Costs in _rules.pxd.
    """

    name: str
    rule: str
    geometry: str
    estimator: str
    params: Mapping[str, Range]
    title: str
    paper: str
    selects: Mapping[str, object] = _NOTHING
    defaults: Mapping[str, float] = _NOTHING
    margin: float = 1.0
    trigger: str = "loss"
    kernel: Mapping[str, float] = _NOTHING
    tasks: tuple[str, ...] = ("binary", "multiclass")
    merge: str = "mean"
    theorems: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    level: bool = False
    costs: str = "weight"

    @property
    def geometries(self) -> tuple[str, ...]:
        """The compiled geometries among which the parameters choose."""
        more = {"gaussian": ("full_gaussian", "forgetting"), "potential": ("full_potential",), "sinh": ("exp",)}
        return self.geometry, *more.get(self.geometry, ())
