"""The weights of a linear model as a table: a row for each that is not 0."""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING

import numpy as np

from .._input import validate
from .._input.compat import is_regressor
from ._names import FeatureNames, weights_towards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

HEADINGS = ("class", "feature", "column", "weight", "std")


def export_weights(model: Any, path: str | os.PathLike[str], names: FeatureNames | Sequence[str] | None = None) -> None:
    """Write the weights of a linear model to a table, for programs without Python.

    Its columns are class, feature (a name, or "column 17"), column, weight, and std, the weight's standard deviation, where the
    model has variances. The intercept of each class comes first, as "(intercept)" without a column; weights of 0 are left out.
    Of two classes there are the weights towards the second, of a regression those that raise the prediction.

    Parameters
    ----------
    model : fitted linear classifier or regressor
    path : str or os.PathLike
        CSV, or Parquet if it ends in .parquet (extra ``arrow``).
    names : FeatureNames or sequence of str, default=None
        Names of hashed columns, or a name for each column. None: those of the data frame that the model has learnt, if it was
        one.

    Raises
    ------
    ValueError
        If path ends in neither .csv nor .parquet, the model has no weights for columns, or names are not those of its columns.
    ImportError
        If pyarrow is missing for Parquet.

    See Also
    --------
    FeatureNames.top_features : The largest weights only.
    onlinecls.AROWClassifier.to_onnx : A model that other programs run.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from onlinecls import AROWClassifier
    >>> from onlinecls.text import export_weights
    >>> model = AROWClassifier(r=1.0, fit_intercept=False).partial_fit([[0.0, 2.0], [1.0, 0.0]], ["spam", "ham"])
    >>> path = Path(tempfile.mkdtemp(), "weights.csv")
    >>> export_weights(model, path)
    >>> path.read_text().split()[0]
    'class,feature,column,weight,std'
    """
    who = "export_weights"
    if not hasattr(model, "coef_"):
        raise ValueError(f"{who}: model must have a weight for each column, got {type(model).__name__}. Give a linear one.")

    look_up, n_columns = getattr(names, "look_up", None), np.shape(model.coef_)[-1]
    if look_up is None:
        known: Any = getattr(model, "feature_names_in_", (None,) * n_columns) if names is None else names
        is_list = isinstance(known, (list, tuple, np.ndarray)) and len(known) == n_columns
        if names is not None and not (is_list and all(isinstance(name, str) for name in known)):
            raise ValueError(
                f"{who}: names must be FeatureNames, or a list of a text for each of the model's {n_columns} columns, got "
                f"{validate.brief(names)}. Give those of the vectorizer that made its rows."
            )

        def look_up(column: int) -> tuple[str | None, bool, int]:
            return known[column], False, 1

    write_weights(who, path, weights_of(model, look_up))


def weights_of(model: Any, look_up: Callable[[int], tuple]) -> Iterable[tuple]:
    """Yield (class, feature, column, weight, std) of the weights that are not 0, behind the intercept of their class.

    look_up : returns (name or None, shared, sign) of a column.
    """
    vectors = [("", 1)]
    if not is_regressor(model):
        labels = np.asarray(model.classes_).tolist()
        vectors = [(labels[1], 1)] if len(model.coef_) == 1 else [(label, c) for c, label in enumerate(labels)]
    intercepts = np.reshape(model.intercept_, -1).tolist()
    for label, c in vectors:
        weights, std = weights_towards(model, c)
        yield label, "(intercept)", None, intercepts[c if len(intercepts) > 1 else 0], None
        for column in np.flatnonzero(weights).tolist():
            name, _, sign = look_up(column)
            deviation = None if std is None else float(std[column]) * abs(sign)
            yield label, f"column {column}" if name is None else name, column, sign * float(weights[column]), deviation


def write_weights(who: str, path: str | os.PathLike[str], rows: Iterable[tuple]) -> None:
    """Write rows of `weights_of` as CSV, or as Parquet by the name of the file."""
    kind = os.path.splitext(os.fspath(path))[1]
    if kind == ".csv":
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADINGS)
            writer.writerows(rows)
        return
    if kind != ".parquet":
        raise ValueError(f"{who}: path must end in .csv or .parquet, got {os.fspath(path)!r}.")
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError(f'{who}: Parquet needs pyarrow: pip install "onlinecls[arrow]"') from None
    # (labels of all kinds are texts here)
    types = (pa.string(), pa.string(), pa.int64(), pa.float64(), pa.float64())
    columns = zip(*((str(label), *others) for label, *others in rows), strict=True)
    pq.write_table(pa.table([pa.array(column, kind) for column, kind in zip(columns, types, strict=True)], HEADINGS), path)
