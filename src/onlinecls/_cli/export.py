"""`onlinecls export`: a model as an ONNX graph, or its weights as a table."""

from __future__ import annotations

import csv
import os

import numpy as np

from .._input.compat import is_regressor
from ..text import weights_towards
from .inputs import load_model, require_place, shown_label
from .inspect import HIGHER, as_two_classes, column_lookup, read_names
from .parameters import is_kernel, linear_of

_HEADINGS = ("class", "feature", "column", "weight", "std")


def export(options) -> None:
    require_place(options, "onnx")
    require_place(options, "table", "weights")
    if options.table is not None and os.path.splitext(options.table)[1] not in (".csv", ".parquet"):
        options.parser.error(f"argument --weights: must end in .csv or .parquet, got {options.table!r}")
    if options.onnx is not None and options.data:
        options.parser.error(f"argument --onnx: must be without DATA, which name weights, got {options.data[0]!r}")
    if options.sparse and options.onnx is None:
        options.parser.error("argument --sparse: must have --onnx, whose graph it is of")
    learner, _, inputs = load_model(options.model, options)
    linear = linear_of(learner)
    if linear is None or is_kernel(linear):
        raise ValueError(f"{options.model!r} must have a weight for each column, got {learner!r}.")
    if options.onnx is not None:
        graph = linear.to_onnx(sparse=options.sparse).SerializeToString()
        with open(options.onnx, "wb") as file:
            file.write(graph)
        return
    write = _write_csv if options.table.endswith(".csv") else _parquet_writer()
    linear.densify()
    if options.data:
        read_names(options, inputs)
    write(options.table, list(_rows(linear, column_lookup(inputs))))


def _rows(learner, look_up):
    """Yield (class, feature, column, weight, std) of the weights that are not 0, behind the intercept of their class.

    Of two classes there are the weights towards the second, of a regression those that raise the prediction.
    """
    regression = is_regressor(learner)
    model = as_two_classes(learner) if regression else learner
    intercepts = np.reshape(learner.intercept_, -1).tolist()
    for c, label in enumerate(model.classes_) if len(model.coef_) > 1 else [(1, model.classes_[1])]:
        shown = "" if regression and label == HIGHER else shown_label(label.item() if isinstance(label, np.generic) else label)
        weights, std = weights_towards(model, c)
        yield shown, "(intercept)", None, intercepts[c if len(intercepts) > 1 else 0], None
        for column in np.flatnonzero(weights).tolist():
            name, _, sign = look_up(column)
            deviation = None if std is None else float(std[column])
            yield shown, f"column {column}" if name is None else name, column, sign * float(weights[column]), deviation


def _write_csv(path: str, rows: list[tuple]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_HEADINGS)
        writer.writerows(rows)


def _parquet_writer():
    """Return a function that writes Parquet. Called before data are read: a missing package is an error at once."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError('--weights FILE.parquet needs pyarrow: pip install "onlinecls[arrow]"') from None
    types = (pa.string(), pa.string(), pa.int64(), pa.float64(), pa.float64())

    def write(path: str, rows: list[tuple]) -> None:
        columns = zip(*rows, strict=True)
        pq.write_table(pa.table([pa.array(column, kind) for column, kind in zip(columns, types, strict=True)], _HEADINGS), path)

    return write
