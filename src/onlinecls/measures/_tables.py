"""Tables of compared learners, to print, and learners ranked across data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._algorithm import Real
from ._comparison import checked_level

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_LATEX = str.maketrans({each: "\\" + each for each in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$",
})
_NUMBER = Real()


@dataclass
class _Cells:
    """A table as texts: headings, rows, rows below a rule, the (row, column) of what is best, and a note."""

    headings: list[str]
    rows: list[list[str]]
    below: list[list[str]]
    best: set[tuple[int, int]]
    note: str


class _Table:
    """Base of results that are tables. A subclass has `_cells`, and `_columns`: by name, with the names of the rows."""

    def _cells(self) -> _Cells:
        raise NotImplementedError

    def _columns(self) -> tuple[str, list[str], dict[str, Any]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        found = self._cells()
        lines = [found.headings, *found.rows, *found.below]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        said = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
            for row in lines
        ]
        return "\n".join([*map(str.rstrip, said), found.note])

    def to_frame(self) -> Any:
        """Return the numbers as a pandas data frame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError(f"{type(self).__name__}: pandas is needed for to_frame: pip install pandas") from None
        index, rows, columns = self._columns()
        return pandas.DataFrame(columns, index=pandas.Index(rows, name=index))

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular with the rules of the package booktabs, the best numbers in bold face."""
        found = self._cells()

        def line(row: list[str], at: int = -1) -> str:
            cells = [cell.translate(_LATEX) for cell in row]
            bold = [rf"\textbf{{{cell}}}" if (at, k) in found.best else cell for k, cell in enumerate(cells)]
            return " & ".join(bold) + r" \\"

        lines = [rf"\begin{{tabular}}{{l{'r' * (len(found.headings) - 1)}}}", r"\toprule", line(found.headings), r"\midrule"]
        lines += [line(row, at) for at, row in enumerate(found.rows)]
        lines += [r"\midrule", *map(line, found.below)] if found.below else []
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {each}" for each in found.note.splitlines()), ""])


def _with_spread(mean: float, spread: float, unit: str = "%") -> str:
    """Return a number for a table, with its standard deviation if there is one."""
    if unit != "%":
        return f"{mean:.4g}" + ("" if np.isnan(spread) else f" ± {spread:.2g}")
    return f"{100 * mean:.2f}" + ("" if np.isnan(spread) else f" ± {100 * spread:.2f}")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(_Table):
    """Learners that were compared on a stream, from `onlinecls.compare`. It prints as a table.

    Attributes
    ----------
    names : list of str
        Learners, best first; dropped ones come last, those dropped later before those dropped earlier.
    curves : dict of str to list of ProgressiveResult
        Learning curve of each in each order of the rows (one, unless `orders` was given), for `plotting.ProgressiveDisplay`.
    better_by : dict of str to (float, float)
        Interval for the mean of each learner's error less the first's over the rows that both have learnt. All intervals hold
        together, at all times, with probability 1 - level.
    level : float
        Probability that any of the intervals ever misses its mean.
    errors : dict of str to float
        Progressive error of each over the rows that it has learnt; the mean over the orders.
    spread : dict of str to float
        Standard deviation of the error over the orders (divided by their number less one); NaN where there is one only.
    examples : dict of str to int
        Rows of weight > 0 that each has learnt: all, or those up to where it was dropped.
    seconds : dict of str to float
        Time that each has spent predicting and learning, in all orders.

    See Also
    --------
    across : Ranks of learners from the comparisons on several data sets.
    """

    names: list[str]
    curves: dict[str, list[Any]]
    better_by: dict[str, tuple[float, float]]
    level: float

    @property
    def errors(self) -> dict[str, float]:
        """Progressive error of each learner, the mean over the orders."""
        return {name: float(np.mean([each.progressive_error for each in found])) for name, found in self.curves.items()}

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviation of the error of each over the orders; NaN where there is one only."""
        errors = {name: [each.progressive_error for each in found] for name, found in self.curves.items()}
        return {name: float(np.std(each, ddof=1)) if len(each) > 1 else float("nan") for name, each in errors.items()}

    @property
    def examples(self) -> dict[str, int]:
        """Rows of weight > 0 that each has learnt, in an order."""
        return {name: int(found[0].examples[-1]) for name, found in self.curves.items()}

    @property
    def seconds(self) -> dict[str, float]:
        """Time that each has spent predicting and learning."""
        return {name: float(sum(each.seconds[-1] for each in found)) for name, found in self.curves.items()}

    @property
    def best(self) -> str:
        """Name of the learner with the fewest mistakes."""
        return self.names[0]

    @property
    def beaten(self) -> list[str]:
        """Learners that err more than the first, at the level of the comparison."""
        return [name for name in self.names[1:] if self.better_by[name][0] > 0.0]

    def _columns(self) -> tuple[str, list[str], dict[str, Any]]:
        low, high = np.transpose([self.better_by.get(name, (np.nan, np.nan)) for name in self.names])
        columns: dict[str, Any] = {
            key: [getattr(self, where)[name] for name in self.names]
            for key, where in (("error", "errors"), ("spread", "spread"), ("examples", "examples"), ("seconds", "seconds"))
        }
        return "learner", self.names, {**columns, "errs_more_low": low, "errs_more_high": high}

    def _cells(self) -> _Cells:
        errors, spread, examples = self.errors, self.spread, self.examples
        by_part = [name for name, found in self.curves.items() if not found[0].by_row]
        rows = []
        for name in self.names:
            low, high = self.better_by.get(name, (0.0, 0.0))
            more = "" if name == self.best else f"{100 * low:+.2f} to {100 * high:+.2f}{'*' if low > 0.0 else ' '}"
            rows.append([str(name), _with_spread(errors[name], spread[name]), more, f"{examples[name]:,}"])
        n = len(self.curves[self.best])
        note = f"* errs more than the first; all intervals hold at any time, together, with probability {1.0 - self.level:g}."
        note = note if n == 1 else f"Mean and standard deviation of {n} orders of the rows.\n{note}"
        note += f"\nPredicted by batch: {', '.join(map(str, by_part))}." if by_part else ""
        return _Cells(["learner", "error, %", "errs more by, % ", "rows"], rows, [], {(0, 1)}, note)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(_Table):
    """Learners ranked across data sets, from `across`. It prints as a table.

    Attributes
    ----------
    sets : list of str
        Data sets.
    names : list of str
        Learners, best mean rank first.
    errors, spread : ndarray of shape (n_sets, n_learners)
        Error of each learner on each set, and its standard deviation over orders of the rows (NaN where there are none). Columns
        are in the order of `names`.
    ranks : ndarray of shape (n_sets, n_learners)
        1 for the least error of a set; equal errors share the mean of their ranks.
    mean_ranks : dict of str to float
        Mean rank of each learner over the sets.
    friedman : float
        p-value of Friedman's test that all learners have the same mean rank; NaN for two learners.
    critical_difference : float
        Nemenyi's: learners whose mean ranks differ by at least this much differ, all pairs together at `level`.
    wilcoxon : ndarray of shape (n_learners, n_learners)
        p-value of Wilcoxon's signed-rank test, two-sided, of each pair alone; 1 where all errors are equal.
    level : float
        Level of the critical difference.
    unit : str
        "%" if the errors are printed as percentages, else "".

    See Also
    --------
    across : Makes it.
    Comparison : Learners on one data set.
    """

    sets: list[str]
    names: list[str]
    errors: NDArray[np.float64]
    spread: NDArray[np.float64]
    ranks: NDArray[np.float64]
    friedman: float
    critical_difference: float
    wilcoxon: NDArray[np.float64]
    level: float
    unit: str = ""

    @property
    def mean_ranks(self) -> dict[str, float]:
        """Mean rank of each learner over the sets."""
        return dict(zip(self.names, self.ranks.mean(axis=0).tolist(), strict=True))

    def _columns(self) -> tuple[str, list[str], dict[str, Any]]:
        return "set", self.sets, dict(zip(self.names, self.errors.T, strict=True))

    def _cells(self) -> _Cells:
        rows = [
            [str(name), *(_with_spread(*each, self.unit) for each in zip(errors, spread, strict=True))]
            for name, errors, spread in zip(self.sets, self.errors, self.spread, strict=True)
        ]
        below = [
            ["mean rank", *(f"{rank:.2f}" for rank in self.mean_ranks.values())],
            ["p to the first", "", *(f"{p:.2g}" for p in self.wilcoxon[0, 1:])],
        ]
        best = {(int(i), int(k) + 1) for i, k in np.argwhere(self.errors == self.errors.min(axis=1, keepdims=True))}
        friedman = "" if np.isnan(self.friedman) else f"Friedman p = {self.friedman:.2g}. "
        note = f"{friedman}Mean ranks that differ by {self.critical_difference:.2f} differ (Nemenyi, level {self.level:g}); "
        note += "p is Wilcoxon's, of a pair alone."
        return _Cells([f"set{' (errors in %)' if self.unit else ''}", *map(str, self.names)], rows, below, best, note)


