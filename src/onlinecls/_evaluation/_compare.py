"""Several learners on one stream, each row predicted and then learnt by all of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._input import validate
from .._input.compat import kind_of, random_state
from .._input.rows import lasting, n_rows_of, part_of, rows_of
from .._pipeline import StreamPipeline
from .._wings.multilabel.estimators import MultiLabelClassifier
from ..measures import Comparison, ErrorRace
from ._progressive import SUMS, Curve, ProgressiveResult, batches, check_every
from ._runs import ClassifierRun, all_classes, cuts, is_one_batch, one_by_one_or_itself, takes_tables, to_be_cut

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from .._input.types import XY, RandomState, XYWeight

_WHO = "compare"


class Race:
    """Learners on one stream, and the statistics of their errors.

    drop : True: a beaten learner learns no more. every : rows between two looks at the errors. curves : keep a point of each
    learner's curve at each look, not the end alone.
    """

    def __init__(
        self, learners: Mapping[str, Any], level: float, drop: bool, every: int = 1000, curves: bool = False
    ) -> None:
        self.level, self.drop, self.every, self.curves, self.n_rows = level, drop, every, curves, 0
        self.names, self.race = list(learners), ErrorRace(len(learners), level)
        self.runs = [ClassifierRun(learner, Curve(("examples", *SUMS), who=_WHO)) for learner in learners.values()]
        self.by_row = all(run.by_row for run in self.runs)
        self.waiting: list[np.ndarray] = []  # where each learner was wrong, since the last look

    @property
    def seconds(self) -> np.ndarray:
        """Time that each learner has spent."""
        return np.array([run.curve.seconds for run in self.runs])

    def learn(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, classes: ArrayLike | Mapping[str, Any] | None
    ) -> None:
        """Let all learners that have not been dropped predict and learn rows. classes : for all, or by a learner's name."""
        weights = np.empty(0) if weights is None else weights
        named = classes if isinstance(classes, Mapping) else dict.fromkeys(self.names, classes)
        for start, stop in cuts(self.n_rows, len(y), self.every, self.by_row):
            rows = slice(start, stop)
            self._learn(part_of(X, start, stop), y[rows], weights[rows], named)
            self.n_rows += stop - start
            if self.n_rows % self.every == 0:
                self.look()

    def _learn(self, X: Any, y: np.ndarray, weights: np.ndarray, classes: Mapping[str, Any]) -> None:
        wrong = np.zeros((len(y), len(self.names)), bool)
        for k in np.flatnonzero(self.race.alive):
            wrong[:, k] = self.runs[k].learn(X, y, y, weights, classes[self.names[k]])
            self.runs[k].curve.n_rows += len(y)
        self.waiting.append(wrong[weights > 0.0] if len(weights) else wrong)

    def look(self) -> None:
        """Count the errors since the last look, and drop learners that are beaten."""
        if self.waiting:
            self.race.update(np.concatenate(self.waiting))
            self.waiting = []
            for run in self.runs if self.curves else ():
                run.curve.mark()
            if self.drop:
                self.race.alive &= ~self.race.beaten()

    def result(self) -> Comparison:
        """Return the comparison so far, of one order of the rows."""
        return result_of([self])


