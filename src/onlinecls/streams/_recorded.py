"""Batches of what Python makes records of: fastText, CSV, JSON lines, Parquet, Arrow, pairs; `_read` imports this for them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..text import sketch_of
from . import _arrow, _records, _tables
from ._csv import CsvReader
from ._jsonl import JsonReader, first_objects
from ._read import BATCH_NNZ, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ._labels import Type
    from ._sources import Files

    Batches = Iterator[Any]


def in_memory(reader: Any, source: Any) -> tuple[str, Batches]:
    """Return the format and the batches of a table in memory, or of pairs."""
    if _arrow.is_table(source):
        require(reader.format in ("auto", "arrow"), "format", "'auto' or 'arrow' for a table in memory", reader.format)
        return "arrow", arrow(reader, _arrow.InMemory(source))
    if reader.format != "auto":
        kind = type(source).__name__
        raise TypeError(f"read: source must be paths or binary files for format={reader.format!r}, got {kind}.")
    return "pairs", _batches(reader, _records.pairs(source), _texts(reader), _labels(reader, "auto"))


def tsv(reader: Any, files: Files, labels: Type) -> Batches:
    """Return the batches of TSV whose texts the compiled hasher cannot take."""
    records = _records.tsv(files, reader.labelled, reader.max_line_bytes)
    return _batches(reader, records, _texts(reader), _records.LabelReader(*labels))


def fasttext(reader: Any, files: Files) -> Batches:
    records = _records.fasttext(files, reader.labelled, reader.max_line_bytes)
    return _batches(reader, records, _texts(reader), _labels(reader, "str"))


def csv(reader: Any, files: Files) -> Batches:
    labels, layout_of = _labels(reader, "str"), partial(_layout, reader)
    found = CsvReader(files, reader.max_line_bytes, reader.delimiter, reader.header, labels, reader.dtype, layout_of)
    content = _content(reader, found.layout)
    content.are_texts = True
    return _batches(reader, found.records, content, labels, found.layout.weight is not None)


def jsonl(reader: Any, files: Files) -> Batches:
    label, text = reader.label or "label", reader.text or "text"
    features = reader.features if isinstance(reader.features, str) else "features"
    layout, labels = _layout_of_objects(reader, files, label, text, features), _labels(reader, "auto")
    content = _texts_or_features(reader, text, features) if layout is None else _content(reader, layout)
    found = JsonReader(labels, reader.dtype, label if reader.labelled else None, reader.weight, layout or content)
    return _batches(reader, found.records(files, reader.max_line_bytes), content, labels, reader.weight is not None)


def arrow(reader: Any, files: Files | _arrow.InMemory, format: str = "arrow") -> Batches:
    source = files if isinstance(files, _arrow.InMemory) else files.current
    table = _arrow.Table(source, format)
    layout = _layout(reader, source.name, table.names, "label")
    table.infer_kinds(layout)
    labels, content = _labels(reader, "auto"), _content(reader, layout)
    return _arrow.batches(files, format, table, layout, content, labels, reader.batch_rows, reader.counts)


parquet = partial(arrow, format="parquet")


# --- parts of these ------------------------------------------------------------------------------------------------------------


def _batches(reader: Any, records: Iterable[Any], content: Any, labels: _records.LabelReader, weighted: bool = False) -> Batches:
    """Return the batches of records. content : the collector of their rows."""
    return _records.batches(records, _records.Batcher(content, labels, weighted, reader.batch_rows, reader.counts))


def _labels(reader: Any, kind: str) -> _records.LabelReader:
    """Return the reader of labels. kind : of labels="auto"."""
    decimal = getattr(reader.tables, "decimal", ".")  # (of a TableVectorizer)
    return _records.LabelReader(kind if reader.labels == "auto" else reader.labels, decimal=decimal)


def _texts(reader: Any) -> _records.Texts:
    return _records.Texts(reader.vectorizer_of_texts())


def _texts_or_features(reader: Any, text: str, features: str) -> _records.TextsOrFeatures:
    names, _ = sketch_of(reader.vectorizer) or (None, None)
    hashed = _records.Features(reader.batch_rows, BATCH_NNZ, reader.n_features, reader.dtype, names)
    return _records.TextsOrFeatures(text, features, _texts(reader), hashed)


def _layout(reader: Any, who: str, names: list[Any], label: str | int) -> _tables.Layout:
    reader.layout = _tables.Layout(who, names, reader, reader.label if reader.label is not None else label)
    reader.text = reader.layout.text
    return reader.layout


def _layout_of_objects(reader: Any, files: Files, label: str, text: str, features: str) -> _tables.Layout | None:
    """Return the layout of JSON objects whose values are features; None if a key holds a text or an object of features."""
    name = files.current.name
    if isinstance(reader.features, dict):
        return _layout(reader, name, [], label)
    objects = first_objects(files)
    if reader.text is not None or isinstance(reader.features, str) or (objects and features in objects[0]):
        return None
    if not objects:  # (a pipe's first lines may come later)
        is_table = reader.tables is not None and reader.vectorizer is None
        return _layout(reader, name, [], label) if is_table else None
    if _tables.takes_text(name, text, list(objects[0]), reader, label):
        reader.text = text  # (so that a model of it reads no more where there is more)
        return None
    layout = _layout(reader, name, list(objects[0]), label)
    for record in objects:
        layout.infer(record.items())
    layout.close()
    return layout


def _content(reader: Any, layout: _tables.Layout) -> Any:
    """Return the collector of texts, or of the rows of a table."""
    if layout.text is not None:
        return _texts(reader)
    if reader.tables is not None:
        reader.n_features = getattr(reader.tables, "n_features_out_", reader.n_features)
        return _tables.WholeRows(reader.tables, reader.missing)
    names, _ = sketch_of(reader.vectorizer) or (None, None)
    rows = _tables.TableRows(layout, reader.n_features, reader.batch_rows, reader.dtype, names)
    reader.n_features = rows.n_features
    return rows