def across(results: Mapping[str, Comparison | Mapping[str, float]], *, level: float = 0.05) -> Ranking:
    """Rank learners across data sets, and test whether they differ, as Demšar (JMLR 2006) recommends.

    On N sets, with k learners, R_j the mean rank of learner j: Friedman's test of equal mean ranks, Nemenyi's critical difference
    q_level sqrt(k (k + 1) / (6 N)) of two of them, with q_level of the Studentized range divided by sqrt(2), and Wilcoxon's
    signed-rank test of each pair. All are scipy's.

    Parameters
    ----------
    results : dict of str to Comparison, or to dict of str to float
        By the names of the data sets, results of `onlinecls.compare` on them, or the error (less is better) of each learner.
    level : float in (0, 1), default=0.05
        Level of the critical difference.

    Returns
    -------
    found : Ranking
        With `to_frame` and `to_latex`.

    Raises
    ------
    ValueError
        If there are fewer than two sets or learners, the sets have not the same learners, a learner was dropped before the
        last row, a number is not finite, or level is out of its range.

    See Also
    --------
    onlinecls.compare : Learners on one stream, with intervals.

    References
    ----------
    J. Demšar: Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006, 3.1.3 and 3.2.2.

    Examples
    --------
    >>> from onlinecls.measures import across
    >>> across({"news": {"arow": 0.12, "pa": 0.15}, "mail": {"arow": 0.02, "pa": 0.04}, "shop": {"arow": 0.2, "pa": 0.19}})
    set             arow    pa
    news            0.12  0.15
    mail            0.02  0.04
    shop             0.2  0.19
    mean rank       1.33  1.67
    p to the first         0.5
    Mean ranks that differ by 1.13 differ (Nemenyi, level 0.05); p is Wilcoxon's, of a pair alone.
    """
    level = checked_level("across", level)
    if not isinstance(results, Mapping) or len(results) < 2:
        raise ValueError(f"across: results must be a dict of two data sets or more by their names, got {results!r}.")
    given: dict[str, Any] = {name: getattr(found, "errors", found) for name, found in results.items()}
    first = next(iter(given.values()))
    names = list(first) if isinstance(first, Mapping) else []
    for name, found in given.items():
        if not isinstance(found, Mapping) or set(found) != set(names) or len(names) < 2:
            raise ValueError(f"across: results must have the same two learners or more for each set, got {found!r} for {name!r}.")
        if len(set(getattr(results[name], "examples", {}).values())) > 1:
            raise ValueError(
                f"across: results must have errors over the same rows, got learners of {name!r} that were dropped earlier than "
                "others. Compare them with drop=False."
            )
    for one in (each for found in given.values() for each in found.values()):
        if one not in _NUMBER:
            raise ValueError(f"across: results must be finite numbers, got {one!r}.")
    errors = np.array([[found[learner] for learner in names] for found in given.values()], np.float64)
    spread = np.array([[getattr(found, "spread", {}).get(each, np.nan) for each in names] for found in results.values()])
    from scipy import stats

    (n, k), ranks = errors.shape, stats.rankdata(errors, axis=1)
    order = ranks.mean(axis=0).argsort(kind="stable")
    errors, ranks, spread = errors[:, order], ranks[:, order], spread[:, order]
    friedman, wilcoxon = np.nan, np.ones((k, k))
    if k > 2:
        friedman = stats.friedmanchisquare(*errors.T).pvalue if np.ptp(ranks) else 1.0
    for i, j in zip(*np.triu_indices(k, 1), strict=True):
        if (errors[:, i] != errors[:, j]).any():
            wilcoxon[i, j] = wilcoxon[j, i] = stats.wilcoxon(errors[:, i], errors[:, j]).pvalue
    critical = stats.studentized_range.ppf(1.0 - level, k, np.inf) / np.sqrt(2.0) * np.sqrt(k * (k + 1) / (6.0 * n))
    return Ranking(
        list(results), [names[at] for at in order], errors, spread, ranks, float(friedman), float(critical), wilcoxon, level,
        "%" if all(isinstance(found, Comparison) for found in results.values()) else "",
    )
