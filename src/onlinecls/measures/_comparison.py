"""Two learners compared on one stream, at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

_RANGE = 2.0  # width of [-1, 1], where the difference of two 0-1 losses lies
_BETS = 0.9 / _RANGE * 0.5 ** np.arange(14)  # λ of the mixture, each below 1 / _RANGE


def _half_width(variance: ArrayLike, examples: ArrayLike, level: float) -> NDArray[np.float64]:
    """Return half the width of intervals, u(V) / n, at most 2."""
    variances = np.asarray(variance, float)[..., None]
    penalties = (-np.log1p(-_RANGE * _BETS) - _RANGE * _BETS) / _RANGE**2 * variances
    wanted = np.log(2.0 / level) + np.log(len(_BETS))
    high = np.min((wanted + penalties) / _BETS, axis=-1)  # (one λ alone reaches it there)
    low = np.zeros_like(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        reached = np.logaddexp.reduce(_BETS * middle[..., None] - penalties, axis=-1) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.minimum(high / np.maximum(examples, 1), _RANGE)


def checked_level(who: str, level: float) -> float:
    if not (isinstance(level, (int, float)) and 0.0 < level < 1.0):
        raise ValueError(f"{who}: level must be a number in (0, 1), got level={level!r}.")
    return level


class ErrorComparison:
    """Compare the errors of two learners on one stream, at a level that holds whenever one looks.

    d_t is 1 where only the first learner errs, -1 where only the second does. With γ_t the mean of the d before row t,
    V = Σ (d_t - γ_t)² and ψ(λ) = (-ln(1 - 2λ) - 2λ) / 4, the process exp(λ Σ (d_t - E_t d_t) - ψ(λ) V) is a nonnegative
    supermartingale for each λ in [0, 1/2), and so is a mean of several; E_t is the expectation given the rows before. Therefore

        P(at all times, |Σ d_t - Σ E_t d_t| <= u(V)) >= 1 - level, with u such that the mean over λ of
        exp(λ u - ψ(λ) V) is 2 / level.

    The rows need not be independent nor alike, one may look after every row, and stop when the answer is there.

    Parameters
    ----------
    level : float in (0, 1), default=0.05
        Probability that the interval ever misses.

    Attributes
    ----------
    examples : int
        Rows so far.
    difference : float
        Error of the first learner less that of the second, so far.
    low, high : float
        Interval for the mean of E_t d_t.

    Raises
    ------
    ValueError
        If level is out of its range, or the arrays are not of equal length.

    See Also
    --------
    ErrorRace : All pairs of several learners.
    onlinecls.compare : Stream rows through learners and compare their errors.

    References
    ----------
    Y. J. Choe, A. Ramdas: Comparing sequential forecasters, 2021, Theorem 2 (with a mixture over 14 values of λ).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinecls.measures import ErrorComparison
    >>> generator = np.random.default_rng(0)
    >>> found = ErrorComparison().update(generator.random(20_000) < 0.10, generator.random(20_000) < 0.08)
    >>> found.better
    'second'
    """

    examples: int
    level: float

    def __init__(self, level: float = 0.05) -> None:
        self.level, self.examples = checked_level("ErrorComparison", level), 0
        self._sum = self._variance = 0.0

    def update(self, first_wrong: ArrayLike, second_wrong: ArrayLike) -> Self:
        """Count rows.

        Parameters
        ----------
        first_wrong, second_wrong : array-like of bool, shape (n_rows,)
            Where each learner, having learnt the rows before, predicted wrong.
        """
        first, second = np.asarray(first_wrong, bool), np.asarray(second_wrong, bool)
        if first.shape != second.shape or first.ndim != 1:
            raise ValueError(
                f"ErrorComparison: first_wrong and second_wrong must have an entry for each row, got {first.shape} and "
                f"{second.shape}. Give both learners the same rows."
            )
        d = first.astype(float) - second
        sums = np.cumsum([self._sum, *d])
        before = np.arange(self.examples, self.examples + len(d))
        self._variance = float(np.cumsum([self._variance, *(d - sums[:-1] / np.maximum(before, 1)) ** 2])[-1])
        self._sum = float(sums[-1])
        self.examples += len(d)
        return self

    @property
    def difference(self) -> float:
        """Error of the first learner less that of the second, so far; 0 before the first row."""
        return self._sum / max(self.examples, 1)

    @property
    def low(self) -> float:
        """Lower end of the interval for the difference."""
        return max(self.difference - float(_half_width(self._variance, self.examples, self.level)), -1.0)

    @property
    def high(self) -> float:
        """Upper end of the interval for the difference."""
        return min(self.difference + float(_half_width(self._variance, self.examples, self.level)), 1.0)

    @property
    def better(self) -> str | None:
        """The learner that errs less, "first" or "second"; None where the interval holds 0."""
        return "second" if self.low > 0.0 else "first" if self.high < 0.0 else None


class ErrorRace:
    """Compare the errors of all pairs of several learners on one stream, as `ErrorComparison` does of two.

    All intervals hold together, at all times, with probability 1 - level: each has level / (n (n - 1) / 2). The γ_t of
    `ErrorComparison` is here the mean of the d before the call of `update` that the row came with, which is known before
    the row as well; so the sums of a call are those of a matrix product.

    Parameters
    ----------
    n : int >= 1
        Learners.
    level : float in (0, 1), default=0.05
        Probability that any of the intervals ever misses.

    Attributes
    ----------
    alive : ndarray of bool, shape (n,)
        Learners that are still compared. Set an entry to False to leave one out from now on.

    Raises
    ------
    ValueError
        If level is out of its range.

    See Also
    --------
    ErrorComparison : Two learners.
    onlinecls.compare : Stream rows through learners and compare their errors.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinecls.measures import ErrorRace
    >>> race = ErrorRace(3)
    >>> race.update(np.random.default_rng(0).random((20_000, 3)) < [0.10, 0.08, 0.20])
    >>> race.beaten()
    array([ True, False,  True])
    """

    alive: np.ndarray
    level: float

    def __init__(self, n: int, level: float = 0.05) -> None:
        self.level, self.alive = checked_level("ErrorRace", level) / max(n * (n - 1) // 2, 1), np.ones(n, bool)
        self._sums, self._variances, self._rows = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))

    def update(self, wrong: NDArray[np.bool_]) -> None:
        """Count rows.

        Parameters
        ----------
        wrong : ndarray of bool, shape (n_rows, n)
            Where each learner, having learnt the rows before, predicted wrong. Columns of learners left out are not read.
        """
        found = wrong.astype(float)
        mistakes, together = found.sum(axis=0), found.T @ found
        d = mistakes[:, None] - mistakes
        squares = mistakes[:, None] + mistakes - 2.0 * together
        means = self._sums / np.maximum(self._rows, 1.0)
        pairs = np.outer(self.alive, self.alive)
        self._variances += np.where(pairs, squares - 2.0 * means * d + len(found) * means**2, 0.0)
        self._sums += np.where(pairs, d, 0.0)
        self._rows += np.where(pairs, float(len(found)), 0.0)

    def intervals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper ends of the intervals for the error of learner i less that of learner k, at [i, k]."""
        middle = self._sums / np.maximum(self._rows, 1.0)
        width = _half_width(self._variances, self._rows, self.level)
        return np.maximum(middle - width, -1.0), np.minimum(middle + width, 1.0)

    def beaten(self) -> NDArray[np.bool_]:
        """Return the learners that another one that is alive beats."""
        return np.any(self.intervals()[0][:, self.alive] > 0.0, axis=1)
