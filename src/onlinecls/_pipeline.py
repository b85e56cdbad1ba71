"""`StreamPipeline`: steps and a learner as one object, which learns streams of whatever its first step reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ._compiled.model import are_same, learn_together
from ._estimators import saving
from ._estimators.estimator import Estimator
from ._estimators.saving import packed_parameters, read_parameters
from ._files import numbered, of_number, require
from ._input import validate
from ._input.compat import available_if, issparse, kind_of, not_fitted
from .text import FeatureNames, HashingVectorizer, contributions, lasting, parameters_of, part_of, plain_rows, vectorizer_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from .text import Contribution

    Commits = list[Callable[[], object]]

__all__ = ["Explanation", "StreamPipeline", "make_stream_pipeline"]

_OWN = f"{__package__}."  # the beginning of the modules of this library
_OF_LEARNER = "classes_", "coef_", "intercept_", "covariance_", "t_", "n_mistakes_", "n_updates_"
_OF_FIRST_STEP = "feature_names_in_", "n_features_in_"


class Explanation(NamedTuple):
    """Hold what `StreamPipeline.explain` returns.

    Attributes
    ----------
    prediction : label, or the number that a regressor predicts
    score : float
        w.x + intercept towards the predicted class; of a regressor, the prediction.
    features : list of onlinecls.text.Contribution
        Those of the largest contributions (weight times value) first. The intercept is called "(intercept)".
    """

    prediction: Any
    score: float
    features: list[Contribution]


class StreamPipeline(Estimator):
    """Run rows through steps into a learner, all of which learn a stream as it comes: any batch, any row, in one pass.

    A step learns the rows of a batch, then transforms them (by its `learn_transform` if it has one, else `partial_fit` and
    `transform`), and hands them to the next one. Where rows are predicted, steps transform them only, after the end of a learning
    call of another thread. After Ctrl-C in `partial_fit` the steps have learnt the rows that the learner has counted; `fit` then
    has changed nothing.

    Parameters
    ----------
    steps : list of (str, object) pairs
        Names and transformers, the learner last. Those with `learn_transform` or `partial_fit` learn a stream:
        `onlinecls.tables.TableVectorizer`, scikit-learn's `StandardScaler` and its like. `partial_fit` uses others as they are
        (fitted beforehand, if they have to be): `onlinecls.text.HashingVectorizer`, scikit-learn's `TfidfTransformer`, a
        package's embeddings. `fit` fits them all, unless they are in scikit-learn's `FrozenEstimator`.

    Attributes
    ----------
    named_steps : dict of str to object
        The steps by their names.
    classes_, coef_, intercept_, covariance_, t_, n_mistakes_, n_updates_ :
        Those of the learner, if it has them.
    feature_names_in_, n_features_in_ :
        Those of the first step, if it has them.

    Raises
    ------
    TypeError, ValueError
        If a step is no transformer, or the last one is no learner; if one of them refuses a batch, of which none has then learnt.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, make_stream_pipeline
    >>> from onlinecls.tables import TableVectorizer
    >>> rows = [{"price": 9.5, "color": "red"}, {"price": 900.0, "color": "blue"}] * 20
    >>> pipeline = make_stream_pipeline(TableVectorizer(), AROWClassifier())
    >>> pipeline = pipeline.partial_fit(rows, ["no", "yes"] * 20)
    >>> pipeline.learn_one({"price": 1000.0, "color": "green"}, "yes").predict_one({"price": 800.0, "color": None})
    'yes'
    """

    steps: list[tuple[str, Any]]
    _in_place = frozenset({"steps"})

    def __init__(self, steps: list[tuple[str, Any]]) -> None:
        self.steps = steps

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self._learner)

    def __sklearn_tags__(self) -> Tags:
        tags, first = deepcopy(self._learner.__sklearn_tags__()), self.steps[0][1]
        if first is not self._learner and hasattr(first, "__sklearn_tags__"):
            tags.input_tags = first.__sklearn_tags__().input_tags
        return tags

    def __getattr__(self, name: str) -> Any:
        if name not in (*_OF_LEARNER, *_OF_FIRST_STEP):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        with self._own_lock().waiting():
            return getattr(self._parts()[-1 if name in _OF_LEARNER else 0], name)

    def __getitem__(self, at: int | str) -> Any:
        """Return a step by its name or place."""
        return self.named_steps[at] if isinstance(at, str) else self.steps[at][1]

    @property
    def named_steps(self) -> dict[str, Any]:
        """The steps by their names."""
        return dict(self.steps)

    @property
    def _estimator_type(self) -> str | None:
        return kind_of(self._learner)

    @property
    def _learner(self) -> Any:
        return self._parts()[-1]

    def _parts(self) -> tuple[Any, ...]:
        """Return the steps, checked when one of them is another object, the learner last."""
        given, (known, checked) = self.steps, self.__dict__.get("_checked", (None, ()))
        if type(given) in (list, tuple) and are_same(known, given):
            return checked
        who = type(self).__name__
        pairs = isinstance(given, list | tuple) and all(isinstance(each, list | tuple) and len(each) == 2 for each in given)
        if not pairs or not given:
            raise TypeError(f"{who}: steps must be a list of (name, step) pairs, got steps={validate.brief(given)}.")
        names, parts = zip(*given, strict=True)
        are_texts = all(isinstance(name, str) and "__" not in name and name != "steps" for name in names)
        if not are_texts or len({*names}) < len(names):
            needed = "different names, texts without '__' that are not 'steps'"
            raise ValueError(f"{who}: steps must have {needed}, got {list(names)!r}.")
        for k, part in enumerate(parts):
            which, methods = ("a step", ["transform"]) if k < len(parts) - 1 else ("the last step", ["partial_fit", "predict"])
            if isinstance(part, type) or not all(hasattr(part, method) for method in methods):
                raise TypeError(f"{who}: {which} must have {' and '.join(methods)}, got {validate.brief(part)}.")
        self._checked = tuple(given), parts
        return parts

    def _nested(self) -> dict[str, Any]:
        return dict(self.steps)

    def _set_nested(self, named: dict[str, Any]) -> None:
        self.steps = [(name, named[name]) for name, _ in self.steps]

    # --- learning ------------------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows in the order given, one pass, from where the steps and the learner are.

        Parameters
        ----------
        X : whatever the first step reads
        y : array-like of shape (n_rows,)
        classes : array-like of shape (n_classes,), default=None
            All labels there will be; at the first call. None: for learners of this library labels join as they appear.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0 of the rows, for the learner and for the steps that take weights.
        """
        with self._own_lock():
            X, (*steps, learner) = lasting(X), self._parts()
            arguments = {} if classes is None else {"classes": classes}
            if sample_weight is not None:
                arguments["sample_weight"] = sample_weight
            rows, commits = rows_to_learn(steps, learner, X, sample_weight)
            learn_together(learner.partial_fit, (rows, y), arguments, commits, commits_of_rows_learnt,
                           steps, learner, X, np.zeros(rows.shape[0]) if y is None else y, sample_weight, n_rounds(learner))
        return self

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch: each step from all rows, then the learner in epochs over what the last step makes of them."""
        X = lasting(X)
        with self._own_lock():
            *steps, learner = self._parts()
            commits: Commits = []
            for step in steps:
                if type(step).__name__ == "FrozenEstimator" or not hasattr(step, "fit"):
                    X = step.transform(X)
                    continue
                after = deepcopy(step)
                X = after.fit(X, y, **_weights_of(after.fit, sample_weight)).transform(X)
                commits.append(partial(become, step, after))
            after = deepcopy(learner)
            commits.append(partial(become, learner, after))
            learn_together(after.fit, (X, y), _weights_of(None, sample_weight), commits, list)
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one row: a dict of a table's row, a text, whatever the first step reads a list of. Returns the pipeline."""
        return self.partial_fit([x], [y])

    def merge(self, *others: Any) -> Self:
        """Refuse: learners merge, and `parallel.fit` learns a pipeline from parts."""
        do = "Merge those behind steps that have learnt the same rows, pipeline[-1].merge(other[-1]), or use parallel.fit."
        raise ValueError(f"{type(self).__name__}: merge must have learners, got pipelines. {do}")

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _answer(self, ask: Callable[[Any, Any], Any], X: Any) -> Any:
        """Return what a function of the learner and of rows behind the steps returns, under the lock."""
        with self._own_lock().waiting():
            *steps, learner = self._parts()
            for step in steps:
                X = transformed(step, X)
            return ask(learner, rows_for(learner, X))

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Return what the learner predicts for rows; arguments are its own (a regressor's `return_std`)."""
        return self._answer(lambda learner, rows: learner.predict(rows, **arguments), X)

    @available_if(lambda self: self._learner.decision_function)
    def decision_function(self, X: Any, **arguments: Any) -> Any:
        """Return the learner's scores of rows; there only if it has them. Arguments are its own (`return_std`)."""
        return self._answer(lambda learner, rows: learner.decision_function(rows, **arguments), X)

    @available_if(lambda self: self._learner.predict_proba)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the learner's probabilities of rows; there only if it has them (``probability=True``)."""
        return self._answer(lambda learner, rows: learner.predict_proba(rows), X)

    @available_if(lambda self: self._learner.predict_log_proba)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of `predict_proba`; there only if the learner has them (``probability=True``)."""
        return self._answer(lambda learner, rows: learner.predict_log_proba(rows), X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the learner's score on rows: mean accuracy, or R² of a regressor."""
        return self._answer(lambda learner, rows: learner.score(rows, y, **_weights_of(None, sample_weight)), X)

    def predict_one(self, x: Any) -> Any:
        """Return the prediction for one row; before there is a model, None (a regressor's: 0.0)."""
        if not self.__sklearn_is_fitted__():
            return 0.0 if self._estimator_type == "regressor" else None
        return self.predict([x]).item(0)

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label for one row; {} before there is a model."""
        if not self.__sklearn_is_fitted__():
            return {}
        return self._answer(lambda of, X: dict(zip(of.classes_.tolist(), of.predict_proba(X)[0].tolist(), strict=True)), [x])

    def explain(self, row: Any, top: int | None = 10) -> Explanation:
        """Return what each feature of a row adds to the score of its prediction: weight times value.

        Parameters
        ----------
        row : whatever the first step reads a list of
            A dict of a table's row, a text; for a pipeline of the learner alone, an array, or a sparse matrix of one row.
        top : int >= 1 or None, default=10
            Most features to return; None: all, which add up to the score.

        Returns
        -------
        explanation : Explanation
            Prediction, score and features, with the names of columns and words. Weights of a table's numbers are per unit of the
            column, and their values distances from the mean so far. A column without a name is called by its number.

        Examples
        --------
        >>> from onlinecls import AROWClassifier, make_stream_pipeline
        >>> from onlinecls.text import HashingVectorizer
        >>> pipeline = make_stream_pipeline(HashingVectorizer(), AROWClassifier())
        >>> pipeline = pipeline.partial_fit(["cheap pills", "lunch at noon"] * 5, ["spam", "ham"] * 5)
        >>> found = pipeline.explain("lunch at noon, cheap")
        >>> found.prediction, [each.name for each in found.features if each.contribution < 0]
        ('ham', ['cheap'])
        """
        who = type(self).__name__
        if top is not None and (isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1):
            raise ValueError(f"{who}: top must be an integer >= 1 or None, got top={top!r}.")
        with self._own_lock().waiting():
            *steps, learner = self._parts()
            if (linear := linear_of(learner)) is None:
                needed = "explain must have a learner whose scores are sums over features"
                raise TypeError(f"{who}: {needed}, got {learner!r}.") if is_fitted(learner) else not_fitted(who)
            return _explained(steps, linear, row, top)

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _described(self, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        """Describe the pipeline by a header for JSON and arrays; those of step k are called k.name."""
        who, (*parts, learner) = type(self).__name__, self._parts()
        described = [*(_step_in_file(who, step) for step in parts), saving.described(who, learner)]
        steps = [[name, header] for (name, _), (header, _) in zip(self.steps, described, strict=True)]
        return {"estimator": who, "steps": steps, "metadata": metadata}, numbered(arrays for _, arrays in described)

    @classmethod
    def _rebuilt(cls, header: dict, arrays: dict[str, np.ndarray]) -> Self:
        steps = []
        require(type(header["steps"]) is list and bool(header["steps"]), "steps", header["steps"])
        for k, (name, described) in enumerate(header["steps"]):
            rebuilt = _step_of_file if k < len(header["steps"]) - 1 else saving.rebuilt
            steps.append((name, rebuilt(described, of_number(k, arrays))))
        require(not arrays, "arrays of steps", list(arrays))
        return cls(steps)


def make_stream_pipeline(*steps: Any) -> StreamPipeline:
    """Make a `StreamPipeline` of transformers and, last, a learner, each named by its class in small letters.

    Several of one class are called name-1, name-2 ..
    """
    return StreamPipeline(list(zip(names_of(steps), steps, strict=True)))


def names_of(steps: Sequence[Any]) -> list[str]:
    """Return the classes of objects in small letters; several of one class are numbered, as by scikit-learn's make_pipeline."""
    names = [type(step).__name__.lower() for step in steps]
    several = {name for name in names if names.count(name) > 1}
    return [f"{name}-{names[: at + 1].count(name)}" if name in several else name for at, name in enumerate(names)]


# --- steps ---------------------------------------------------------------------------------------------------------------------


def stays(step: Any) -> bool:
    """Return True for a transformer that a stream does not change. (A FrozenEstimator shows all methods of what it holds.)"""
    learns = getattr(type(step), "partial_fit", None) is not HashingVectorizer.partial_fit and hasattr(step, "partial_fit")
    return type(step).__name__ == "FrozenEstimator" or not (learns or hasattr(step, "learn_transform"))


def _weights_of(learn: Callable | None, sample_weight: Any) -> dict[str, Any]:
    """Return the weights as a keyword, if there are any and this method (None: any learner's) takes them."""
    takes = sample_weight is not None and (learn is None or "sample_weight" in inspect.signature(learn).parameters)
    return {"sample_weight": sample_weight} if takes else {}


def transformed(step: Any, X: Any) -> Any:
    """Return the rows behind a step, of this library's own as `Rows`. (A subclass may have a `transform` of its own.)"""
    own = type(step).__dict__.get("_transformed")
    return step.transform(plain_rows(X)) if own is None else own(step, plain_rows(X))


def rows_for(learner: Any, X: Any) -> Any:
    """Return X as a learner may have it: `Rows` only for one of this library. (Who extends it may do more with X.)"""
    return X if type(learner).__module__.startswith(_OWN) else plain_rows(X)


def rows_to_learn(steps: list, learner: Any, X: Any, sample_weight: Any) -> tuple[Any, Commits]:
    """Return what the learner behind steps is to learn, and functions that make the steps learn the same batch."""
    commits: Commits = []
    for step in steps:
        X, planned = plain_rows(X), type(step).__dict__.get("_planned")  # (a subclass may learn in a way of its own)
        if planned is not None:
            X, commit = planned(step, X, sample_weight)
            commits.append(commit)
        elif stays(step):
            X = transformed(step, X)
        else:
            after = deepcopy(step)
            commits.append(partial(become, step, after))
            if hasattr(after, "learn_transform"):
                X = after.learn_transform(X, **_weights_of(after.learn_transform, sample_weight))
            else:
                X = after.partial_fit(X, **_weights_of(after.partial_fit, sample_weight)).transform(X)
    return rows_for(learner, X), commits


def commits_of_rows_learnt(steps: list, learner: Any, X: Any, y: Any, sample_weight: Any, before: float) -> Commits:
    """Return the functions that make steps learn what an interrupted learner has learnt of a batch. before : its count then."""
    labels = np.ravel(y)
    weights = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, np.float64), len(labels))
    n = rows_learnt(learner, before, labels, weights) if steps else 0
    whole = validate.as_csr(StreamPipeline.__name__, X) if issparse(X) and X.format != "csr" else X
    weights = None if weights is None else weights[:n]
    return rows_to_learn(steps, learner, part_of(whole, 0, n), weights)[1] if n else []


