"""Export of a `TableVectorizer` to other programs: as transformers of scikit-learn, and as nodes of an ONNX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._estimators.exporting import OUTPUTS, Graph
from ._values import MISSING_TEXTS, as_text

if TYPE_CHECKING:
    from typing import Any

    from ._vectorizer import TableVectorizer

PREFIX = "onlinecls/"  # of the names within a graph
_NOWHERE = -1  # the slot of what has none: that of the last weight, which is 0


class Numbers(NamedTuple):
    """Describe a column of numbers: z = (x - mean) / deviation, but x itself for 0 and 1 if there has been nothing else."""

    column: str
    mean: float
    deviation: float
    is_binary: bool
    slot: int
    missing: int


class Names:
    """Describe a column of names by their slots, and that of a missing one."""

    def __init__(self, column: str, missing: int) -> None:
        self.column, self.missing = column, missing
        self.slots: dict[str, int] = {}

    def texts(self) -> dict[str, int]:
        """Return the slots of all texts that may stand for a name or a missing one."""
        return {**dict.fromkeys(sorted(MISSING_TEXTS), self.missing), **self.slots}

    def floats(self) -> dict[float, int] | None:
        """Return the slots of numbers that `categories=` makes names, NaN last; None unless all names are numbers."""
        try:
            found = {float(name): slot for name, slot in sorted(self.slots.items(), key=lambda pair: float(pair[0]))}
        except ValueError:
            return None
        are_numbers = found and np.isfinite([*found]).all() and {as_text(x) for x in found} == self.slots.keys()  # (not "007")
        return {**found, np.nan: self.missing} if are_numbers else None


def columns_of(who: str, method: str, vectorizer: TableVectorizer, weights: np.ndarray) -> tuple[list[Numbers], list[Names]]:
    """Return the columns of numbers, and those of names; raise a ValueError for what is neither, and has weights.

    weights : of the vectorizer's columns, a row for each score.
    """
    learnt, must = vectorizer._fitted(), f"{who}: {method} must have columns of numbers or of names, got"
    if vectorizer.crosses:
        raise ValueError(f"{must} crosses={vectorizer.crosses!r}. Learn without crosses.")
    slots, statistics = {feature: k for k, feature in enumerate(learnt.slots)}, learnt.numbers
    numbers: list[Numbers] = []
    names: dict[str, Names] = {}
    for column, kinds in vectorizer.schema_.items():
        seen, missing = set(kinds) - {"missing"}, slots.get(f"{column}=?", _NOWHERE)
        if seen == {"category"}:
            names[column] = Names(column, missing)
        elif seen <= {"number", "boolean"}:
            n, mean, squares, not_binary = statistics[column].tolist() if column in statistics else (0.0, 0.0, 0.0, 1.0)
            deviation = (squares / n) ** 0.5 if n else 0.0  # (a constant column becomes 0, as by an infinite deviation)
            numbers.append(Numbers(column, mean, deviation or np.inf, not not_binary, slots.get(column, _NOWHERE), missing))
        elif seen <= {"number", "boolean", "category"}:
            raise ValueError(f"{must} both in column {column!r}. Name it in categories= or in numbers=, and learn again.")
        else:
            kind = next(kind for kind in kinds if kind not in ("number", "boolean", "category", "missing"))
            raise ValueError(f"{must} column {column!r} of kind {kind!r}. Name it in ignore=, or give numbers made of it.")
    for feature, slot in slots.items():
        at = feature.find("=")
        while at >= 0:  # (a name may hold more of them, and so may the name of a column)
            if feature[:at] in names and feature[at + 1 :] != "?":
                names[feature[:at]].slots[feature[at + 1 :]] = slot
            at = feature.find("=", at + 1)
    if not (numbers or names):
        raise ValueError(f"{must} none.")
    told = {each.slot for each in numbers} | {slot for each in names.values() for slot in each.slots.values()}
    told |= {each.missing for each in numbers} | {each.missing for each in names.values()}
    left = next((feature for feature, slot in slots.items() if slot not in told and weights[:, slot].any()), None)
    if left is not None:
        raise ValueError(f"{must} the feature {left!r}. Name its column in ignore=, or give numbers made of it.")
    if weights[:, learnt.shape[0] :].any():
        raise ValueError(
            f"{who}: {method} must have a slot for each feature, got more than the {learnt.shape[0]} slots hold: the others are "
            "hashed. Give more slots, and learn again."
        )
    return numbers, list(names.values())


def transformer_of(who: str, vectorizer: TableVectorizer, weights: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a fitted `ColumnTransformer` of scikit-learn, and of each of its columns the slot whose weight it has, and a factor
    of this weight. It may have several columns for one feature.

    The numbers of a column with nothing but 0 and 1 so far have three: z, and where x is 0, or 1, what x is more than z.
    """
    numbers, names = columns_of(who, "to_sklearn", vectorizer, weights)
    flag = next((each.column for each in names if each.slots and each.slots.keys() <= {"True", "False"}), None)
    if flag is not None:  # (which its encoder tells from these texts)
        raise ValueError(
            f"{who}: to_sklearn must have columns of numbers or of names, got booleans in column {flag!r}. Take it out of "
            "categories=, and learn again."
        )
    try:
        import pandas
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
    except ImportError as error:
        raise ImportError(
            f"{who}: scikit-learn and pandas are needed for to_sklearn of tables, got {error}: pip install scikit-learn pandas"
        ) from None
    clip, of_new = float(vectorizer.clip), "error" if vectorizer.unknown == "error" else "ignore"
    parts: list[tuple[str, Any, list[str]]] = []  # (names, transformers, columns)
    slots: list[int] = []
    factors: list[float] = []

    def encoder(categories: list, unknown: str = of_new) -> Any:
        return OneHotEncoder(categories=[np.array(list(each)) for each in categories], handle_unknown=unknown)

    def of_floats(step: Any) -> Any:
        return make_pipeline(StandardScaler(with_mean=False, with_std=False), step)  # (which makes texts and booleans floats)

    def add(name: str, step: Any, columns: list, places: list[int], by: list[float] | None = None) -> None:
        if columns:
            parts.append((name, step, [each.column for each in columns]))
            slots.extend(places)
            factors.extend([1.0] * len(places) if by is None else by)

    scaled = make_pipeline(
        StandardScaler(), MinMaxScaler((-clip, clip), clip=True),
        SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True),
    )
    add("numbers", scaled, numbers, [each.slot for each in numbers] + [each.missing for each in numbers])
    binary = [each for each in numbers if each.is_binary]
    ends = [x - min(max((x - each.mean) / each.deviation, -clip), clip) for each in binary for x in (0.0, 1.0)]
    add("binary", of_floats(encoder([[0.0, 1.0]] * len(binary), "ignore")), binary,
        [each.slot for each in binary for _ in range(2)], ends)
    of_numbers = {each: found for each in names if (found := each.floats())}
    of_texts = {each: dict(sorted(each.texts().items())) for each in names if each not in of_numbers}
    fill = SimpleImputer(missing_values=pandas.NA, strategy="constant", fill_value="")
    texts, floats = encoder([*of_texts.values()]), encoder([*of_numbers.values()])
    add("names", make_pipeline(fill, texts), [*of_texts], [slot for found in of_texts.values() for slot in found.values()])
    add("numbers_as_names", of_floats(floats), [*of_numbers], [slot for found in of_numbers.values() for slot in found.values()])
    first = {each.column: ["", ""] for each in of_texts}
    rows = pandas.DataFrame({column: first.get(column, [0.0, np.nan]) for column in vectorizer.schema_})
    made = ColumnTransformer(parts).fit(rows)
    if numbers:
        scaler, clipper, _ = (step for _, step in made.named_transformers_["numbers"].steps)
        scaler.mean_, scaler.scale_ = (np.array([getattr(each, name) for each in numbers]) for name in ("mean", "deviation"))
        scaler.var_, scaler.n_samples_seen_ = scaler.scale_**2, vectorizer._fitted().t
        ones = np.ones(len(numbers))
        clipper.scale_, clipper.min_, clipper.data_range_ = ones, 0.0 * ones, 2.0 * clip * ones
        clipper.data_min_, clipper.data_max_ = -clip * ones, clip * ones
    return made, np.array(slots), np.array(factors)


