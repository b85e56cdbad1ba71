"""Several learners on one stream, each row predicted and then learnt by all of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._input import validate
from .._input.compat import kind_of, random_state
from .._rows import Rows
from ..text import lasting, n_rows_of, part_of
from ._progressive import SUMS, Curve, ProgressiveResult, batches, check_every
from ._runs import ClassifierRun, all_classes, cuts, is_one_batch, require_methods, takes_tables, to_be_cut

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from .._input.types import XY, RandomState, XYWeight

_WHO = "compare"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Learners that were compared on a stream, from `onlinecls.compare`. It prints as a table.

    Attributes
    ----------
    names : list of str
        Learners, fewest mistakes first.
    curves : dict of str to list of ProgressiveResult
        Learning curve of each in each order of the rows (one, unless `orders` was given), for `plotting.ProgressiveDisplay`.
    errors : dict of str to float
        Progressive error of each; the mean over the orders.
    spread : dict of str to float
        Standard deviation of the error over the orders (divided by their number less one); NaN where there is one only.
    seconds : dict of str to float
        Time that each has spent predicting and learning, in all orders.
    best : str
        The first of the names.
    """

    names: list[str]
    curves: dict[str, list[ProgressiveResult]]

    @property
    def errors(self) -> dict[str, float]:
        """Progressive error of each learner, the mean over the orders."""
        return {name: float(np.mean([each.progressive_error for each in self.curves[name]])) for name in self.names}

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviation of the error of each over the orders; NaN where there is one only."""
        errors = {name: [each.progressive_error for each in self.curves[name]] for name in self.names}
        return {name: float(np.std(each, ddof=1)) if len(each) > 1 else float("nan") for name, each in errors.items()}

    @property
    def seconds(self) -> dict[str, float]:
        """Time that each has spent, in all orders."""
        return {name: float(sum(each.seconds[-1] for each in self.curves[name])) for name in self.names}

    @property
    def best(self) -> str:
        """The learner with the fewest mistakes."""
        return self.names[0]

    def __repr__(self) -> str:
        errors, spread, seconds = self.errors, self.spread, self.seconds
        width = max(8, *map(len, self.names))
        lines = [f"{'learner':<{width}}  {'error, %':>14}  {'seconds':>8}"]
        for name in self.names:
            error = f"{100 * errors[name]:.2f}" + (f" ± {100 * spread[name]:.2f}" if len(self.curves[name]) > 1 else "")
            lines.append(f"{name:<{width}}  {error:>14}  {seconds[name]:>8.3g}")
        return "\n".join(lines)


def in_orders(who: str, stream: Any, orders: Any, seed: Any, y_clean: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield a stream and its clean labels, in random orders of the rows; as they are where orders is None."""
    if orders is None:
        yield stream, y_clean
        return
    if isinstance(orders, bool) or not isinstance(orders, (int, np.integer)) or orders < 1:
        raise ValueError(f"{who}: orders must be None or an integer >= 1, got orders={orders!r}.")
    if not is_one_batch(stream):
        raise ValueError(
            f"{who}: stream must be one (X, y) or (X, y, weight) where orders is given, got {type(stream).__name__}. Its "
            "rows are put in another order as a whole."
        )
    X, generator = to_be_cut(who, lasting(stream[0])), random_state(who, seed)
    columns, n_rows = [*stream[1:], *([] if y_clean is None else [y_clean])], n_rows_of(X)
    for column in columns:
        if column is not None and (not hasattr(column, "__len__") or len(column) != n_rows):
            raise ValueError(f"{who}: X and y must have the same number of rows where orders is given, got {n_rows} in X.")
    for _ in range(orders):
        order = generator.permutation(n_rows)
        shuffled = [None if column is None else rows_of(column, order) for column in columns]
        yield (rows_of(X, order), *shuffled[: len(stream) - 1]), None if y_clean is None else shuffled[-1]


