"""Labels that come late: each row is predicted when it comes, and learnt when its label does."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.estimator import Estimator
from .._input import validate
from .._input.compat import is_fitted, issparse
from .._input.rows import Rows, part_of
from .._pipeline import StreamPipeline, learns_as_by_row, scores_of
from ..tables import TextTable, date_in_any_form

if TYPE_CHECKING:
    from typing import Any

_MICROSECOND = timedelta(microseconds=1)
_BEGIN = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 10**6  # microseconds
_NUMBER, _DATE, _DURATION = "number", "date", "duration"


class Delays:
    """The moments at which rows come, and at which their labels do. Dates and durations are whole microseconds.

    moment, delay : as in `progressive_validation`.
    """

    def __init__(self, who: str, moment: Any, delay: Any) -> None:
        self.who, self.last, self.at = who, -np.inf, 0
        self.moment = moment if moment is None or isinstance(moment, str) else self._numbers("moment", moment)
        self.is_constant = not isinstance(delay, str) and np.ndim(delay) == 0
        self.delay: Any = delay if isinstance(delay, str) else self._numbers("delay", [delay] if self.is_constant else delay)
        if moment is None and self.is_constant and (self.delay[1] != _NUMBER or self.delay[0][0] % 1):
            raise ValueError(
                f"{who}: delay must be a whole number of rows where moment is None, got {delay!r}. Give the moments too."
            )

    def of(self, X: Any, n_rows: int) -> tuple[list, list]:
        """Return the moments of the next rows of the stream, and the moments from which their labels are known."""
        first, self.at = self.at, self.at + n_rows
        moments, unit = list(range(first, self.at)), _NUMBER
        if self.moment is not None:
            moments, unit = self._next("moment", self.moment, X, first, n_rows)
        if self.is_constant:
            delays, kind = self.delay[0] * n_rows, self.delay[1]
        else:
            delays, kind = self._next("delay", self.delay, X, first, n_rows)
        if (unit == _NUMBER and kind != _NUMBER) or (unit != _DATE and kind == _DATE):
            raise ValueError(
                f"{self.who}: delay must be in the unit of the moments, which are {unit}s, got a {kind}. Give a number, or dates."
            )
        if kind == _DATE:
            delays = [known - moment for known, moment in zip(delays, moments, strict=True)]
        elif unit != _NUMBER and kind == _NUMBER:
            delays = [round(delay * _SECOND) for delay in delays]
        for k, (before, now) in enumerate(zip([self.last, *moments], moments, strict=False)):
            if now < before:
                raise ValueError(
                    f"{self.who}: moments must not fall, got an earlier one in row {first + k} of the stream. Sort the rows."
                )
        for k, each in enumerate(delays):
            if each < 0:
                raise ValueError(f"{self.who}: delay must be >= 0, got a smaller one for row {first + k} of the stream.")
        self.last = moments[-1] if moments else self.last
        return moments, [moment + delay for moment, delay in zip(moments, delays, strict=True)]

    def end(self) -> None:
        """Raise ValueError if moments or delays are left at the end of the stream."""
        for name, given in (("moment", self.moment), ("delay", self.delay)):
            if isinstance(given, tuple) and not (given is self.delay and self.is_constant) and len(given[0]) > self.at:
                raise self._wrong_length(name, len(given[0]))

    def _next(self, name: str, given: Any, X: Any, first: int, n_rows: int) -> tuple[list[Any], str]:
        """Return the numbers of the next rows: of a column of X, or of those given for the whole stream."""
        if isinstance(given, str):
            return self._numbers(f"{name}={given!r}", self._column(name, given, X))
        numbers, kind = given
        if first + n_rows > len(numbers):
            raise self._wrong_length(name, len(numbers))
        return numbers[first : first + n_rows], kind

    def _wrong_length(self, name: str, n: int) -> ValueError:
        return ValueError(
            f"{self.who}: {name} must have a value for every row of the stream, got {n} of them. Give one a row."
        )

    def _column(self, name: str, column: str, X: Any) -> Any:
        try:
            return [row[column] for row in X] if isinstance(X, list | TextTable) else X[column]
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError(
                f"{self.who}: {name} must name a column that every row has, got {column!r} for {validate.brief(X)}. Give one of "
                "the rows' columns, or an array."
            ) from None

    def _numbers(self, name: str, values: Any) -> tuple[list, str]:
        """Return moments or delays as numbers, and what they are."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
            values = values.astype(f"{values.dtype.kind}8[us]")
        elif not isinstance(values, Iterable):
            raise TypeError(f"{self.who}: {name} must be an array of numbers or dates, got {validate.brief(values)}.")
        listed = next((getattr(values, name) for name in ("tolist", "to_pylist") if hasattr(values, name)), lambda: values)
        read = [self._number(name, value) for value in listed()]
        kinds = sorted({kind for _, kind in read})
        if len(kinds) > 1:
            raise ValueError(f"{self.who}: {name} must be values of one kind, got a {' and a '.join(kinds)}. Give one of them.")
        return [number for number, _ in read], kinds[0] if kinds else _NUMBER

    def _number(self, name: str, value: Any) -> tuple[Any, str]:
        given = value
        if isinstance(value, np.generic):
            value = (value.astype(f"{value.dtype.kind}8[us]") if value.dtype.kind in "mM" else value).item()
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                value = date_in_any_form(value)
        if isinstance(value, timedelta):
            return value // _MICROSECOND, _DURATION
        if isinstance(value, datetime) and value == value:  # (pandas' NaT is none)
            return (value - _BEGIN[value.tzinfo is not None]) // _MICROSECOND, _DATE
        if isinstance(value, date) and not isinstance(value, datetime):
            return (datetime(value.year, value.month, value.day) - _BEGIN[0]) // _MICROSECOND, _DATE
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < np.inf:
            return value, _NUMBER
        raise ValueError(
            f"{self.who}: {name} must be finite numbers, dates or durations, none missing, got {validate.brief(given)}. "
            "Texts are numbers, or dates in the forms that tables know."
        )


