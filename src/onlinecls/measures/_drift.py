"""Alarms where the error along a stream rises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

_LARGEST = 1e140  # loss: the sums stay finite


@dataclass(eq=False, repr=False)
class DriftAlarm:
    """Watch the error of a learner along a stream, and raise an alarm where it rises (Page-Hinkley).

    With x_t the loss of row t and x̄_t the mean so far, m_t = Σ (x_i - x̄_i - tolerance). An alarm is where
    m_t - min_{i<=t} m_i > threshold; counting begins anew behind it.

    Parameters
    ----------
    tolerance : float >= 0, default=0.005
        Rise of the error that does not matter.
    threshold : float > 0, default=50.0
        The higher, the fewer false alarms and the later the true ones: a rise of the error by 0.1 takes about 500 rows.
    least : int >= 1, default=30
        Rows before the first alarm.
    on_alarm : callable, default=None
        Called with the number of a row (from 1) that raises an alarm.

    Attributes
    ----------
    examples : int
        Rows so far.
    alarms : list of int
        Numbers of the rows (from 1) with an alarm.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or a loss is not finite.

    See Also
    --------
    onlinecls.progressive_validation : Predict and learn a stream, with an alarm.

    References
    ----------
    E. S. Page: Continuous inspection schemes, Biometrika 1954; D. V. Hinkley, Biometrika 1971.

    Examples
    --------
    >>> from onlinecls.measures import DriftAlarm
    >>> alarm = DriftAlarm(threshold=5.0)
    >>> alarm.update([0.0, 0.0, 0.0, 1.0] * 25), alarm.update([1.0] * 10)
    (False, True)
    >>> alarm.alarms
    [105]
    """

    tolerance: float = 0.005
    threshold: float = 50.0
    least: int = 30
    on_alarm: Callable[[int], object] | None = None
    examples: int = field(default=0, init=False)
    alarms: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        for name, fits, wanted in (
            ("tolerance", lambda v: v >= 0.0, "a number >= 0"),
            ("threshold", lambda v: v > 0.0, "a number > 0"),
            ("least", lambda v: v >= 1 and v == int(v), "an integer >= 1"),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not fits(value):
                raise ValueError(f"DriftAlarm: {name} must be {wanted}, got {name}={value!r}.")
        self._begin()

    def _begin(self) -> None:
        self._n, self._total, self._m, self._lowest = 0, 0.0, 0.0, 0.0

    def update(self, losses: ArrayLike) -> bool:
        """Count the losses of rows, in their order.

        Parameters
        ----------
        losses : array-like of shape (n_rows,)
            1 for a mistake and 0 for none, or any other loss.

        Returns
        -------
        alarm : bool
            Whether there was an alarm among them.
        """
        x = np.asarray(losses, float).ravel()
        if not np.isfinite(x).all():
            raise ValueError("DriftAlarm: losses must be finite, got NaN or infinity among them.")
        before, x = len(self.alarms), np.clip(x, -_LARGEST, _LARGEST)
        while len(x):
            n = self._n + np.arange(1, len(x) + 1)
            totals = np.cumsum([self._total, *x])[1:]  # (in the order of the rows, so that batches do not matter)
            with np.errstate(under="ignore"):
                m = np.cumsum([self._m, *(x - totals / n - self.tolerance)])[1:]
            lowest = np.minimum(np.minimum.accumulate(m), self._lowest)
            raised = np.flatnonzero((m - lowest > self.threshold) & (n >= self.least))
            if not len(raised):
                self._n, self._total, self._m, self._lowest = int(n[-1]), float(totals[-1]), float(m[-1]), float(lowest[-1])
                self.examples += len(x)
                break
            used = int(raised[0]) + 1
            self.examples += used
            self.alarms.append(self.examples)
            self._begin()
            if self.on_alarm is not None:
                self.on_alarm(self.examples)
            x = x[used:]
        return len(self.alarms) > before
