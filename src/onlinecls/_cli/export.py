"""`onlinecls export`: a model as an ONNX graph, or its weights as a table."""

from __future__ import annotations

import os

from .._pipeline import linear_of, make_stream_pipeline
from ..text import weights_of, write_weights
from .inputs import load_model, require_place, shown_label
from .inspect import column_lookup, read_names
from .parameters import is_kernel


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
    if options.onnx is not None and inputs.rest:
        raise ValueError(
            f"{options.model!r} must learn rows as they are for --onnx, got {inputs.rest!r} before its learner. --weights gives "
            "weights of the columns as they are."
        )
    if options.onnx is not None:
        is_whole = inputs.step is not None and not options.sparse  # (with what makes a table's rows)
        model = make_stream_pipeline(inputs.step, linear).to_onnx() if is_whole else linear.to_onnx(sparse=options.sparse)
        graph = model.SerializeToString()
        with open(options.onnx, "wb") as file:
            file.write(graph)
        return
    linear.densify()
    if options.data:
        read_names(options, inputs)
    rows = weights_of(linear, column_lookup(inputs))
    write_weights("--weights", options.table, ((shown_label(label), *others) for label, *others in rows))
