"""Pictures of learning, with matplotlib (``pip install "onlinecls[plot]"``) and scikit-learn's Display conventions."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .evaluation import ProgressiveResult, compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .bounds import Certificate

__all__ = ["BoundDisplay", "ProgressiveDisplay"]


class _Display:
    lines_: dict[str, Any]

    def _draw_on(self, ax: Axes | None) -> Axes:
        """Take these axes, or those of a new figure."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            do = 'pip install "onlinecls[plot]"'
            raise ImportError(f"{type(self).__name__}: plotting needs matplotlib, which is not installed. {do}") from None
        self.ax_ = ax or plt.subplots(figsize=(8, 5), layout="constrained")[1]
        self.lines_, self.figure_ = {}, self.ax_.figure
        return self.ax_


class ProgressiveDisplay(_Display):
    """Learning curves: the progressive error of classifiers over the rows that they have seen.

    Of several orders of the rows, the mean is drawn, in a band of a standard deviation (divided by the orders less one).

    Parameters
    ----------
    results : dict of str to list of ProgressiveResult
        Curves by their names in the legend, one for each order of the rows.

    Attributes
    ----------
    ax_, figure_, lines_ : of the last drawing; lines_ has the lines by name, best first.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, Perceptron
    >>> from onlinecls.datasets import load_sms_spam
    >>> from onlinecls.plotting import ProgressiveDisplay
    >>> learners = {"AROW": AROWClassifier(), "Perceptron": Perceptron()}
    >>> display = ProgressiveDisplay.from_estimators(learners, load_sms_spam(), every=100)  # doctest: +SKIP
    >>> display.figure_.savefig("curves.png")  # doctest: +SKIP
    """

    def __init__(self, *, results: Mapping[str, list[ProgressiveResult]]) -> None:
        self.results = results

    @classmethod
    def from_results(cls, results: Mapping[str, Any], *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw results of `progressive_validation`, or the curves of `onlinecls.compare`, with the options of `plot`."""
        who = f"{cls.__name__}: results"
        if not isinstance(results, Mapping) or not results:
            raise ValueError(f"{who} must be a dict of name: result of progressive_validation, one or more, got {results!r}.")
        found = {name: list(each) if isinstance(each, list | tuple) else [each] for name, each in results.items()}
        if any(getattr(one, "mistakes", None) is None for each in found.values() for one in each or [each]):
            raise ValueError(f"{who} must be results of progressive_validation of classifiers, got {results!r}.")
        return cls(results=found).plot(ax, **options)

    @classmethod
    def from_estimators(
        cls, estimators: Any, stream: Any, y_clean: Any = None, *, ax: Axes | None = None, every: int = 1000,
        classes: Any = None, orders: int | None = None, random_state: Any = 0, **options: Any,
    ) -> Self:
        """Draw the curves of copies of classifiers on a stream, with the options of `onlinecls.compare` and of `plot`."""
        found = compare(
            copy.deepcopy(estimators), stream, y_clean, classes=classes, every=every, orders=orders, random_state=random_state)
        return cls.from_results(found.curves, ax=ax, **options)

    def plot(self, ax: Axes | None = None, *, log_x: bool = False, log_y: bool = False, **kwargs: Any) -> Self:
        """Draw the curves on these axes, or in a new figure; kwargs are options of matplotlib's `Axes.plot` for every line."""
        ax, highest = self._draw_on(ax), 0.0
        ranked = sorted(self.results.items(), key=lambda item: np.mean([each.progressive_error for each in item[1]]))
        for i, (name, several) in enumerate(ranked):
            at = several[0].examples  # (others differ where rows have a weight of 0)
            errors = np.array([np.interp(at, each.examples, 100 * each.error) for each in several])
            highest = max(highest, errors[:, at >= at[-1] / 50].max())
            error, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) if len(errors) > 1 else None
            label = f"{name}  {error[-1]:.3g}" + ("" if spread is None else f" ± {spread[-1]:.2g}")
            label += " %" if several[0].by_row else " % (by batch)"
            style = {"color": f"C{i % 10}", "linestyle": ("-", "--", ":", "-.")[i // 10 % 4], "linewidth": 1.6, "label": label}
            (self.lines_[name],) = ax.plot(at, error, **{**style, **kwargs})
            if spread is not None:
                ax.fill_between(at, error - spread, error + spread, color=self.lines_[name].get_color(), alpha=0.2, linewidth=0)
        scales = ["log" if log else "linear" for log in (log_x, log_y)]
        ax.set(xlabel="examples seen", ylabel="mistakes so far, % of examples", xscale=scales[0], yscale=scales[1])
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
        if not log_y:  # the first points, after a handful of rows, would flatten the rest
            ax.set_ylim(0, 1.05 * highest or 1)
        return self


class BoundDisplay(_Display):
    """Losses of learners along a stream, and their theorems' bounds, as dashed lines of the same colour.

    Parameters
    ----------
    certificates : dict of str to Certificate
        Results of `bounds.certify` by their names in the legend.

    Attributes
    ----------
    ax_, figure_, lines_ : of the last drawing; lines_ has by name the lines of the losses and of the bound.

    Examples
    --------
    >>> from onlinecls import Perceptron, bounds
    >>> from onlinecls.plotting import BoundDisplay
    >>> course = bounds.follow(Perceptron(fit_intercept=False), [[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> display = BoundDisplay.from_certificates({"Perceptron": bounds.certify(course, [1.0, -1.0])})  # doctest: +SKIP
    """

    def __init__(self, *, certificates: Mapping[str, Certificate]) -> None:
        self.certificates = certificates

    @classmethod
    def from_certificates(cls, certificates: Mapping[str, Certificate], *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw results of `bounds.certify`, with the options of `plot`."""
        return cls(certificates=certificates).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw both curves of each learner. kwargs are options of matplotlib's `Axes.plot` for every line."""
        ax = self._draw_on(ax)
        for i, (name, found) in enumerate(self.certificates.items()):
            style = {"color": f"C{i % 10}", **kwargs}
            (paid,) = ax.plot(found.rows, found.paid, label=f"{name}: paid", **style)
            (allowed,) = ax.plot(found.rows, found.allowed, label=f"{name}: allowed", **{"linestyle": "--", **style})
            self.lines_[name] = paid, allowed
        ax.set(xlabel="rounds", ylabel="mistakes or losses so far")
        ax.legend(fontsize="small")
        return self
