"""`onlinecls predict`, `evaluate` and `inspect`: what is done with a saved model."""

from __future__ import annotations

import json
import os
from typing import Any

from .._estimators.learner import state_of
from .._input import escaped
from .._input.compat import kind_of
from .._pipeline import linear_of, named_columns
from ..measures import Measures
from ..text import FeatureNames, top_columns
from .models import Model, algorithm_of, shown_error, shown_errors, shown_label, skipped_lines
from .stopping import tell

_PAIRS = 20  # classes that are taken for others most often

# --- predict -------------------------------------------------------------------------------------------------------------------


def predict(options) -> None:
    model, _ = Model.of_file(options.model, options)
    learner, whole, error = model.learner, model.whole, options.parser.error
    show = str if options.json else shown_label
    labels = [] if kind_of(learner) == "regressor" else list(map(show, learner.classes_.tolist()))
    scored = labels[-1:] if len(labels) < 3 else labels
    columns: list[tuple[str, str, list[str], Any]] = []  # (key in JSON, begin of headings, classes, what computes them)
    asked = ("scores", "", scored, "decision_function"), ("probabilities", "p ", labels, "predict_proba")
    for key, begin, names, method in asked:
        if getattr(options, key):
            if not hasattr(whole, method):
                error(f"argument --{key}: must be left out for {options.model!r}, which gives none")
            columns.append((key, begin, names, getattr(whole, method)))

    def line_of(predicted: Any, *found: Any) -> str:
        if options.json:
            more = {key: dict(zip(names, each, strict=True)) for (key, _, names, _), each in zip(columns, found, strict=True)}
            return json.dumps({"prediction": predicted, **more})
        return "\t".join([predicted if labels else repr(predicted), *(repr(value) for each in found for value in each)])

    headings = ["prediction", *(begin + name for _, begin, names, _ in columns for name in names)]
    if columns and not options.json:
        print("\t".join(headings), flush=True)
    with model.open(options.data, labels=False) as stream:
        lines = _Lines(stream, '{"prediction": null}' if options.json else "\t".join(["NA"] * len(headings)))
        for X, _, _ in stream.batches_of_rows(lines.write):
            predicted = whole.predict(X).tolist()
            if labels:
                predicted = list(map(show, predicted))
            found = [compute(X).reshape(len(predicted), -1).tolist() for *_, compute in columns]
            lines.write(list(map(line_of, predicted, *found)))
        lines.write()
    tell(skipped_lines(stream))


class _Lines:
    """Writes one line for each line of the input, a placeholder for lines without a row."""

    def __init__(self, stream: Any, placeholder: str):
        self.stream, self.placeholder, self.n_written = stream, placeholder, 0

    def write(self, lines: list[str] | tuple = ()) -> None:
        """Write the lines of a batch, with placeholders at the stream's gaps, at once: somebody may be waiting for them."""
        parts: list[str] = []
        start = 0
        for gap in self.stream.gaps:
            stop = gap - self.n_written
            parts += [*lines[start:stop], self.placeholder]
            start = stop
        self.n_written += len(lines)
        parts += lines[start:]
        if parts:
            print("\n".join(parts), flush=True)


# --- evaluate ----------------------------------------------------------------------------------------------------------------


def evaluate(options) -> None:
    model, _ = Model.of_file(options.model, options)
    measures = measured(model, options.data)
    if not measures.examples:
        raise ValueError(f"{options.data[0]}: must have an example, got none. There is nothing to evaluate.")
    if options.json:
        print(json.dumps({"model": options.model, **measures.as_dict()}))
    else:
        print(told(measures) if measures.numbers else _page_of_measures(measures))


def told(measures: Measures) -> str:
    """Return measures in a line."""
    first, second = (measures.mse, measures.mae) if measures.numbers else (measures.mistakes, measures.error)
    return f"{measures.examples:,} examples, {shown_errors(first, second, measures.numbers)}"