def become(step: Any, after: Any) -> None:
    """Give a step, or a learner, all that a copy of it has learnt."""
    found = {name: value for name, value in vars(after).items() if name != "_lock"}
    vars(step).update(found)
    for name in vars(step).keys() - found.keys() - {"_lock"}:
        del vars(step)[name]


def n_rounds(learner: Any) -> float:
    """Return how many rows of weight > 0 a learner has counted; 0 if it does not count."""
    return getattr(learner, "t_", None) or getattr(learner, "n_rows_", None) or 0


def live_rows(learner: Any, y: Any, sample_weight: Any) -> np.ndarray:
    """Return where rows have a weight > 0, the class weights of a learner of this library included."""
    live = np.ones(len(y), bool) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64) > 0.0
    class_weight = getattr(learner, "class_weight", None)
    if isinstance(learner, Estimator) and isinstance(class_weight, dict):
        live = live & np.array([class_weight.get(label, 1.0) > 0.0 for label in np.asarray(y).tolist()], bool)
    return live


def rows_learnt(learner: Any, before: float, y: Any, sample_weight: Any) -> int:
    """Return the number of the rows of a batch that a learner has learnt, by its count from before it."""
    n, done = len(y), n_rounds(learner) - before
    if not done or not isinstance(learner, Estimator):  # (other libraries' learners are not interrupted within a batch)
        return n if done else 0
    n_live = live_rows(learner, y, sample_weight).cumsum()
    return n if done >= n_live[-1] else int(n_live.searchsorted(done)) + 1