def compare(
    learners: Mapping[str, Any], stream: XY | XYWeight | Iterable[XY | XYWeight], *, classes: ArrayLike | None = None,
    every: int = 1000, orders: int | None = None, random_state: RandomState = 0,
) -> Comparison:
    """Stream rows once through several classifiers, each row predicted and then learnt by all of them, and count mistakes.

    Parameters
    ----------
    learners : dict of str to classifier
        By their names in the result: any that `progressive_validation` takes. They learn in place. Those that do not predict row
        by row (scikit-learn's) predict a batch of at most `every` rows, and of at most as many as came before, and then learn
        it; ``curves[name][0].by_row`` is then False.
    stream : tuple (X, y) or (X, y, sample_weight), or iterable of such tuples
        As in `progressive_validation`. It is read once.
    classes : array-like of shape (n_classes,), default=None
        All labels that will appear. None: labels join as they appear; learners of other libraries, which need all of them at
        first, get those of y if the stream is one (X, y).
    every : int, default=1000
        Rows between two points of the curves, >= 1.
    orders : int >= 1, default=None
        Number of random orders of the rows of one (X, y) to learn them in. Copies of the learners learn; those given stay as they
        are. None: the rows as they come.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the orders. One seed gives `plotting.ProgressiveDisplay` the same orders.

    Returns
    -------
    found : Comparison
        Errors, their spread over the orders, and curves; it prints as a table.

    Raises
    ------
    TypeError
        If a learner is no classifier, or cannot learn in parts.
    ValueError
        If there are fewer than two learners or one has two names, a parameter is out of range, or a batch is not valid.

    Examples
    --------
    >>> from onlinecls import AdaGradClassifier, AROWClassifier, compare
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 500, ["ham", "spam"] * 500
    >>> sparse = AdaGradClassifier(update="dual_averaging", l1=10.0)
    >>> found = compare({"sparse": sparse, "arow": AROWClassifier()}, (X, y))
    >>> found.best, found.errors["arow"]
    ('arow', 0.003)
    """
    if not isinstance(learners, Mapping) or len(learners) < 2:
        raise ValueError(f"{_WHO}: learners must be a dict of two classifiers or more by their names, got {learners!r}.")
    check_every(_WHO, every)
    for name, learner in learners.items():
        require_methods(_WHO, learner)
        if kind_of(learner) not in (None, "classifier"):
            raise TypeError(f"{_WHO}: learners must be classifiers, got {type(learner).__name__} for {name!r}.")
    if len({*map(id, learners.values())}) < len(learners):
        raise ValueError(f"{_WHO}: learners must be different objects, got one twice among {list(learners)}. Give a copy of it.")
    named = {name: all_classes(_WHO, learner, stream, classes) for name, learner in learners.items()}
    curves: dict[str, list[ProgressiveResult]] = {name: [] for name in learners}
    for rows, _ in in_orders(_WHO, stream, orders, random_state):
        learning = learners if orders is None else copy.deepcopy(learners)
        for name, found in _curves(learning, rows, named, every).items():
            curves[name].append(found)
    errors = {name: np.mean([each.progressive_error for each in found]) for name, found in curves.items()}
    return Comparison(sorted(curves, key=errors.__getitem__), curves)


def _curves(learners: Mapping[str, Any], stream: Any, classes: Mapping[str, Any], every: int) -> dict[str, ProgressiveResult]:
    """Return the curve of each learner on a stream that is read once."""
    runs = {name: ClassifierRun(learner, Curve(("examples", *SUMS), who=_WHO)) for name, learner in learners.items()}
    by_row, n_rows = all(run.by_row for run in runs.values()), 0
    for X, y, weights in batches(_WHO, stream, validate.read_labels, any(map(takes_tables, learners.values()))):
        X = to_be_cut(_WHO, X)
        for start, stop in cuts(n_rows, len(y), every, by_row):
            rows = slice(start, stop)
            n_rows += stop - start
            for name, run in runs.items():
                run.learn(part_of(X, start, stop), y[rows], y[rows], weights[rows], classes[name])
                run.curve.n_rows = n_rows
                if n_rows % every == 0:
                    run.curve.mark()
    return {name: ProgressiveResult(by_row=run.by_row, **run.curve.fields(run.counts)) for name, run in runs.items()}


def rows_of(X: Any, numbers: np.ndarray) -> Any:
    """Return the rows of these numbers of a matrix, an array, a table, a list or `Rows`, copied."""
    if hasattr(X, "iloc"):
        return X.iloc[numbers]
    if hasattr(X, "items"):
        return {name: rows_of(values, numbers) for name, values in X.items()}
    if isinstance(X, Rows):
        return X.chosen(numbers)
    if hasattr(X, "column_names"):
        return X.take(numbers)
    return X[numbers] if hasattr(X, "shape") else [X[number] for number in numbers.tolist()]