def result_of(races: list[Race]) -> Comparison:
    """Return the comparison of races of the same learners, on several orders of the rows.

    The mean over the races of an interval's ends holds where each of them does, and so at the sum of their levels.
    """
    for race in races:
        race.look()
    names, ends = races[0].names, np.mean([race.race.intervals() for race in races], axis=0)
    curves = {
        name: [ProgressiveResult(by_row=run.by_row, **run.curve.fields(run.counts)) for run in runs]
        for name, runs in zip(names, zip(*(race.runs for race in races), strict=True), strict=True)
    }
    found = Comparison([], curves, {}, sum(race.level for race in races))
    order = sorted(range(len(names)), key=lambda k: (-found.examples[names[k]], found.errors[names[k]]))
    low, high = ends[:, :, order[0]].tolist()
    better_by = {name: (low[k], high[k]) for k, name in enumerate(names) if k != order[0]}
    return Comparison([names[k] for k in order], curves, better_by, found.level)


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
    level: float = 0.05, drop: bool = False, every: int = 1000, orders: int | None = None, random_state: RandomState = 0,
) -> Comparison:
    """Stream rows once through several classifiers, and find those that err less, at a level that holds at any time.

    Each row is predicted, then learnt by each. For learners i and k, d_t is 1 where only i errs and -1 where only k does; the
    interval for the mean of E_t d_t is that of `onlinecls.measures.ErrorComparison` at level / (K (K - 1) / 2), so that those of
    all pairs hold together. With `drop` it is a race: at each look, learners beaten by another are dropped, which saves their
    time. With `orders`, each of the orders has a comparison of its own, at level / orders, and the errors and the ends of the
    intervals are means over them.

    Parameters
    ----------
    learners : dict of str to classifier
        By their names in the result: any that `progressive_validation` takes, such as pipelines, rules of one's own
        (`onlinecls.reference.RuleClassifier`), models of river's and scikit-learn's classifiers with `partial_fit`. They learn in
        place. Those that do not predict row by row (scikit-learn's) predict a batch of at most `every` rows, and of at most as
        many as came before, and then learn it; ``curves[name][0].by_row`` is then False.
    stream : tuple (X, y) or (X, y, sample_weight), or iterable of such tuples
        As in `progressive_validation`. It is read once.
    classes : array-like of shape (n_classes,), default=None
        All labels that will appear. None: labels join as they appear; learners of other libraries, and rules of one's own, which
        need all of them at first, get those of y if the stream is one (X, y).
    level : float in (0, 1), default=0.05
        Probability that any of the intervals ever misses its mean.
    drop : bool, default=False
        Drop learners that are beaten.
    every : int, default=1000
        Rows between two looks, and between two points of the curves, >= 1.
    orders : int >= 1, default=None
        Number of random orders of the rows of one (X, y) to learn them in. Copies of the learners learn; those given stay as they
        are. None: the rows as they come.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the orders. One seed gives `plotting.ProgressiveDisplay` the same orders.

    Returns
    -------
    found : Comparison
        Errors, intervals, curves; it prints as a table, and has `to_frame` and `to_latex`.

    Raises
    ------
    TypeError
        If a learner is no classifier, or cannot learn in parts.
    ValueError
        If there are fewer than two learners or one has two names, a parameter is out of range, or a batch is not valid.

    See Also
    --------
    progressive_validation : The same pass with one learner.
    measures.across : Learners ranked across data sets, with tests of the ranks.
    measures.Comparison : The result.
    measures.ErrorRace : The comparison alone, of predictions made elsewhere.

    References
    ----------
    O. Maron, A. Moore: Hoeffding races, NIPS 1993, with the intervals of Y. J. Choe, A. Ramdas: Comparing sequential
    forecasters, 2021, which need no independent rows and may be looked at any number of times.

    Examples
    --------
    >>> from onlinecls import AdaGradClassifier, AROWClassifier, compare
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 500, ["ham", "spam"] * 500
    >>> sparse = AdaGradClassifier(update="dual_averaging", l1=10.0)
    >>> found = compare({"arow": AROWClassifier(), "sparse": sparse}, (X, y), drop=True, every=100)
    >>> found.best, found.beaten, found.examples["sparse"]
    ('arow', ['sparse'], 100)
    """
    if not isinstance(learners, Mapping) or len(learners) < 2:
        raise ValueError(f"{_WHO}: learners must be a dict of two classifiers or more by their names, got {learners!r}.")
    checked = {name: _checked(name, learner) for name, learner in learners.items()}
    check_every(_WHO, every)
    if len({*map(id, learners.values())}) < len(learners):
        raise ValueError(f"{_WHO}: learners must be different objects, got one twice among {list(learners)}. Give a copy of it.")
    if orders is not None and drop:
        raise ValueError(f"{_WHO}: drop must be False where orders is given, got True. All learners learn all rows.")
    races: list[Race] = []
    ErrorRace(2, level)  # (refuses a level out of its range)
    for rows, _ in in_orders(_WHO, stream, orders, random_state):
        race = Race(checked if orders is None else copy.deepcopy(checked), level / (orders or 1), drop, every, True)
        named = {name: all_classes(_WHO, learner, stream, classes) for name, learner in checked.items()}
        tables = any(takes_tables(learner) for learner in checked.values())
        for X, y, weights in batches(_WHO, rows, validate.read_labels, tables):
            race.learn(to_be_cut(_WHO, X), y, weights if len(weights) else None, named)
        races.append(race)
    return result_of(races)


def _checked(name: str, learner: Any) -> Any:
    """Return a learner that `compare` takes, as one with `partial_fit` and `predict`."""
    given, learner = learner, one_by_one_or_itself(_WHO, learner)
    inner = learner[-1] if isinstance(learner, StreamPipeline) else learner
    if kind_of(learner) not in (None, "classifier") or isinstance(inner, MultiLabelClassifier):
        raise TypeError(f"{_WHO}: learners must be classifiers, of one label a row, got {type(given).__name__} for {name!r}.")
    return learner
