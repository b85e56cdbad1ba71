"""Pictures of learning, with matplotlib (``pip install "onlinecls[plot]"``) and scikit-learn's Display conventions."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ._evaluation import ProgressiveResult, in_orders, progressive_validation

if TYPE_CHECKING:
    from typing import Any, Self

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from ._input.types import XY, RandomState, XYWeight
    from .bounds import Certificate

__all__ = ["BoundDisplay", "ProgressiveDisplay"]


def __dir__() -> list[str]:
    return __all__


class ProgressiveDisplay:
    """Learning curves: the progressive error of learners over the rows that they have seen.

    Of several orders of the rows, the mean is drawn, in a band of a standard deviation (divided by the orders less one).

    Parameters
    ----------
    results : dict of str to ProgressiveResult, or to list of ProgressiveResult
        Curves by their names in the legend; of a list, one for each order of the rows.

    Attributes
    ----------
    ax_, figure_, lines_ :
        Axes of the last drawing, their figure, and the lines by name, best first: the order of the legend.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, Perceptron
    >>> from onlinecls.datasets import load_sms_spam
    >>> from onlinecls.plotting import ProgressiveDisplay
    >>> learners = {"AROW": AROWClassifier(), "Perceptron": Perceptron()}
    >>> display = ProgressiveDisplay.from_estimators(learners, load_sms_spam(), every=100)  # doctest: +SKIP
    >>> display.figure_.savefig("curves.png")  # doctest: +SKIP
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[str, Line2D]

    def __init__(self, *, results: Mapping[str, ProgressiveResult | list[ProgressiveResult]]) -> None:
        self.results = results

    @classmethod
    def from_results(
        cls, results: Mapping[str, ProgressiveResult | list[ProgressiveResult]], *, ax: Axes | None = None, **options: Any,
    ) -> Self:
        """Draw results of `progressive_validation`, or the curves of `onlinecls.compare`, with the options of `plot`.

        Raises
        ------
        ValueError
            If results is not a dict of names and results, or is empty, or one of them lacks the measure.
        ImportError
            If matplotlib is not installed.
        """
        _check(results)
        return cls(results=dict(results)).plot(ax, **options)

    @classmethod
    def from_estimators(
        cls, estimators: Mapping[str, Any], stream: XY | XYWeight | list[XY | XYWeight], y_clean: ArrayLike | None = None, *,
        classes: ArrayLike | None = None, every: int | None = None, orders: int | None = None, random_state: RandomState = 0,
        ax: Axes | None = None, **options: Any,
    ) -> Self:
        """Stream rows through copies of learners, and draw the curves.

        Parameters
        ----------
        estimators : dict of str to estimator
        stream : tuple (X, y) or (X, y, sample_weight), or list of such tuples
            As in `progressive_validation`, as are y_clean and classes; read once for each learner.
        every : int, default=None
            Rows between two points of a curve; None: 200 points.
        orders, random_state :
            Number of random orders of the rows, and their seed, as in `onlinecls.compare`.
        ax, **options :
            As of `plot`.
        """
        if not isinstance(stream, (tuple, list)):
            raise ValueError(
                f"ProgressiveDisplay: stream must be (X, y) or a list of batches, which every learner can read, got "
                f"{type(stream).__name__}. Run progressive_validation for each learner, and use from_results."
            )
        every = every or _every(stream)
        results: dict[str, Any] = {name: [] for name in estimators}
        for rows, clean in in_orders("ProgressiveDisplay", stream, orders, random_state, y_clean):
            for name, estimator in estimators.items():
                results[name].append(progressive_validation(copy.deepcopy(estimator), rows, clean, classes=classes, every=every))
        return cls.from_results(results if orders else {name: found for name, (found,) in results.items()}, ax=ax, **options)

    def plot(
        self, ax: Axes | None = None, *, measure: str | None = None, weighted: bool = False, log_x: bool = False,
        log_y: bool = False, **kwargs: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None: a new figure.
        measure : str, default=None
            Measure to draw instead of the error, by its name in the results' `measures` ("macro_f1", "average_precision",
            "log_loss" ...).
        weighted : bool, default=False
            Draw the error in sample weights instead of rows.
        log_x, log_y : bool, default=False
            Logarithmic axes.
        **kwargs :
            Options of matplotlib's `Axes.plot` for every line.
        """
        several = {name: list(found) if isinstance(found, list | tuple) else [found] for name, found in self.results.items()}
        for name, (result, *_) in several.items() if measure is not None else ():
            if measure not in result.measures:
                raise ValueError(
                    f"ProgressiveDisplay: measure must be one of {sorted(result.measures)} for {name!r}, got {measure!r}. "
                    "Give measures=ClassificationMeasures(...) to progressive_validation."
                )
        ax = ax or _new_axes("ProgressiveDisplay", 11 if len(self.results) > 6 else 8)
        self.lines_, self.ax_, self.figure_ = {}, ax, ax.figure

        def curve(result: ProgressiveResult) -> np.ndarray:
            if measure is not None:
                return result.measures[measure]
            return 100 * (result.weighted_error if weighted else result.error)

        more_is_better = measure in ("auc", "average_precision", "macro_f1", "r2")
        curves = {name: _at_the_same_rows(found, [curve(result) for result in found]) for name, found in several.items()}
        ranked = sorted(several.items(), key=lambda item: curves[item[0]].mean(axis=0)[-1], reverse=more_is_better)
        unit = " %" if measure is None else ""
        for i, (name, (result, *others)) in enumerate(ranked):
            error, spread = curves[name].mean(axis=0), curves[name].std(axis=0, ddof=1) if others else None
            label = f"{name}  {error[-1]:.3g}" + ("" if spread is None else f" ± {spread[-1]:.2g}")
            label += unit + ("" if result.by_row else " (by batch)")
            style = {"color": f"C{i % 10}", "linestyle": ("-", "--", ":", "-.")[i // 10 % 4], "linewidth": 1.6, "label": label}
            (self.lines_[name],) = ax.plot(result.examples, error, **{**style, **kwargs})
            if spread is not None:
                colour = self.lines_[name].get_color()
                ax.fill_between(result.examples, error - spread, error + spread, color=colour, alpha=0.2, linewidth=0)
        ylabel = f"{'weighted ' if weighted else ''}mistakes so far, % of examples" if measure is None else measure
        outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(ranked) > 6 else {"loc": "upper right"}
        ax.set(xlabel="examples seen", ylabel=ylabel, xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small", **outside)
        if log_y:  # few powers of ten lie in so narrow a range
            ax.yaxis.set_major_formatter("{x:g}")
            ax.yaxis.set_minor_formatter("{x:g}")
        elif measure is None:  # the first points, after a handful of rows, would flatten the rest
            settled = [curves[name][:, each.examples >= each.examples[-1] / 50] for name, (each, *_) in several.items()]
            ax.set_ylim(0, 1.05 * max(float(np.max(error)) for error in settled) or 1)
        return self


class BoundDisplay:
    """Losses of learners along a stream, and their theorems' bounds, as dashed lines of the same colour.

    Parameters
    ----------
    certificates : dict of str to Certificate
        Results of `bounds.certify` by their names in the legend.

    Attributes
    ----------
    ax_, figure_, lines_ :
        Axes of the last drawing, their figure, and by name a pair of lines, of the losses and of the bound.

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
        ax = ax or _new_axes("BoundDisplay", 8)
        self.lines_, self.ax_, self.figure_ = {}, ax, ax.figure
        for i, (name, found) in enumerate(self.certificates.items()):
            style = {"color": f"C{i % 10}", **kwargs}
            (paid,) = ax.plot(found.rows, found.paid, label=f"{name}: paid", **style)
            (allowed,) = ax.plot(found.rows, found.allowed, label=f"{name}: allowed", **{"linestyle": "--", **style})
            self.lines_[name] = paid, allowed
        ax.set(xlabel="rounds", ylabel="mistakes or losses so far")
        ax.legend(fontsize="small")
        return self


