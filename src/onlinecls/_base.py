"""What all classifiers share: scikit-learn's conventions, labels that join, weights, epochs, and the way from rows to a kernel.

The flow is one way: an estimator's parameters and input are read and checked here (`_validation`, `_registry`), the kernels
(`_core`) change the arrays of a `State`, and attributes are views of it.
"""

from __future__ import annotations

import inspect
from math import ceil
from operator import is_, itemgetter

import numpy as np
from scipy.sparse import csr_matrix

from . import _core, _validation
from ._compat import classifier_tags, not_fitted, random_state
from ._registry import algorithms_of, select
from ._state import NO_ORDER, State


def _specialised(kernel) -> dict:
    """A compiled fused function's versions by the sizes of (a number, a column index): picking one costs a dictionary look-up."""
    sizes = {"float": 4, "double": 8, "int32_t": 4, "int64_t": 8, "dense_t": 1}
    return {tuple(sizes[name] for name in signature.split("|")): kernel[signature] for signature in kernel.__signatures__}


_TASKS = {
    "binary": _specialised(_core.binary),
    "crammer_singer": _specialised(_core.crammer_singer),
    "ovr": _specialised(_core.ovr),
}
_DECISION = _specialised(_core.decision)


class Estimator:
    """scikit-learn's parameter protocol: what `clone`, pipelines and searches need, without importing it."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        if "_names" not in cls.__dict__:
            cls._names = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]
        return cls._names

    @classmethod
    def _parameter_values(cls):
        """What reads all constructor parameters off an instance's dictionary, as a tuple."""
        if "_getter" not in cls.__dict__:
            names = cls._parameter_names()
            cls._getter = itemgetter(*names) if len(names) > 1 else lambda values: tuple(values[name] for name in names)
        return cls._getter

    def _assign(self, values: dict) -> None:
        """Set a constructor's parameters (its locals) as they came: nothing is checked or changed before `fit`."""
        for name, value in values.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def get_params(self, deep=True) -> dict:
        """The constructor's parameters, by name. `deep` is accepted for scikit-learn's sake: there are no nested estimators."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params):
        """Set constructor parameters, checked at the next `fit` or `partial_fit`. Returns the estimator."""
        valid = self._parameter_names()
        for name in params:
            if name not in valid:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(valid)!r}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        values = self.get_params(deep=False).items()
        changed = (f"{name}={value!r}" for name, value in values if repr(value) != repr(defaults[name].default))
        return f"{type(self).__name__}({', '.join(changed)})"


class OnlineClassifier(Estimator):
    """Base of all classifiers. A subclass is its docstring and its constructor; the registry knows the rest."""

    _estimator_type = "classifier"
    _poor_score = False

    def __sklearn_tags__(self):
        return classifier_tags(self._poor_score)

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _kernel_params(self) -> dict:
        """The Params of the kernels, all parameters checked; remembered until one changes."""
        found = self._parameter_values()(self.__dict__)
        remembered = self.__dict__.get("_compiled")
        if remembered is not None and all(map(is_, remembered[0], found)):
            return remembered[1]
        who, values = type(self).__name__, dict(zip(self._parameter_names(), found, strict=True))
        algorithm = select(who, values, algorithms_of(type(self)))
        _validation.read_dtype(who, self.dtype)
        self._check_parameters(values)
        params = {
            "rule": _core.RULES[algorithm.rule], "geometry": _core.GEOMETRIES[algorithm.geometry],
            "open_classes": 0, "balanced": 0, "average_from": int(self.average) - 1 if self.average else -1,
            "margin": algorithm.margin, "bias": float(self.intercept_scaling) if self.fit_intercept else 0.0,
            "eta0": 1.0, "C": 1.0, "r": 1.0, "b": 1.0, "phi": 1.0, "delta": 1.0, "l1": 0.0, "threshold": 0.0,
            "variance": 1.0, "floor": 0.0, "limit": 0.0, "tiny": 0.0,
            **algorithm.kernel_params(values),
        }  # fmt: skip
        if self.average and params["l1"] > 0.0:
            raise ValueError(
                f"{who}: average must be False with l1 > 0, got average={self.average!r} and l1={self.l1!r}: the weights then "
                "change on every row, so that their average has no O(nnz) form."
            )
        self._compiled = found, params
        return params

    def _check_parameters(self, values: dict) -> None:
        """For what a range in the registry cannot say."""

    def _is_another_kind(self, params: dict) -> bool:
        """Whether the parameters now ask for a model that cannot go on from the one there is."""
        kind = ("geometry", "average_from")
        dtype = _validation.read_dtype(type(self).__name__, self.dtype)
        return [params[name] for name in kind] != [self._params[name] for name in kind] or not (
            dtype is None or dtype == self._state.dtype
        )

    def _check_range(self, params: dict, dtype) -> None:
        """Parameters become numbers of the model's dtype, which is known only now."""
        who, info = type(self).__name__, np.finfo(dtype)
        largest, least = float(info.max) / 4, float(info.tiny) / float(info.eps)
        if params["variance"] < least:
            raise ValueError(
                f"{who}: initial_variance must fit {dtype}, at least {least:.2g}, got initial_variance={params['variance']!r}."
            )
        for name, value, limit in (
            ("intercept_scaling", params["bias"], largest**0.5),  # its square is in the norms
            ("initial_variance", params["variance"], largest),
        ):
            if value > limit:
                raise ValueError(f"{who}: {name} must fit {dtype}, at most {limit:.2g}, got {name}={value!r}.")
        if "_state" in self.__dict__ and params["geometry"] == _core.GEOMETRIES["dual"]:  # its weights are η z / (δ + √G)
            if params["eta0"] * self._state.tally[_core.TALLY["reach"]] > largest * params["delta"]:
                raise ValueError(
                    f"{who}: eta0 and delta must keep the weights within {dtype}, got eta0={self.eta0!r} and "
                    f"delta={self.delta!r}. Set them back, or call fit."
                )

    def _start(self, params: dict, n_features: int, n_classes: int, dtype) -> State:
        geometry = next(name for name, number in _core.GEOMETRIES.items() if number == params["geometry"])
        return State(geometry, n_features, n_classes, dtype, params["variance"], params["average_from"] >= 0)

    # --- learning ------------------------------------------------------------------------------------------------------------

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from rows in the order given, one pass, from where the model is.

        Any split of a stream into calls gives the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with sorted columns (int32 or int64) and C-ordered arrays, of the model's dtype, are read where they are; others
            are converted.
        y : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats that are integers.
        classes : array-like of shape (n_classes,), default=None
            All labels there will be; at the first call. None: labels join as they appear.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing, not even a counter.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y, classes or sample_weight is not valid. The model is then bit for bit what it was.
        """
        who = type(self).__name__
        params = self._kernel_params()
        first = "_state" not in self.__dict__
        changed = first or self._params_of[0] is not params
        if changed and not first and self._is_another_kind(params):
            raise ValueError(
                f"{who}: partial_fit must go on with the kind of model it began with, got other values of average, of dtype or "
                "of the parameter that selects the algorithm. Call fit, or start with clone(estimator)."
            )
        rows = self._read_rows(X, first)
        if changed:
            self._check_range(params, rows.data.dtype)
        y = _validation.read_labels(who, y, rows.n_rows)
        weights = _validation.read_weights(who, sample_weight, rows.n_rows)
        classes = self._read_classes(classes, first)
        known = classes if first and classes is not None else self.classes_ if not first else y[:0]
        is_open = classes is None if first else self._open
        if len(known):
            _validation.comparable(who, y, known)
        if len(known) > 1:
            codes, unknown = _validation.encode(y, known)
            if unknown is None or not is_open:
                if unknown is not None:
                    raise _validation.outside_classes(who, y, unknown, known)
                class_weights = _validation.read_class_weight(who, self.class_weight, known, closed=not is_open)
                if first:
                    self._begin(X, rows, known, is_open, params)
                self._learn(params, rows, codes, weights, class_weights)
                return self
        self._learn_with_newcomers(X, params, rows, y, weights, known, first)
        return self

    def _read_rows(self, X, first: bool) -> _validation.Rows:
        """X checked against what the model has seen, or, at the first call, for what it will be."""
        who = type(self).__name__
        rows = _validation.read_rows(who, X, _validation.read_dtype(who, self.dtype) if first else self._state.dtype)
        if first:
            _validation.require_samples(who, rows, 0)
        else:
            self._check_features(X, rows.n_features)
        return rows

    def _check_features(self, X, n_features: int) -> None:
        who = type(self).__name__
        if n_features != self.n_features_in_:
            raise ValueError(
                f"X has {n_features} features, but {who} is expecting {self.n_features_in_} features as input. "
                "Give rows with the columns of the first call, or start a new model."
            )
        seen = self.__dict__.get("feature_names_in_")
        names = None if isinstance(X, np.ndarray) else _validation.feature_names(who, X)
        _validation.same_names(who, seen, names)

    def _read_classes(self, classes, first: bool):
        """The classes argument as a sorted array; None if it was not given."""
        if classes is None:
            return None
        who = type(self).__name__
        classes = _validation.read_classes(who, classes)
        if first and len(classes) < 2:
            raise ValueError(
                f"{who}: classes must name at least 2 classes, got {len(classes)}. "
                "Leave it out if labels are to join as they appear."
            )
        if not first and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"{who}: classes must be those of the first call, {_validation.shown(self.classes_)}, "
                f"got {_validation.shown(classes)}. Leave classes out from the second call on."
            )
        return classes

    def _begin(self, X, rows, classes, is_open: bool, params: dict, state: State | None = None) -> None:
        """Make the (empty) model; until here nothing of the estimator has changed."""
        state = state or self._start(params, rows.n_features, len(classes), rows.data.dtype)
        names = _validation.feature_names(type(self).__name__, X)
        self._state, self._params, self._params_of, self._open, self.classes_ = state, params, (None,), is_open, classes
        self.n_features_in_, self.n_iter_ = rows.n_features, 1
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.pop("_sparse_coef", None)
        if names is not None:
            self.feature_names_in_ = names

    def _learn(self, params: dict, rows, codes, weights, class_weights, order=NO_ORDER) -> None:
        """Hand rows to the kernel of the task: the one place where a model changes."""
        state = self._state = self._state.writable()
        self.__dict__.pop("_sparse_coef", None)
        if rows.n_rows == 0 or (order is not NO_ORDER and len(order) == 0):
            return
        balanced = _validation.is_balanced(self.class_weight) and len(class_weights) == 0
        if self._params_of[0] is not params or self._params_of[1:] != (self._open, balanced):
            info = np.finfo(state.dtype)
            self._params_of = params, self._open, balanced
            self._params = {
                **params, "open_classes": int(self._open), "balanced": int(balanced),
                "variance": state.variance, "floor": float(info.tiny) / float(info.eps), "tiny": float(info.tiny),
                # The average's books hold weights times rounds.
                "limit": min(float(info.max) / 4, np.inf if params["average_from"] < 0 else 1e290),
            }  # fmt: skip
        task = "binary" if state.n_columns == 1 else self.multi_class
        _TASKS[task][state.values.itemsize, rows.indices.itemsize](
            self._params, rows.data, rows.indices, rows.indptr, order, codes, weights, class_weights,
            state.values, state.drift, state.counts, state.tally,
        )  # fmt: skip

    def _learn_with_newcomers(self, X, params, rows, y, weights, known, first) -> None:
        """Learn while labels join at the row where they first appear: one vector up to the third, then one a class."""
        who = type(self).__name__
        everyone = np.union1d(known, y)
        class_weights = _validation.read_class_weight(who, self.class_weight, everyone)
        weights = weights if len(weights) else np.ones(rows.n_rows)
        live = weights > 0.0
        if len(class_weights):
            live &= weights * class_weights[_validation.encode(y, everyone)[0]] > 0.0  # (the product may underflow)
            weights = np.where(live, weights, 0.0)
        labels, firsts = np.unique(y[live], return_index=True)
        fresh = ~np.isin(labels, known)
        labels, firsts = labels[fresh], np.flatnonzero(live)[firsts[fresh]]
        if not len(known) and not len(labels):
            return  # nothing but rows of weight 0: not even a beginning
        labels = labels[np.argsort(firsts)]
        joins = [0] * len(known) + np.sort(firsts).tolist() + [rows.n_rows] * 3
        second, third = joins[1], joins[2]
        class_weights = class_weights[np.isin(everyone, np.union1d(known, labels))] if len(class_weights) else class_weights
        everyone = np.union1d(known, labels)
        stages = []  # (first row, end, classes), all checked before the first write
        if second > 0:
            stages.append((0, second, known if len(known) else labels[:1]))
        if third > second:
            stages.append((second, third, np.union1d(known, labels[: 2 - len(known)])))
        if rows.n_rows > third:
            stages.append((third, rows.n_rows, everyone))

        if first:
            self._begin(X, rows, stages[0][2], True, params)
        for start, stop, classes in stages:
            if len(classes) == 1:
                self._state = self._state.writable()
                self._state.count_rows(int(live[start:stop].sum()), int(not len(known)))
                continue
            codes, _ = _validation.encode(y[start:stop], classes)
            these = class_weights[np.isin(everyone, classes)] if len(class_weights) else class_weights
            before = self._state, self.classes_, self.t_
            try:
                self._join(classes)
                self._learn(params, rows.part(start, stop), codes, weights[start:stop], these)
            finally:  # an interrupt may come before a newcomer's first row
                came = self._state.counts > 0.0
                if self.t_ == before[2]:
                    self._state, self.classes_ = before[:2]
                elif not came.all():
                    self._state, self.classes_ = self._state.only(came), self.classes_[came]

    def _join(self, classes) -> None:
        """Let classes join the model; it stays as it is until its copy with them is made."""
        if len(classes) != len(self.classes_):
            places = np.searchsorted(classes, self.classes_)
            self._state, self.classes_ = self._state.with_classes(places, len(classes)), classes

    def fit(self, X, y, sample_weight=None):
        """Learn from scratch (`warm_start`: from where the model is) in epochs over all rows, up to `max_iter` of them.

        Epochs end early when the mean loss (with `early_stopping`: the accuracy on held-out rows) has not improved by `tol` in
        `n_iter_no_change` epochs running.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of at least two classes: integers, booleans, strings, or floats that are integers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows, not all 0.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y or sample_weight is not valid. The model is then bit for bit what it was.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight, coef_init=None, intercept_init=None):
        who = type(self).__name__
        params = self._kernel_params()
        again = self.warm_start and "_state" in self.__dict__ and len(self.classes_) > 1 and not self._is_another_kind(params)
        generator = random_state(who, self.random_state)
        rows = self._read_rows(X, not again)
        _validation.require_samples(who, rows, 1)
        self._check_range(params, rows.data.dtype)
        y = _validation.read_labels(who, y, rows.n_rows)
        weights = _validation.read_weights(who, sample_weight, rows.n_rows)
        if len(weights) and not weights.any():
            raise ValueError(
                f"{who}: sample_weight must not be 0 for all rows, got {rows.n_rows} zeros. Leave it out for equal weights."
            )
        classes = self.classes_ if again else np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"{who}: y must have at least 2 classes, got 1 class: {classes.tolist()[0]!r}. Give rows of another class too."
            )
        _validation.comparable(who, y, classes)
        codes, unknown = _validation.encode(y, classes)
        if unknown is not None:
            raise _validation.outside_classes(who, y, unknown, classes)
        class_weights = _validation.read_class_weight(who, self.class_weight, classes, closed=True)
        if len(class_weights) and not ((weights if len(weights) else 1.0) * class_weights[codes]).any():
            raise ValueError(f"{who}: class_weight must not be 0 for all rows, got {self.class_weight!r}.")
        if _validation.is_balanced(self.class_weight):
            class_weights = _balanced(codes, weights, len(classes))
        train, held_out = self._split(codes, len(classes), generator)
        validation = _validation.take(rows, held_out) if len(held_out) else None
        state = self._state if again else self._start(params, rows.n_features, len(classes), rows.data.dtype)
        if coef_init is not None or intercept_init is not None:
            state = self._initialised(who, state, coef_init, intercept_init)

        self._begin(X, rows, classes, False, params, state)
        self._epochs(params, rows, codes, weights, class_weights, train, held_out, validation, generator)
        return self

    def _split(self, codes, n_classes: int, generator):
        """Row numbers to learn from and to hold out (class by class); empty arrays for all and none."""
        if not self.early_stopping:
            return NO_ORDER, NO_ORDER
        held_out = np.zeros(len(codes), bool)
        for c in range(n_classes):
            of_class = np.flatnonzero(codes == c)
            n_held_out = min(ceil(self.validation_fraction * len(of_class)), len(of_class) - 1)
            held_out[generator.permutation(of_class)[: max(n_held_out, 0)]] = True
        if not held_out.any():
            raise ValueError(
                f"{type(self).__name__}: early_stopping must have two rows of some class, one to learn from and one to hold out, "
                f"got {len(codes)} rows of as many classes. Give more rows, or early_stopping=False."
            )
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def _epochs(self, params, rows, codes, weights, class_weights, train, held_out, validation, generator) -> None:
        best, idle, n_train = np.inf, 0, len(train) or rows.n_rows
        for epoch in range(1, self.max_iter + 1):
            order = train
            if self.shuffle:
                order = generator.permutation(train if len(train) else rows.n_rows).astype(np.int64, copy=False)
            loss_before = self._state.tally[_core.TALLY["loss"]]
            self._learn(params, rows, codes, weights, class_weights, order)
            self.n_iter_ = epoch
            loss = (self._state.tally[_core.TALLY["loss"]] - loss_before) / n_train
            if validation is not None:
                hits = self._argmax(self._scores(validation)) == codes[held_out]
                weighted = len(weights) and weights[held_out].any()
                loss = -float(np.average(hits, weights=weights[held_out] if weighted else None))
            if self.verbose:
                print(
                    f"-- Epoch {epoch}: t={self.t_} mistakes={self.n_mistakes_} updates={self.n_updates_} "
                    f"{'validation accuracy' if validation is not None else 'mean loss'}={abs(loss):.6f}"
                )
            if self.tol is not None:
                idle = idle + 1 if loss > best - self.tol else 0
                best = min(best, loss)
                if idle >= self.n_iter_no_change:
                    break

    def _initialised(self, who: str, state: State, coef_init, intercept_init) -> State:
        """A state that starts from given weights."""
        state = state.with_classes(np.arange(len(state.counts)), len(state.counts))
        first = state.view[:, 0]
        before = first.copy()
        shapes = {"coef_init": (state.n_columns, state.n_features), "intercept_init": (state.n_columns,)}
        for name, given in (("coef_init", coef_init), ("intercept_init", intercept_init)):
            if given is None:
                continue
            values, shape = _validation.read_numbers(f"{who}: {name}", given), shapes[name]
            if values.shape != shape and not (state.n_columns == 1 and values.shape == shape[1:]):
                raise ValueError(f"{who}: {name} must have shape {shape}, got {values.shape}.")
            values = values.reshape(shape)
            if name == "intercept_init":
                values = values / self.intercept_scaling
            if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > np.finfo(state.dtype).max / 4:
                raise ValueError(f"{who}: {name} must be finite and within {state.dtype}, got a value that is not.")
            if name == "coef_init":
                first[:-1] = values.T
            elif self.fit_intercept:
                first[-1] = values
        state.tally[_core.TALLY["reach"]] = np.abs(first).max()
        if len(state.drift):  # the average's books: a step like any other
            rounds = max(state.count("t") - int(self.average) + 1, 0)
            state.drift += rounds * (first.astype(np.float64) - before).reshape(-1)
        return state

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _fitted_state(self) -> State:
        if "_state" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._state

    def _scores(self, rows: _validation.Rows) -> np.ndarray:
        state = self._state
        scores = np.empty((rows.n_rows, state.n_columns))
        params = self._read_params()
        _DECISION[state.values.itemsize, rows.indices.itemsize](
            params, rows.data, rows.indices, rows.indptr, state.values, state.drift, state.average_rounds(params), scores
        )
        return scores

    def _read_params(self) -> dict:
        """The Params by which the model was last learnt, for reading its weights now."""
        return {**self._params, "threshold": self._params["l1"] * self._state.count("t")}

    @staticmethod
    def _argmax(scores: np.ndarray) -> np.ndarray:
        return (scores[:, 0] > 0.0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def decision_function(self, X):
        """Signed scores w.x of rows, the intercept among them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of float64, shape (n_samples,) for two classes, else (n_samples, n_classes)
            Two classes: above 0 stands for ``classes_[1]``. In units of the margin: 1 is where the hinge loss ends.
        """
        self._fitted_state()
        scores = self._scores(self._read_rows(X, False))
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X):
        """The class of each row: the highest score's, the first of equals; of two classes ``classes_[1]`` if the score is > 0.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), dtype of ``classes_``
        """
        self._fitted_state()
        return self.classes_[self._argmax(self._scores(self._read_rows(X, False)))]

    def score(self, X, y, sample_weight=None):
        """Mean accuracy on rows of known labels, a number in [0, 1].

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        accuracy : float
        """
        who = type(self).__name__
        predicted = self.predict(X)
        y = _validation.read_labels(who, y, len(predicted))
        _validation.comparable(who, y, self.classes_)
        weights = _validation.read_weights(who, sample_weight, len(predicted))
        if len(weights) and not weights.any():
            raise ValueError(f"{who}: sample_weight must not be 0 for all rows, got {len(weights)} zeros.")
        return float(np.average(predicted == y, weights=weights if len(weights) else None))

    # --- the model, to look at -----------------------------------------------------------------------------------------------

    @property
    def coef_(self):
        """Weights, (1 or n_classes, n_features): a read-only view of the model where it can be. Copy it to keep it."""
        state = self._fitted_state()
        if "_sparse_coef" in self.__dict__:
            return self._sparse_coef
        return state.weights(self._read_params(), slice(0, state.n_features))

    @property
    def intercept_(self):
        """Weight of the constant feature times its value, (1 or n_classes,)."""
        state = self._fitted_state()
        params = self._read_params()
        return state.weights(params, slice(state.n_features, None))[:, 0] * np.asarray(params["bias"], state.dtype)

    @property
    def t_(self):
        """Rounds: rows of weight > 0 consumed since the model began."""
        return self._fitted_state().count("t")

    @property
    def n_mistakes_(self):
        """Rounds on which predict, asked just before the update, would have been wrong."""
        return self._fitted_state().count("mistakes")

    @property
    def n_updates_(self):
        """Rounds that changed the model."""
        return self._fitted_state().count("updates")

    @property
    def n_skipped_(self):
        """Rounds whose step was left out because it, or a number of the model after it, would not fit the dtype's range."""
        return self._fitted_state().count("skipped")

    def sparsify(self):
        """Make ``coef_`` a scipy CSR matrix, until the next learning or `densify`. Returns the estimator."""
        self._sparse_coef = csr_matrix(self.coef_)
        return self

    def densify(self):
        """Make ``coef_`` an array again. Returns the estimator."""
        self._fitted_state()
        self.__dict__.pop("_sparse_coef", None)
        return self


class SecondOrderClassifier(OnlineClassifier):
    """A classifier that keeps a variance for each weight."""

    @property
    def covariance_(self):
        """Variances of the weights, the shape of ``coef_``: a read-only view of the model."""
        return self._fitted_state().covariance()


def _balanced(codes, weights, n_classes: int) -> np.ndarray:
    """n / (k n_c) over the rows of weight > 0, as scikit-learn's "balanced"; 1 for a class without any."""
    live = codes[weights > 0.0] if len(weights) else codes
    counts = np.bincount(live, minlength=n_classes)
    return np.where(counts > 0, len(live) / (np.count_nonzero(counts) * np.maximum(counts, 1)), 1.0)
