"""`StreamPipeline`: steps and a learner as one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from .._compiled.lock import learn_together
from .._estimators import saving
from .._estimators.estimator import Estimator
from .._estimators.merging import unchanged
from .._files import numbered, of_number, require
from .._input import validate
from .._input.compat import available_if, issparse, kind_of
from ..text import lasting, part_of
from ._explain import Explanation, explained, linear_of
from ._steps import become, fitted, is_fitted, learnt, n_rounds, rows_learnt, step_in_file, step_of_file, unfitted, width_of

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

Commits = list[Callable[[], object]]


def _of_learner(name: str, doc: str) -> Any:
    """Make a property that reads an attribute of the learner; an object whose learner has none has none, either."""

    def read(self: Any) -> Any:
        with self._own_lock().waiting():
            return getattr(self._learner, name)

    return property(read, doc=doc)


class StreamPipeline(Estimator):
    """Run rows through steps into a learner, all of which learn a stream as it comes: any batch, any row, in one pass.

    A step learns the rows of a batch, then transforms them (by its `learn_transform` if it has one, else `partial_fit` and
    `transform`), and hands them to the next one. Where rows are predicted, steps transform them only.

    Steps and learner are one model, also for other threads: a prediction waits for the end of a learning call, so that it never
    mixes statistics and weights of two moments. After Ctrl-C in `partial_fit` the steps have learnt the rows that the learner has
    counted; `fit` then has changed nothing.

    Parameters
    ----------
    steps : list of (str, object) pairs
        Names and transformers, the learner last. Transformers have `transform`. Those with `learn_transform` or `partial_fit`
        learn in place: `onlinecls.tables.TableVectorizer`, scikit-learn's `StandardScaler` and its like. Others are used as they
        are, once they are fitted or if they have no `fit`: `onlinecls.text.HashingVectorizer`, scikit-learn's
        `TfidfTransformer`, a package's embeddings. `fit` fits them anew, as scikit-learn's `Pipeline` does, unless they are in
        a `FrozenEstimator`, which no method changes.

    Attributes
    ----------
    named_steps : dict of str to object
        The steps by their names.
    classes_, coef_, intercept_, covariance_ : ndarray
        The learner's labels, weights, intercepts and covariance, if it has them. Columns are those of its rows, which
        `explain` names.
    t_, n_mistakes_, n_updates_ : int
        The learner's counts of rows, mistakes and updates, if it has them.
    feature_names_in_, n_features_in_ : ndarray of str, int
        Those of the first step, if it has them.

    Raises
    ------
    TypeError
        If a step is no transformer, or can neither learn a stream nor is fitted when `partial_fit` is called, or the last one is
        no learner.
    ValueError
        If a step or the learner refuses a batch. No step has then learnt anything of it.

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
        self._assign(locals())

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self._learner)

    def __sklearn_tags__(self) -> Tags:
        from copy import deepcopy

        tags, first = deepcopy(self._learner.__sklearn_tags__()), self.steps[0][1]
        if first is not self._learner and hasattr(first, "__sklearn_tags__"):
            tags.input_tags = first.__sklearn_tags__().input_tags
        return tags

    def __len__(self) -> int:
        return len(self.steps)

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
        """Return the steps, checked, the learner last."""
        checked = self.__dict__.get("_checked")
        if checked is not None and checked[0] is self.steps and len(checked[1]) == len(self.steps):
            if all(map(is_, checked[1], self.steps)):
                return checked[2]
        who, steps = type(self).__name__, self.steps
        right = isinstance(steps, list | tuple) and all(isinstance(each, list | tuple) and len(each) == 2 for each in steps)
        if not right or not steps:
            raise TypeError(f"{who}: steps must be a list of (name, step) pairs, got steps={validate.brief(steps)}.")
        names = [name for name, _ in steps]
        for name in names:
            if not isinstance(name, str) or "__" in name or name == "steps" or names.count(name) > 1:
                raise ValueError(
                    f"{who}: steps must have different names, each a text without '__' that is not 'steps', got {name!r} among "
                    f"{names!r}."
                )
        *steps, learner = (step for _, step in steps)
        for step in steps:
            if not hasattr(step, "transform") or isinstance(step, type):
                raise TypeError(
                    f"{who}: a step must have transform, and learn_transform or partial_fit, or be fitted, got "
                    f"{validate.brief(step)}. Give a transformer."
                )
            if sum(each is step for each in steps) > 1:
                raise ValueError(f"{who}: steps must be different objects, got {validate.brief(step)} twice. Give a copy of it.")
        if not (hasattr(learner, "partial_fit") and hasattr(learner, "predict")) or isinstance(learner, type):
            raise TypeError(f"{who}: the last step must have partial_fit and predict, got {validate.brief(learner)}.")
        self._checked = self.steps, tuple(self.steps), (*steps, learner)
        return self._checked[2]

    # --- parameters ----------------------------------------------------------------------------------------------------------

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
            Of a TableVectorizer tables, of a HashingVectorizer texts.
        y : array-like of shape (n_rows,)
        classes : array-like of shape (n_classes,), default=None
            All labels there will be; at the first call. None: for learners of this library labels join as they appear.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0 of the rows, for the learner and for the steps that take weights.

        Returns
        -------
        self : object
        """
        arguments = {} if classes is None else {"classes": classes}
        if sample_weight is not None:
            arguments["sample_weight"] = sample_weight
        with self._own_lock():
            self._learn(lasting(X), y, sample_weight, arguments)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, arguments: dict[str, Any]) -> None:
        """Make the learner learn a batch, and the steps the rows of it that the learner has learnt."""
        learner = self._parts()[-1]
        rows, commits = self._rows_to_learn(X, sample_weight)

        def commits_of_rows_learnt() -> Commits:
            labels = np.zeros(rows.shape[0]) if y is None else np.ravel(y)
            weights = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, np.float64), len(labels))
            n = rows_learnt(learner, before, labels, weights)
            if not (n and commits):
                return []
            whole = validate.as_csr(type(self).__name__, X) if issparse(X) and X.format != "csr" else X
            return self._rows_to_learn(part_of(whole, 0, n), None if weights is None else weights[:n])[1]

        before = n_rounds(learner)
        learn_together(lambda: learner.partial_fit(rows, y, **arguments), commits, commits_of_rows_learnt)

    def _rows_to_learn(self, X: Any, sample_weight: Any) -> tuple[Any, Commits]:
        """Return what the learner is to learn, and functions that make the steps learn the same batch."""
        commits: Commits = []
        for step in self._parts()[:-1]:
            X, commit = learnt(step, X, sample_weight)
            commits += [] if commit is None else [commit]
        return X, commits

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch: each step from all rows, then the learner in epochs over what the last step makes of them.

        Parameters
        ----------
        X : whatever the first step reads
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None

        Returns
        -------
        self : object
        """
        arguments = {} if sample_weight is None else {"sample_weight": sample_weight}
        X = lasting(X)
        with self._own_lock():
            *steps, learner = self._parts()
            commits: Commits = []
            for step in steps:
                X, commit = fitted(step, X, y, sample_weight)
                commits += [] if commit is None else [commit]
            after = unfitted(learner).fit(X, y, **arguments)
            commits.append(lambda: become(learner, after))
            learn_together(lambda: None, commits, lambda: commits)
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one row: a dict of a table's row, a text, whatever the first step reads a list of. Returns the pipeline."""
        with self._own_lock():
            self._learn([x], [y], None, {})
        return self

    def merge(self, *others: Any) -> Self:
        """Take in what other pipelines have learnt.

        Steps must be equal in what they have learnt; the learners behind them merge.

        Raises
        ------
        ValueError
            If steps differ (`parallel.fit` lets a step learn the rows of all parts first), or the learners do not merge. Nothing
            is changed then.
        """
        who = type(self).__name__
        with unchanged((self, *others), learner=self):
            parts = [each._parts() if type(each) is type(self) else () for each in (self, *others)]
            described = [[step_in_file(who, step) for step in each[:-1]] for each in parts]
            if not all(parts) or not all(_are_equal(described[0], each) for each in described):
                raise ValueError(
                    f"{who}: merge must have pipelines of the same steps, which have learnt the same rows, got {others!r} beside "
                    f"{self!r}. parallel.fit lets a step learn the rows of all parts first."
                )
            parts[0][-1].merge(*(learner for *_, learner in parts[1:]))
        return self

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _transformed(self, X: Any) -> Any:
        """Return the rows that the learner predicts: those of the last step before it."""
        for step in self._parts()[:-1]:
            X = step.transform(X)
        return X

    def _answer(self, name: str, X: Any, *more: Any, **arguments: Any) -> Any:
        """Return what a method of the learner returns for rows."""
        with self._own_lock().waiting():
            return getattr(self._learner, name)(self._transformed(X), *more, **arguments)

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Return what the learner predicts for rows; arguments are its own (a regressor's `return_std`)."""
        return self._answer("predict", X, **arguments)

    @available_if(lambda self: self._learner.decision_function)
    def decision_function(self, X: Any, **arguments: Any) -> Any:
        """Return the learner's scores of rows; there only if it has them. Arguments are its own (`return_std`)."""
        return self._answer("decision_function", X, **arguments)

    @available_if(lambda self: self._learner.predict_proba)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the learner's probabilities of rows; there only if it has them (``probability=True``)."""
        return self._answer("predict_proba", X)

    @available_if(lambda self: self._learner.predict_log_proba)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of `predict_proba`; there only if the learner has them (``probability=True``)."""
        return self._answer("predict_log_proba", X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the learner's score on rows: mean accuracy, or R² of a regressor."""
        arguments = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._answer("score", X, y, **arguments)

    def predict_one(self, x: Any) -> Any:
        """Return the prediction for one row; before there is a model, None (a regressor's: 0.0)."""
        with self._own_lock().waiting():
            if not self.__sklearn_is_fitted__():
                return 0.0 if self._estimator_type == "regressor" else None
            return self._learner.predict(self._transformed([x])).item(0)

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label for one row; {} before there is a model."""
        with self._own_lock().waiting():
            if not self.__sklearn_is_fitted__():
                return {}
            chances = self._learner.predict_proba(self._transformed([x]))[0]
            return dict(zip(self._learner.classes_.tolist(), chances.tolist(), strict=True))

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
            A named tuple of the prediction, its score (towards the predicted class), the standard deviation of that (of models
            with `covariance_`) and the features, the largest in magnitude first, with the names of columns and words. Weights
            of a table's numbers are per unit of the column, and their values distances from the mean so far. A hashed word
            has its own name; a column that has none is called by its number.

        Raises
        ------
        TypeError
            If the learner's scores are not sums over features.

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
            if linear_of(learner) is None:
                raise TypeError(
                    f"{who}: explain must have a learner whose scores are sums over features, with coef_, got {learner!r}."
                )
            return explained(steps, linear_of(learner), row, top)

    classes_ = _of_learner("classes_", "The learner's labels.")
    coef_ = _of_learner("coef_", "The learner's weights, a row a class (two classes share one), a column a feature.")
    intercept_ = _of_learner("intercept_", "The learner's intercepts.")
    covariance_ = _of_learner("covariance_", "The learner's variances, or full covariance, of weights.")
    t_ = _of_learner("t_", "The number of rows of weight > 0 that the learner has learnt.")
    n_mistakes_ = _of_learner("n_mistakes_", "The number of them that the learner predicted wrongly just before it learnt them.")
    n_updates_ = _of_learner("n_updates_", "The number of them that changed the learner.")

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:  # type: ignore[override]
        """The names of the columns that the first step has learnt; there only if it has them."""
        return self._parts()[0].feature_names_in_

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """The number of columns that the first step has learnt; there only if it has it."""
        return self._parts()[0].n_features_in_

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _described(self, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        """Describe the pipeline by a header for JSON and arrays; those of step k are called k.name."""
        who, learner = type(self).__name__, self._learner
        if not saving.is_saved(learner):
            raise ValueError(f"{who}: save must have a learner of onlinecls, got {validate.brief(learner)}. Use pickle.")
        described = [*(step_in_file(who, step) for step in self._parts()[:-1]), learner._described({})]
        steps = [[name, header] for (name, _), (header, _) in zip(self.steps, described, strict=True)]
        return {"estimator": who, "steps": steps, "metadata": metadata}, numbered(arrays for _, arrays in described)

    @classmethod
    def _rebuilt(cls, header: dict, arrays: dict[str, np.ndarray]) -> Self:
        steps = []
        require(type(header["steps"]) is list and bool(header["steps"]), "steps", header["steps"])
        for k, (name, described) in enumerate(header["steps"]):
            rebuilt = saving.rebuilt if k == len(header["steps"]) - 1 else step_of_file
            steps.append((name, rebuilt(described, of_number(k, arrays))))
        require(not arrays, "arrays of steps", list(arrays))
        pipeline = cls(steps)
        *others, learner = pipeline._parts()
        widths = [width_of(step) for step in others[-1:]]
        require(all(width == learner.n_features_in_ for width in widths), "rows as wide as the learner's", widths)
        return pipeline


def _are_equal(mine: list, its: list) -> bool:
    """Return True if steps are described alike."""
    alike = [header for header, _ in mine] == [header for header, _ in its]
    pairs = zip((arrays for _, arrays in mine), (arrays for _, arrays in its), strict=True)
    return alike and all(a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a) for a, b in pairs)


def make_stream_pipeline(*steps: Any) -> StreamPipeline:
    """Make a `StreamPipeline` of transformers and, last, a learner, each named by its class in small letters.

    Parameters
    ----------
    *steps : objects
        Two of one class are called name-1 and name-2.

    Returns
    -------
    pipeline : StreamPipeline

    Examples
    --------
    >>> from onlinecls import AROWClassifier, make_stream_pipeline
    >>> from onlinecls.text import HashingVectorizer
    >>> pipeline = make_stream_pipeline(HashingVectorizer(), AROWClassifier())
    >>> pipeline.partial_fit(["cheap pills", "lunch at noon"] * 5, ["spam", "ham"] * 5).predict_one("pills, cheap")
    'spam'
    """
    return StreamPipeline(list(zip(names_of(steps), steps, strict=True)))


def names_of(steps: Sequence[Any]) -> list[str]:
    """Return the classes of objects in small letters; several of one class are numbered, as by scikit-learn's make_pipeline."""
    names = [type(step).__name__.lower() for step in steps]
    several = {name for name in names if names.count(name) > 1}
    return [f"{name}-{names[: at + 1].count(name)}" if name in several else name for at, name in enumerate(names)]