def _new_axes(who: str, width: float) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f'{who}: plotting needs matplotlib, which is not installed. pip install "onlinecls[plot]"') from None
    return plt.subplots(figsize=(width, 5), layout="constrained")[1]


def _at_the_same_rows(results: list[ProgressiveResult], curves: list[NDArray[Any]]) -> NDArray[Any]:
    """Return curves of several orders of the rows, a row each, at the points of the first."""
    at = results[0].examples  # (others differ where rows have a weight of 0)
    return np.array([
        curve if np.array_equal(result.examples, at) else np.interp(at, result.examples, curve)
        for result, curve in zip(results, curves, strict=True)
    ])


def _every(stream: Any) -> int:
    """Return the number of rows between two of 200 points."""
    batches = [stream] if isinstance(stream, tuple) and not isinstance(stream[0], tuple) else stream
    return max(sum(len(batch[1]) for batch in batches) // 200, 1)


def _check(given: Any) -> None:
    """Refuse anything but a dict of results."""
    who = "ProgressiveDisplay: results"
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"{who} must be a dict of name: result of progressive_validation, with at least one, got {given!r}.")
    each_one = [one for each in given.values() for one in (each if isinstance(each, list | tuple) and each else [each])]
    strange = [each for each in each_one if not hasattr(each, "error")]
    if strange:
        raise ValueError(f"{who} must be results of progressive_validation, got {type(strange[0]).__name__}.")
