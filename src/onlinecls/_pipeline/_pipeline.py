"""`StreamPipeline`: steps and a learner as one object."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from .._estimators import saving
from .._estimators.base import Estimator
from .._estimators.committee import named_members
from .._estimators.merging import merge as merge_learners
from .._estimators.merging import moved, unchanged
from .._input import validate
from .._input.compat import kind_of
from .._saving import numbered, of_number, require
from ..tables import TableVectorizer, merged_with_moves
from ._steps import become, can_learn, fitted, learnt, step_in_file, step_of_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    Commits = list[Callable[[], None] | None]


class StreamPipeline(Estimator):
    """Run rows through steps into a learner, all of which learn a stream as it comes: any batch, any row, in one pass.

    A step learns the rows of a batch, then transforms them (by its `learn_transform` if it has one, else `partial_fit` and
    `transform`), and hands them to the next one. Where rows are predicted, steps transform them only.

    Parameters
    ----------
    steps : list of (str, object) pairs
        Names and transformers, the learner last. Transformers have `transform`, and `learn_transform`, `partial_fit`, or nothing
        to learn: `onlinecls.tables.TableVectorizer`, `onlinecls.text.HashingVectorizer`, scikit-learn's `StandardScaler` and its
        like. They learn in place.

    Attributes
    ----------
    named_steps : dict of str to object
        The steps by their names.
    classes_ : ndarray
        The learner's labels.

    Raises
    ------
    TypeError
        If a step is no transformer that can go on learning, or the last one no learner.
    ValueError
        If a step or the learner refuses a batch. No step has then learnt anything of it.

    See Also
    --------
    make_stream_pipeline : Makes one without names.

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

    def _sharing(self) -> Self:
        twin = super()._sharing()
        twin.__dict__.pop("_checked", None)
        return twin

    def __sklearn_is_fitted__(self) -> bool:
        learner = self._learner
        if hasattr(learner, "__sklearn_is_fitted__"):
            return bool(learner.__sklearn_is_fitted__())
        return any(name.endswith("_") and not name.startswith("_") for name in vars(learner))

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
            if not can_learn(step):
                raise TypeError(
                    f"{who}: a step must have transform, and learn_transform or partial_fit, got {validate.brief(step)}. Fit it "
                    "beforehand and transform rows yourself, or give one that learns a stream."
                )
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

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
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
            rows, commits = self._rows_to_learn(X, sample_weight)
            self._hand_over(commits, lambda learner: learner.partial_fit(rows, y, **arguments))
        return self

    def _rows_to_learn(self, X: Any, sample_weight: Any) -> tuple[Any, Commits]:
        """Return what the learner is to learn, and functions that make the steps learn the same batch."""
        commits: Commits = []
        for step in self._parts()[:-1]:
            X, commit = learnt(step, X, sample_weight)
            commits.append(commit)
        return X, commits

    def _hand_over(self, commits: Commits, learn: Callable[[Any], Any]) -> None:
        """Let the learner learn, then the steps; an error before its first row leaves all of them as they were."""
        learner = self._parts()[-1]
        before = _rounds(learner)
        try:
            learn(learner)
        except BaseException:
            if _rounds(learner) != before:  # (Ctrl-C: what was learnt before it stays)
                _commit(commits)
            raise
        _commit(commits)

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
        with self._own_lock():
            commits: Commits = []
            for step in self._parts()[:-1]:
                X, commit = fitted(step, X, y, sample_weight)
                commits.append(commit)
            self._parts()[-1].fit(X, y, **arguments)
            _commit(commits)
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one row: a dict of a table's row, a text, whatever the first step reads a list of. Returns the pipeline."""
        with self._own_lock():
            rows, commits = self._rows_to_learn([x], None)
            self._hand_over(commits, lambda learner: learner.partial_fit(rows, [y]))
        return self

    def merge(self, *others: Any) -> Self:
        """Take in what other pipelines have learnt.

        Where steps have learnt the same, learners merge. `TableVectorizer`s that have learnt from rows of their own are merged
        first, and the weights of each learner given in the units of their common statistics: scores stay what they were. (For
        additive and Gaussian learners only; `parallel.fit` learns all statistics first, which is exact.)

        Raises
        ------
        ValueError
            If steps differ otherwise, or the learners do not merge. Nothing is changed then.
        """
        who = type(self).__name__
        with unchanged((self, *others), learner=self):
            parts = [each._parts() if type(each) is type(self) else () for each in (self, *others)]
            described = [[step_in_file(who, step) for step in each[:-1]] for each in parts]
            are_equal = all(parts) and all(_are_equal(described[0], each) for each in described)
            if not are_equal and any(len(each) != 2 or not isinstance(each[0], TableVectorizer) for each in parts):
                raise ValueError(f"{who}: merge must have pipelines of the same steps, got {others!r} beside {self!r}.")
            if are_equal:
                parts[0][-1].merge(*(learner for *_, learner in parts[1:]))
                return self
            step, moves = merged_with_moves([each[0] for each in parts])
            learner = merge_learners([moved(each[1], move) for each, move in zip(parts, moves, strict=True)])
            _commit([lambda: become(parts[0][0], step), lambda: become(parts[0][1], learner)])
        return self

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _transformed(self, X: Any) -> Any:
        """Return the rows that the learner predicts: those of the last step before it."""
        for step in self._parts()[:-1]:
            X = step.transform(X)
        return X

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Return what the learner predicts for rows; arguments are its own (a regressor's `return_std`)."""
        return self._learner.predict(self._transformed(X), **arguments)

    @property
    def decision_function(self) -> Callable[..., Any]:
        """The learner's scores of rows; there only if it has them."""
        score = self._learner.decision_function
        return lambda X, **arguments: score(self._transformed(X), **arguments)

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[np.float64]]:
        """The learner's probabilities of rows; there only if it has them (``probability=True``)."""
        probabilities = self._learner.predict_proba
        return lambda X: probabilities(self._transformed(X))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the learner's score on rows: mean accuracy, or R² of a regressor."""
        arguments = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._learner.score(self._transformed(X), y, **arguments)

    def predict_one(self, x: Any) -> Any:
        """Return the prediction for one row; before there is a model, None (a regressor's: 0.0)."""
        if not self.__sklearn_is_fitted__():
            return 0.0 if self._estimator_type == "regressor" else None
        return self.predict([x]).item(0)

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label for one row; {} before there is a model."""
        if not self.__sklearn_is_fitted__():
            return {}
        return dict(zip(self.classes_.tolist(), self.predict_proba([x])[0].tolist(), strict=True))

    @property
    def classes_(self) -> NDArray[Any]:
        """The learner's labels."""
        return self._learner.classes_

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _n_saved(self) -> int:
        return self._learner._n_saved()

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
        pipeline = cls(steps)
        *others, learner = pipeline._parts()
        widths = [getattr(step, "n_features", None) or step.n_features_out_ for step in others[-1:]]
        require(all(width == learner.n_features_in_ for width in widths), "rows as wide as the learner's", widths)
        return pipeline


def _commit(commits: Commits) -> None:
    for commit in commits:
        if commit is not None:
            commit()


def _rounds(learner: Any) -> Any:
    return getattr(learner, "t_", None)


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
    return StreamPipeline(named_members(list(steps)))