def graph_of(who: str, vectorizer: TableVectorizer, weights: np.ndarray) -> Graph:
    """Return a graph whose inputs are the columns of a table, and whose ``product`` their features times weights."""
    numbers, names = columns_of(who, "to_onnx", vectorizer, weights)
    graph = Graph(who, PREFIX)
    add, constants, types = graph.add, graph.constants, graph.types
    for name in vectorizer.schema_:
        if not name or name in OUTPUTS or name.startswith(PREFIX):
            raise ValueError(
                f"{who}: to_onnx must have columns whose names are not those of the graph, got {name!r}. Rename the column."
            )
    table = np.vstack([weights.T, np.zeros(len(weights))])
    sums = []
    for k, each in enumerate(numbers):
        graph.add_input(each.column, types.FLOAT, ["n_rows", 1])
        add("Identity", "", f"number{k}", each.column)
    if numbers:
        clip = float(vectorizer.clip)
        constants |= {
            "means": np.array([each.mean for each in numbers]), "deviations": np.array([each.deviation for each in numbers]),
            "least": np.array(-clip), "most": np.array(clip), "zero": np.array(0.0), "one": np.array(1.0),
            "are_binary": np.array([each.is_binary for each in numbers]),
            "of_numbers": table[[each.slot for each in numbers]], "of_missing": table[[each.missing for each in numbers]],
        }
        add("Concat", " ".join(f"number{k}" for k in range(len(numbers))), "given", axis=1)
        add("Cast", "given", "x", to=types.DOUBLE)
        add("IsNaN", "x", "lacks")
        add("Sub", "x means", "centred")
        add("Div", "centred deviations", "scaled_x")
        add("Clip", "scaled_x least most", "standard")
        add("Equal", "x zero", "is_0")
        add("Equal", "x one", "is_1")
        add("Or", "is_0 is_1", "is_either")
        add("And", "is_either are_binary", "stays")
        add("Where", "stays x standard", "z")
        add("Where", "lacks zero z", "values")
        add("MatMul", "values of_numbers", "by_numbers")
        add("Cast", "lacks", "indicators", to=types.DOUBLE)
        add("MatMul", "indicators of_missing", "by_missing")
        sums += ["by_numbers", "by_missing"]
    if names:
        constants["second"] = np.array([1])
    for k, column in enumerate(names):
        found = {text: slot for text, slot in column.texts().items() if not text or table[slot].any()}
        graph.add_input(column.column, types.STRING, ["n_rows", 1])
        constants[f"of_names{k}"] = np.vstack([np.zeros(len(weights)), table[list(found.values())]])
        add("LabelEncoder", "", f"code{k}", column.column, domain="ai.onnx.ml", keys_strings=[*found],
            values_int64s=[*range(1, len(found) + 1)], default_int64=0)
        add("Gather", f"of_names{k} code{k}", f"met{k}")
        add("Squeeze", f"met{k} second", f"by_names{k}")
        sums.append(f"by_names{k}")
    add("Sum", " ".join(sums), "exact")
    add("Cast", "exact", "product", to=types.FLOAT)
    return graph