def is_fitted(estimator: Any) -> bool:
    """Return True if any library's estimator has learnt, as scikit-learn's check_is_fitted tells it."""
    if hasattr(estimator, "__sklearn_is_fitted__"):
        return bool(estimator.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("_") for name in getattr(estimator, "__dict__", ()))


def _step_in_file(who: str, step: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Describe a step by what JSON holds, and arrays."""
    if "_planned" in vars(type(step)):
        from .tables import described

        ignored = {str(k): name for k, name in enumerate(step.ignore)}  # (which a header holds whatever is in it)
        parameters = {**step.get_params(), "ignore": ignored, "dtype": np.dtype(step.dtype).type}
        state, arrays = described(step)
        return {"step": "TableVectorizer", "parameters": packed_parameters(who, parameters), "learnt": state}, arrays
    found = parameters_of(step)
    if found is None:
        steps = "steps that a file without pickle can hold, those of this library without functions as parameters"
        raise ValueError(f"{who}: save must have {steps}, got {validate.brief(step)}. Use pickle.")
    return {"step": "HashingVectorizer", "parameters": found}, {}


def _step_of_file(header: dict, arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a step from a description that need not be trusted."""
    kind = header["step"]
    if kind == "HashingVectorizer":
        return vectorizer_of(header["parameters"])
    require(kind == "TableVectorizer", "a step of this version", kind)
    from .tables import TableVectorizer, rebuild

    parameters = read_parameters(TableVectorizer, header["parameters"])
    parameters["ignore"] = tuple(dict(parameters["ignore"]).values())
    return rebuild(TableVectorizer(**parameters), header["learnt"], arrays)


# --- explanations --------------------------------------------------------------------------------------------------------------


def linear_of(learner: Any) -> Any:
    """Return the linear model that predicts; None for a kernel learner."""
    found = getattr(learner, "chosen_", learner)
    return found if hasattr(found, "coef_") else None


def _explained(steps: list, learner: Any, row: Any, top: int | None) -> Explanation:
    """Explain what a learner predicts for a row behind steps."""
    from scipy.sparse import csr_matrix

    X: Any = row if issparse(row) else [row]
    names = getattr([*steps, learner][0], "feature_names_in_", None)
    look_up: Callable[[int], tuple] | None = None  # (None: names tells them)
    for step in steps:
        if hasattr(step, "_planned"):
            look_up = named_columns(step, X, in_units=step is steps[-1])
        elif isinstance(step, HashingVectorizer):
            words = FeatureNames(step)
            words.transform(X)
            look_up = words.look_up
        elif hasattr(step, "get_feature_names_out"):
            inner = getattr(step, "estimator", step)  # (of a FrozenEstimator)
            if not any(each.__name__ == "OneToOneFeatureMixin" for each in type(inner).__mro__):  # (which keeps columns)
                names, look_up = step.get_feature_names_out(), None
        X = step.transform(X)
    rows = csr_matrix(X if issparse(X) else np.atleast_2d(X))
    prediction = learner.predict(rows).item(0)
    c = 1 if kind_of(learner) == "regressor" else np.asarray(learner.classes_).tolist().index(prediction)
    plain = lambda column: (None if names is None else str(names[column]), False, 1)  # noqa: E731
    found = contributions(learner, c, rows.indices.tolist(), rows.data.tolist(), look_up or plain)
    return Explanation(prediction, float(sum(each.contribution for each in found)), found[:top])


def named_columns(step: Any, X: Any = None, in_units: bool = True) -> Callable[[int], tuple]:
    """Return a function of a column of a `TableVectorizer`: its name or None, whether others share it, and what turns its weight
    into that of the value in the table. X : rows whose hashed features are named. in_units : False where other steps follow."""
    from .tables import TableVectorizer, slot_names

    names, statistics = slot_names(step), step.statistics_ if in_units else {}
    unit = lambda name: statistics.get(name, (0.0, 0.0, 0.0))[2] or 1.0  # noqa: E731
    found = {k: (name, False, 1.0 / unit(name)) for k, name in enumerate(names)}
    if X is not None and step.bits:
        every = TableVectorizer(1, max_values=2**20, ignore=step.ignore).fit(X)
        others = sorted({*slot_names(every)} - {*names})
        rows = HashingVectorizer(n_features=2**step.bits, norm=None).transform([{}, *({name: 1.0} for name in others)])
        for name, column, sign in zip(others, (rows.indices + step.max_values).tolist(), rows.data.tolist(), strict=True):
            found[column] = (found[column][0], True, found[column][2]) if column in found else (name, False, sign / unit(name))
    return lambda column: found.get(column, (None, False, 1))