class Late:
    """Predict rows of a stream as they come, and learn each as soon as its label has come: just before the first row whose
    moment is not before the label's. Labels that come between two rows are learnt in the order in which they come.

    classes : for the first `partial_fit`, or None. scores : also return those of `_Answers`. lasts : True if batches stay what
    they are; others are copied, as a caller may fill the same array again.
    """

    def __init__(self, learner: Any, delays: Delays, classes: Any, scores: bool, lasts: bool) -> None:
        self.learner, self.delays, self.classes, self.scores, self.lasts = learner, delays, classes, scores, lasts
        self.pending: list[tuple] = []  # a heap of (moment of the label, number of the row, rows, place, labels, weights)
        inner = learner[-1] if isinstance(learner, StreamPipeline) else learner
        self.own = isinstance(inner, Estimator)
        self.by_block = self.own and learns_as_by_row(learner)
        self.seconds = 0.0

    def run(self, X: Any, y: np.ndarray, weights: np.ndarray, live: np.ndarray) -> tuple[list, tuple[np.ndarray, ...]]:
        """Predict and learn the next rows, and return the prediction of each (None if there is none) and its scores.

        live : rows of weight > 0; others are left out.
        """
        first = self.delays.at
        moments, known = self.delays.of(X, len(y))
        if not self.lasts:
            X = X.copy() if hasattr(X, "copy") and hasattr(X, "shape") else X
            y, weights = y.copy(), weights.copy()
        if issparse(X) and not isinstance(X, Rows) and self.own and not isinstance(self.learner, StreamPipeline):
            X = validate.read_rows(type(self.learner).__name__, X, None)  # (whose parts are made in no time)
        begun, found = time.perf_counter(), _Answers(self.learner, X, len(y), self.scores)
        start = 0
        for i in range(len(y)):
            if self.pending and self.pending[0][0] <= moments[i]:
                found.ask(start, i)
                self.learn(moments[i])
                start = i
            if live[i]:
                heappush(self.pending, (known[i], first + i, X, i, y, weights))
        found.ask(start, len(y))
        self.seconds = time.perf_counter() - begun
        predictions = [each if lives else None for each, lives in zip(found.predictions, live.tolist(), strict=True)]
        return predictions, found.scored

    def learn(self, until: float = np.inf) -> None:
        """Learn the rows whose labels have come by a moment."""
        while self.pending and self.pending[0][0] <= until:
            _, _, X, start, y, weights = heappop(self.pending)
            stop = start + 1
            while self.by_block and self.pending and self.pending[0][0] <= until:
                if self.pending[0][2] is not X or self.pending[0][3] != stop:
                    break
                heappop(self.pending)
                stop += 1
            more = {"sample_weight": weights[start:stop]} if len(weights) else {}
            if self.classes is not None and not is_fitted(self.learner):
                more["classes"] = self.classes
            self.learner.partial_fit(_part(X, start, stop), y[start:stop], **more)

    def end(self) -> None:
        """Learn the rows whose labels come behind the last row."""
        self.learn()
        self.delays.end()


class _Answers:
    """Hold what a learner says of rows at the moments when it is asked.

    scored : (scores, probabilities) or (scores,) of all rows, if they are wanted, NaN where there is no prediction.
    """

    def __init__(self, learner: Any, X: Any, n_rows: int, scores: bool) -> None:
        self.learner, self.X, self.n_rows, self.scores = learner, X, n_rows, scores
        self.predictions: list[Any] = [None] * n_rows
        self.scored: tuple[np.ndarray, ...] = ()

    def ask(self, start: int, stop: int) -> None:
        if start == stop or not is_fitted(self.learner):
            return
        rows = _part(self.X, start, stop)
        self.predictions[start:stop] = np.asarray(self.learner.predict(rows)).tolist()
        if self.scores:
            found = scores_of(self.learner, rows, stop - start)
            self.scored = self.scored or tuple(np.full((self.n_rows, each.shape[1]), np.nan) for each in found)
            for column, each in zip(self.scored, found, strict=True):
                column[start:stop] = each


def _part(X: Any, start: int, stop: int) -> Any:
    rows = part_of(X, start, stop)
    return rows.matrix() if isinstance(rows, Rows) and not rows.is_dense else rows  # (a matrix of few rows has a fast path)