def measured(model: Model, data: list[str]) -> Measures:
    """Measure a model on all rows of files, which count alike."""
    model.reading["weight"] = None
    learner, whole = model.learner, model.whole
    measures = Measures(getattr(learner, "classes_", ()), numbers=kind_of(learner) == "regressor")
    with model.open(data) as stream:
        for X, y, _ in stream.batches_of_rows():
            scored = ()
            if not measures.numbers:
                y = y if y.dtype.kind == learner.classes_.dtype.kind or learner.classes_.dtype.kind != "U" else y.astype(str)
                scored = whole.decision_function(X), whole.predict_proba(X) if hasattr(learner, "predict_proba") else None
            measures.update(y, whole.predict(X), *scored)
    tell(skipped_lines(stream))
    if measures.examples and measures.n_classes and not any(map(measures.support, learner.classes_.tolist())):
        theirs = [label for label in measures.labels if label not in set(learner.classes_.tolist())]
        raise ValueError(
            f"{data[0]}: a label must be one of the model's ({', '.join(map(shown_label, learner.classes_.tolist()[:5]))}), got "
            f"none of them, but {', '.join(map(shown_label, theirs[:5]))}. Spell them alike: 1, 1.0 and true are different texts."
        )
    return measures


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _page_of_measures(measures: Measures) -> str:
    labels = list(map(shown_label, measures.labels))
    width = max(5, *map(len, labels))
    lines = [
        f"examples  {measures.examples:,}",
        f"error     {shown_error(measures.error, False)} ({int(measures.mistakes):,} mistakes)",
        f"log loss  {_number(measures.log_loss)}" + " (the model gives no probabilities)" * (measures.log_loss is None),
        f"AUC       {_number(measures.auc)}",
        f"F1        {_number(measures.macro_f1)} (mean of the classes)",
        "", f"{'class':<{width}} {'examples':>12} {'precision':>9} {'recall':>9} {'F1':>9}",
    ]
    for label, shown in zip(measures.labels, labels, strict=True):
        rates = " ".join(f"{_number(each(label)):>9}" for each in (measures.precision, measures.recall, measures.f1))
        lines.append(f"{shown:<{width}} {int(measures.support(label)):>12,} {rates}")
    confused = measures.as_dict()["confusion"]
    pairs = sorted(((int(n), *map(shown_label, pair)) for *pair, n in confused if pair[0] != pair[1]), reverse=True)
    lines += ["", "most confused: true, predicted, examples"] if pairs else []
    lines += (f"{true}\t{guess}\t{n:,}" for n, true, guess in pairs[:_PAIRS])
    return "\n".join(lines)


# --- inspect -----------------------------------------------------------------------------------------------------------------


def inspect(options) -> None:
    model, metadata = Model.of_file(options.model, options)
    learner, linear = model.learner, linear_of(model.learner)
    show = str if options.json else shown_label
    look_up = None if model.step is None else named_columns(model.step)
    if options.data:
        if linear is None:
            raise ValueError(f"{options.model!r} must have weights to show, got {learner!r}. Leave the data out.")
        if look_up is None and "vectorizer" in model.reading:
            names = model.reading["vectorizer"] = FeatureNames(model.reading["vectorizer"], 1_000_000)
            look_up = names.look_up
        with model.open(options.data, labels=False) as stream:
            for _ in stream.batches_of_rows():  # (whose reader tells the names of words)
                pass
    top = {} if linear is None else top_columns(linear, 10, look_up or (lambda column: (None, False, 1)))
    counts = {} if kind_of(learner) == "regressor" else dict(
        zip(map(show, learner.classes_.tolist()), state_of(learner).counts.astype(int).tolist(), strict=True))
    about = {
        "model": options.model, "bytes": os.path.getsize(options.model), "estimator": repr(learner),
        "algorithm": algorithm_of(learner).name, "paper": algorithm_of(learner).paper,
        "examples": state_of(learner).count("t"), "updates": state_of(learner).count("updates"), "classes": counts,
        "features": learner.n_features_in_, "input": model.about,
        "stopped": metadata.get("stopped"),
        "top": {show(label): [feature._asdict() for feature in features] for label, features in top.items()},
    }
    print(json.dumps(about) if options.json else _page_of_model(about))


def _page_of_model(about: dict) -> str:
    read = about["input"] or {}
    kinds = "".join(f"; {name} ({kind})" for name, kind in (read.get("kinds") or {}).items())
    lines = [
        f"model      {about['model']}, {about['bytes'] / 1e6:.1f} MB",
        f"learner    {about['estimator']}",
        f"algorithm  {about['algorithm']}: {about['paper']}",
        f"learnt     {about['examples']:,} examples, {about['updates']:,} updates",
        *(["classes    " + ", ".join(f"{label} {n:,}" for label, n in about["classes"].items())] if about["classes"] else []),
        f"columns    {about['features']:,}",
        "rows       " + escaped(f"from {read['format']}{kinds}" if read else "(the file does not say how they were read)"),
    ]
    for label, features in about["top"].items():
        lines += ["", f"for {label}"]
        for f in features:
            spread = "" if f["std"] is None else f" ± {f['std']:<8.4g}"
            lines.append(f"  {f['weight']:>+10.4g}{spread}  {escaped(f['name'])}{'  (shared)' * f['shared']}")
    if any(f["name"] == f"column {f['column']}" for each in about["top"].values() for f in each):
        lines += ["", "The model keeps no words: give the data in which they occur, onlinecls inspect MODEL DATA."]
    return "\n".join(lines)
