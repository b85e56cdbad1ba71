"""Several learners on one stream, each row predicted and then learnt by all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.classifier import OnlineClassifier, predict_and_learn
from .._input import validate
from .._input.rows import part_of
from ..measures import ErrorRace
from ._progressive import batches, check_every, judged, to_be_cut

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from .._input.types import XY, XYWeight

_WHO = "compare"


@dataclass(frozen=True)
class Comparison:
    """Learners that were compared on a stream, from `compare`.

    Attributes
    ----------
    names : list of str
        Learners, best first; dropped ones come last, those dropped later before those dropped earlier.
    errors : dict of str to float
        Progressive error of each over the rows that it has learnt.
    examples : dict of str to int
        Rows of weight > 0 that each has learnt: all, or those up to where it was dropped.
    better_by : dict of str to (float, float)
        Interval for the mean of each learner's error less the first's over those rows. All intervals hold together, at all times,
        with probability 1 - level.
    seconds : dict of str to float
        Time that each has spent predicting and learning.
    """

    names: list[str]
    errors: dict[str, float]
    examples: dict[str, int]
    better_by: dict[str, tuple[float, float]]
    seconds: dict[str, float]

    @property
    def best(self) -> str:
        """Name of the learner with the fewest mistakes."""
        return self.names[0]

    @property
    def beaten(self) -> list[str]:
        """Learners that err more than the first, at the level of the comparison."""
        return [name for name in self.names[1:] if self.better_by[name][0] > 0.0]


class Race:
    """Learners on one stream, and the statistics of their errors.

    drop : True: a beaten learner learns no more. every : rows between two looks at the errors.
    """

    def __init__(self, learners: Mapping[str, Any], level: float, drop: bool, every: int = 1000) -> None:
        self.learners, self.drop, self.every, n = dict(learners), drop, every, len(learners)
        self.names, self.race = list(learners), ErrorRace(n, level)
        self.mistakes, self.examples, self.seconds = np.zeros(n, int), np.zeros(n, int), np.zeros(n)
        self.n_rows = 0
        self.waiting: list[np.ndarray] = []  # where each learner was wrong, since the last look

    def learn(self, X: Any, y: np.ndarray, weights: np.ndarray | None, classes: ArrayLike | None) -> None:
        """Let all learners that have not been dropped predict and learn rows."""
        start = 0
        while start < len(y):
            stop = min(start + self.every - self.n_rows % self.every, len(y))
            self._learn(part_of(X, start, stop), y[start:stop], None if weights is None else weights[start:stop], classes)
            self.n_rows, start = self.n_rows + stop - start, stop
            if self.n_rows % self.every == 0:
                self.look()

    def _learn(self, X: Any, y: np.ndarray, weights: np.ndarray | None, classes: ArrayLike | None) -> None:
        wrong = np.zeros((len(y), len(self.names)), bool)
        for k in np.flatnonzero(self.race.alive):
            learner, begun = self.learners[self.names[k]], time.perf_counter()
            named = None if learner.__sklearn_is_fitted__() else classes
            codes = predict_and_learn(learner, X, y, named, weights)
            self.seconds[k] += time.perf_counter() - begun
            live, found = judged(learner, codes, y)
            wrong[:, k] = live & found
            self.examples[k] += np.count_nonzero(live)
            self.mistakes[k] += np.count_nonzero(wrong[:, k])
        rounds = np.ones(len(y), bool) if weights is None else weights > 0.0
        self.waiting.append(wrong[rounds])

    def look(self) -> None:
        """Count the errors since the last look, and drop learners that are beaten."""
        if self.waiting:
            self.race.update(np.concatenate(self.waiting))
            self.waiting = []
            if self.drop:
                self.race.alive &= ~self.race.beaten()

    def result(self) -> Comparison:
        self.look()
        errors = self.mistakes / np.maximum(self.examples, 1)
        order = sorted(range(len(errors)), key=lambda k: (-self.examples[k], errors[k]))
        low, high = self.race.intervals()
        return Comparison(
            [self.names[k] for k in order], {name: float(errors[k]) for k, name in enumerate(self.names)},
            {name: int(self.examples[k]) for k, name in enumerate(self.names)},
            {name: (float(low[k, order[0]]), float(high[k, order[0]])) for k, name in enumerate(self.names) if k != order[0]},
            {name: float(self.seconds[k]) for k, name in enumerate(self.names)},
        )


def compare(
    learners: Mapping[str, OnlineClassifier], stream: XY | XYWeight | Iterable[XY | XYWeight], *,
    classes: ArrayLike | None = None, level: float = 0.05, drop: bool = False, every: int = 1000,
) -> Comparison:
    """Stream rows once through several classifiers, and find those that err less, at a level that holds at any time.

    Each row is predicted, then learnt by each. For learners i and k, d_t is 1 where only i errs and -1 where only k does; the
    interval for the mean of E_t d_t is that of `onlinecls.measures.ErrorComparison` at level / (K (K - 1) / 2), so that those of
    all pairs hold together. With `drop` it is a race: at each look, learners beaten by another are dropped, which saves their
    time.

    Parameters
    ----------
    learners : dict of str to classifier of this library
        By their names in the result. They learn in place.
    stream : tuple (X, y) or (X, y, sample_weight), or iterable of such tuples
        As in `progressive_validation`.
    classes : array-like of shape (n_classes,), default=None
        All labels that will appear. None: labels join as they appear.
    level : float in (0, 1), default=0.05
        Probability that any of the intervals ever misses its mean.
    drop : bool, default=False
        Drop learners that are beaten.
    every : int, default=1000
        Rows between two looks, >= 1.

    Returns
    -------
    comparison : Comparison
        Of the learners by name: their errors and numbers of rows, those that are beaten, and the best.

    Raises
    ------
    TypeError
        If a learner is not a classifier of this library.
    ValueError
        If there are fewer than two learners, a parameter is out of range, or a batch is not valid.

    See Also
    --------
    progressive_validation : The same pass with one learner.
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
    for name, learner in learners.items():
        if not isinstance(learner, OnlineClassifier):
            raise TypeError(
                f"{_WHO}: learners must be classifiers of this library, got {type(learner).__name__} for {name!r}. "
                "progressive_validation takes others, one by one."
            )
    check_every(_WHO, every)
    race = Race(learners, level, drop, every)
    for X, y, weights in batches(_WHO, stream, validate.read_labels):
        race.learn(to_be_cut(_WHO, X), y, weights if len(weights) else None, classes)
    found = race.result()
    if not max(found.examples.values()):
        raise ValueError(f"{_WHO}: stream must have a row of weight > 0, got none. Give it rows to learn.")
    return found
