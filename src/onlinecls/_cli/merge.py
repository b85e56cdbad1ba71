"""`onlinecls merge`."""

from __future__ import annotations

import json
import os

from .._estimators.merging import merge as merged_of
from .._estimators.saving import load
from .inputs import HASHED, require_place
from .report import counters_of, summary
from .run import counts_of


def merge(options) -> None:
    require_place(options, "save")
    models, metadata = zip(*(load(path, return_metadata=True) for path in options.models), strict=True)
    _require_alike(options.models, [each.get("input") for each in metadata])
    model = merged_of(models)
    learner = model.steps[-1][1] if hasattr(model, "steps") else model
    kept = {name: value for name, value in metadata[0].items() if name != "interrupted"}  # (of one part only)
    model.save(options.save, kept)
    counts, size = counts_of(learner), os.path.getsize(options.save)
    if options.json:
        print(json.dumps({"model": options.save, "bytes": size, **counters_of(learner, counts)}))
    else:
        print(f"{len(models)} models, {counts[0]:,} examples, {summary(learner, counts)}")
        print(f"saved: {options.save}, {size / 1e6:.1f} MB")


def _require_alike(paths: list[str], inputs: list[dict | None]) -> None:
    """Check that the models' columns mean the same: merging cannot tell, as it sees numbers only."""

    def meaning(read: dict | None) -> tuple | None:
        if read is None:
            return None
        format = read.get("format")
        kind = format if format in HASHED else "texts and tables"
        return kind, *(read.get(name) for name in ("vectorizer", "features", "namespaces"))

    for path, read in zip(paths, inputs, strict=True):
        if meaning(read) != meaning(inputs[0]):
            raise ValueError(
                f"{path}: must have learnt from rows that were read like those of {paths[0]}, got other columns or words. "
                "onlinecls inspect shows both."
            )
