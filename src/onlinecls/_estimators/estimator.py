"""The base of all estimators: scikit-learn's parameter protocol, copies, and the lock around a model."""

from __future__ import annotations

import inspect
from copy import deepcopy
from functools import cache
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from .._compiled.model import own_lock
from .._input.compat import tags
from .._models import State
from . import merging, saving

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray
    from sklearn.utils import Tags


class Estimator:
    """scikit-learn's parameter protocol: what `clone`, pipelines and searches need, without importing it."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _poor_score = False  # True if scikit-learn's checks must not expect a good score on their small sets
    _in_place = frozenset({"_state"})  # attributes whose objects learning changes
    _of_now = frozenset({"_lock", "_checked", "_kept"})  # attributes that no copy takes over

    def __sklearn_tags__(self: Any) -> Tags:
        return tags(self._estimator_type, self._poor_score, sparse=True)

    def __sklearn_is_fitted__(self) -> bool:
        return not self._in_place.isdisjoint(self.__dict__)

    @classmethod
    @cache
    def _parameter_names(cls) -> list[str]:
        return [name for name, one in inspect.signature(cls).parameters.items() if one.kind is not one.VAR_KEYWORD]

    @classmethod
    @cache
    def _parameter_values(cls) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
        """Return a function that reads all constructor parameters, as a tuple, off an instance's dictionary."""
        names = cls._parameter_names()
        return itemgetter(*names) if len(names) > 1 else lambda values: tuple(values[name] for name in names)

    def _nested(self) -> dict[str, Any]:
        """Return the estimators among the parameters, by the prefixes of their parameters' names."""
        return {}

    def _set_nested(self, named: dict[str, Any]) -> None:
        """Replace the estimators of these names, by others or by the same ones with other parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters by name; deep: with those of nested estimators, as name__parameter."""
        params = {name: getattr(self, name) for name in self._parameter_names()}
        for name, inner in self._nested().items() if deep else ():
            params[name] = inner
            if hasattr(inner, "get_params") and not isinstance(inner, type):
                params.update({f"{name}__{key}": value for key, value in inner.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of `get_params`; the next call that learns checks them. Returns the estimator."""
        valid, before = self._parameter_names(), self.__dict__.copy()
        for name in params.keys() & set(valid):
            setattr(self, name, params.pop(name))
        named = self._nested()
        for key in params:
            if key.partition("__")[0] not in named:
                self.__dict__.update(before)
                raise ValueError(f"Invalid parameter {key!r} for estimator {self}. Valid parameters are: {sorted(valid)!r}.")
        if params:
            named.update({name: params.pop(name) for name in [*named] if name in params})
            self._set_nested(named)
        for key, value in params.items():
            name, _, parameter = key.partition("__")
            named[name].set_params(**{parameter: value})
        return self

    # --- threads and copies --------------------------------------------------------------------------------------------------

    _own_lock = own_lock  # around the model, which learning calls and copies take; reading one model takes none

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles hold: all attributes, with a copy of the model from between two learning calls."""
        with self._own_lock().waiting():
            found = {name: part for name, part in self.__dict__.items() if name not in self._of_now}
            for name in self._in_place & found.keys():
                own = found[name]
                found[name] = own.copy() if isinstance(own, State) else deepcopy(own)
            return found

    def save(self, path: str | bytes | os.PathLike[Any] | IO[bytes], metadata: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a file, whole or not at all; `onlinecls.load` returns it, bit for bit, ready to learn on.

        The file is written under another name, synced to the disk and renamed: a crash at any moment leaves the old model or the
        new one. (A kill also leaves a ``.onlinecls-*.tmp``, which nobody needs.)

        Parameters
        ----------
        path : str, bytes, os.PathLike or seekable binary file object
            A file there is replaced, keeping its permissions; a link is followed.
        metadata : dict, default=None
            Anything to keep with the model: texts as keys, and values that JSON returns unchanged.

        Raises
        ------
        ValueError
            If the estimator is not fitted, is of a class that extends one of this library, or has a parameter that a file without
            pickle cannot hold (a RandomState, a callable kernel, an estimator of another library). Nothing is written then.
        OSError
            If the file cannot be written. The old file is then unchanged.
        """
        with np.errstate(under="ignore"):
            saving.save(self, path, metadata)

    def merge(self, *others: Any) -> Self:
        """Merge other models of this kind into this one, as `onlinecls.merge` merges them. Returns the estimator.

        Parameters
        ----------
        *others : estimators of the same class
            They are not changed. Learning calls of other threads are waited for.

        Raises
        ------
        ValueError
            If the models cannot be merged. This one is then unchanged.
        """
        with merging.unchanged((self, *others), learner=self):
            return merging.merge_into(self, others)

    def __repr__(self) -> str:
        defaults, values = inspect.signature(type(self)).parameters, self.get_params(deep=False).items()
        changed = (f"{name}={value!r}" for name, value in values if repr(value) != repr(defaults[name].default))
        return f"{type(self).__name__}({', '.join(changed)})"
