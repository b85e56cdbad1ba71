"""Estimators as a description and arrays, which `save` writes into a file and `load` reads from it.

Nothing in a file is trusted. Parameters, and those with which the last pass learnt (`learnt_with`, where they differ), are
checked like those of any estimator; arrays, by the model's own class (`of_file`). `save` checks in the same way: a file that
`load` would refuse is not written.
"""

from __future__ import annotations

import json
import os
from copy import copy
from numbers import Integral
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from .._files import PLAIN, InvalidError, is_json, packed, read, refusing, require, unpacked, write
from .._input import validate
from .._input.compat import not_fitted, random_state
from .._models import STATES
from .._registry import BOOLEAN, COMMON, OFFERED, public

if TYPE_CHECKING:
    from .._wings.normalised.estimators import OnlineOneClass
    from .tasks import OnlineClassifier, OnlineRegressor

    Learner: TypeAlias = OnlineClassifier | OnlineRegressor | OnlineOneClass
    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes] | IO[bytes]


class Describing:
    """Base of estimators that can be saved: they are described by a header and arrays, and rebuilt from these."""

    _state: Any

    def _described(self: Any, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        """Describe a fitted estimator by a header for JSON and arrays."""
        who, state, found = type(self).__name__, self._state, self._state.in_file()
        arrays = {name: part for name, part in found.items() if isinstance(part, np.ndarray)}
        head = head_of(
            self, self.get_params(), metadata, n_iter=self.n_iter_,
            state={name: part for name, part in found.items() if name not in arrays},
            open=state.is_open,
        )
        given = packed_parameters(who, dict(zip(self._parameter_names(), state.given, strict=False)))
        head["learnt_with"] = {name: form for name, form in given.items() if form != head["parameters"][name]}
        if state.classes is None:
            return head, arrays
        if not PLAIN.fullmatch(state.classes.dtype.str):
            raise ValueError(f"{who}: save must have classes of a fixed size, got dtype {state.classes.dtype}. Use pickle.")
        return head, {**arrays, "classes": state.classes}

    @classmethod
    def _rebuilt(cls: Any, header: dict, arrays: dict[str, np.ndarray]) -> Any:
        """Rebuild an estimator from its header and arrays; raise InvalidError if a part is not valid."""
        who, learner = cls.__name__, cls(**read_parameters(cls, header["parameters"]))
        before = cls(**read_parameters(cls, {**header["parameters"], **header["learnt_with"]}))
        classes = read_labels(who, arrays.pop("classes")) if cls._estimator_type == "classifier" else None
        learner._choose()
        params = before._choose()._replace(open_classes=int(header["open"]))
        state = STATES[params.model].of_file(header["state"], arrays, 1 if classes is None else len(classes), params)
        is_open = header["open"]
        require(classes is not None or not is_open, "no classes that may join a regressor", is_open)
        if classes is not None:
            require(is_open or len(classes) > 1, "two classes or more, as none may join", classes)
            require(hasattr(cls, "multi_class") or len(classes) <= 2, "two classes at most", classes)
            validate.read_class_weight(who, learner.class_weight, classes, closed=not is_open)
            require(not is_open or bool((state.counts > 0.0).all()), "rows of each class that has joined", state.counts.tolist())
        take_names(learner, header["feature_names"], state.n_features)
        learner.n_features_in_, learner.n_iter_ = state.n_features, header["n_iter"]
        state.classes, state.is_open, state.given = classes, is_open, tuple(before.get_params(deep=False).values())
        state.params = params.of_pass(state, is_open, isinstance(getattr(before, "class_weight", None), str))
        state.params.check_range(who, state.dtype)
        learner._state = state
        return learner


def head_of(learner: Any, parameters: dict, metadata: dict, **more: Any) -> dict:
    """Return a header with the entries common to all estimators."""
    from .. import __version__

    who, names = type(learner).__name__, learner.__dict__.get("feature_names_in_")
    return {
        "library": __version__, "estimator": who, "parameters": packed_parameters(who, parameters),
        "feature_names": None if names is None else list(names), "metadata": metadata, **more,
    }


def packed_parameters(who: str, values: dict) -> dict:
    """Return constructor parameters as JSON can hold them."""
    found = {}
    for name, value in values.items():
        try:
            found[name] = packed(value)
        except TypeError:
            raise ValueError(
                f"{who}: save must have None, numbers, texts, numpy scalars, float32 or float64, or a dict of these as "
                f"{name}, got {name}={value!r}. Set it to one of these before (set_params), or use pickle."
            ) from None
    return found


def read_parameters(cls: Any, header: dict) -> dict:
    """Read the constructor parameters of a class, by name; the estimator checks their values."""
    found = {name: unpacked(value) for name, value in header.items()}
    require(found.keys() == set(cls._parameter_names()), f"parameters {cls._parameter_names()}", list(found))
    if found.get("random_state") is not None:  # (numpy.random takes 10 ms to import)
        random_state(cls.__name__, found["random_state"])
    return found


def take_names(learner: Any, names: list | None, n_features: int) -> None:
    """Give an estimator the names of its features, if there are any."""
    if names is not None:
        fit = isinstance(names, list) and all(isinstance(name, str) for name in names)
        require(fit and len(names) == n_features, f"names of {n_features} features", type(names))
        learner.feature_names_in_ = np.array(names, dtype=object)


def read_labels(who: str, classes: np.ndarray) -> np.ndarray:
    """Check the labels of a file, which must be sorted. (numpy trusts code points and booleans.)"""
    require(PLAIN.fullmatch(classes.dtype.str) is not None and classes.ndim == 1, "labels", (classes.dtype, classes.shape))
    if classes.dtype.kind == "U":
        points = classes.view(f"{classes.dtype.str[0]}u4").max(initial=0)
        require(points <= 0x10FFFF, "labels that are texts", "other code points")
    elif classes.dtype.kind == "b":
        require(classes.view(np.uint8).max(initial=0) <= 1, "labels that are booleans", "other bytes")
    ordered = validate.union(validate.read_labels(who, classes, None, "classes"))
    require(len(classes) > 0 and ordered.tolist() == classes.tolist(), "sorted classes", classes)
    return classes


def is_saved(learner: Any) -> bool:
    """Return True if a learner is of a class that a file can name."""
    who = type(learner).__name__
    return who in OFFERED and type(learner) is public(who)


def described(who: str, learner: Any) -> tuple[dict, dict[str, np.ndarray]]:
    """Describe a learner within another estimator."""
    if not is_saved(learner):
        raise ValueError(f"{who}: save must have a learner of onlinecls itself, got {validate.brief(learner)}. Use pickle.")
    return learner._described({})


def rebuilt(header: dict, arrays: dict[str, np.ndarray], composed: bool = False) -> Learner:
    """Rebuild the estimator that a header and arrays describe. composed : True if it may have steps before it."""
    who = header["estimator"]
    known = isinstance(who, str) and (who in OFFERED or (composed and who == "StreamPipeline"))
    require(known, "an estimator of this version", who)
    for name, allowed in (("open", BOOLEAN), ("n_iter", COMMON["max_iter"])):
        require(name not in header or header[name] in allowed, f"{name}: {allowed}", header.get(name))
    require(is_json(header["metadata"]) and type(header["metadata"]) is dict, "metadata", type(header["metadata"]))
    estimator: Any = public(who)
    with np.errstate(all="ignore"):  # (of numbers that are then refused)
        return estimator._rebuilt(header, dict(arrays))


def save(learner: Any, path: Any, metadata: dict[str, Any] | None = None) -> None:
    """Do the work of `Estimator.save`."""
    who, path = type(learner).__name__, path if hasattr(path, "write") else os.fspath(path)
    learner = copy(learner)  # (describing and writing the copy needs no lock)
    if not learner.__sklearn_is_fitted__():
        raise not_fitted(who)
    if not is_saved(learner) and type(learner) is not public("StreamPipeline"):
        raise ValueError(
            f"{who}: save must have an estimator of onlinecls itself, got a class that extends one, whose code a file without "
            "pickle cannot hold. Use pickle."
        )
    metadata = {} if metadata is None else metadata
    if type(metadata) is not dict or not is_json(metadata):
        raise ValueError(
            f"{who}: metadata must be a dict that JSON returns unchanged (texts as keys; None, booleans, integers, finite "
            f"floats, texts, lists, dicts), got {metadata!r}. Turn tuples into lists and numpy numbers into Python's."
        )
    header, arrays = learner._described(metadata)
    try:
        rebuilt(json.loads(json.dumps(header)), arrays, composed=True)
    except InvalidError as error:
        raise ValueError(f"{who}: save must have a model that learning can produce: {error}. Fit it again.") from None
    write(who, path, header, arrays)


@overload
def load(path: Path, *, return_metadata: Literal[False] = False, max_bytes: int | None = None) -> Any: ...
@overload
def load(path: Path, *, return_metadata: Literal[True], max_bytes: int | None = None) -> tuple[Any, dict[str, Any]]: ...
def load(path: Path, *, return_metadata: bool = False, max_bytes: int | None = None) -> Any:
    """Read a model that an estimator's `save` wrote: it predicts, and learns on, exactly like the saved one.

    Files need not be trusted: nothing in them is executed, and every size, name, parameter and number is checked. (Checksums
    detect damage, but do not authenticate an author.) A file is a zip of ``header.json`` and of arrays in numpy's format.

    Parameters
    ----------
    path : str, bytes, os.PathLike or seekable binary file object
        The file.
    return_metadata : bool, default=False
        Return the pair of the estimator and the dict that was passed to `save` as metadata.
    max_bytes : int or None, default=None
        Most bytes of the file when unpacked. None: the memory that is free. Set it for files from untrusted sources: one of 2 MB
        may hold a model of 2 GB.

    Returns
    -------
    estimator : object
        Fitted, of the class that was saved. To type checkers it is Any: ``learner: AROWClassifier = load(path)`` names the class.
    metadata : dict
        Only with ``return_metadata=True``.

    Raises
    ------
    ValueError
        If the file is not a model, is incomplete, damaged, of a newer format or larger than max_bytes, or if its content is not
        that of any estimator.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> from onlinecls import AROWClassifier, load
    >>> path = os.path.join(tempfile.mkdtemp(), "model")
    >>> AROWClassifier(r=0.5).partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"]).save(path, metadata={"bits": 1})
    >>> learner, metadata = load(path, return_metadata=True)
    >>> learner, learner.predict([[2.0, 0.0]]).tolist(), metadata
    (AROWClassifier(r=0.5), ['spam'], {'bits': 1})
    """
    place: Any = path if hasattr(path, "read") else os.fspath(path)
    if max_bytes is not None and (isinstance(max_bytes, bool) or not isinstance(max_bytes, Integral) or max_bytes < 1):
        raise ValueError(f"onlinecls.load: max_bytes must be None or an integer >= 1, got max_bytes={max_bytes!r}.")
    header, arrays = read(place, validate.available_memory() if max_bytes is None else max_bytes)
    with refusing(place):
        learner = rebuilt(header, arrays, composed=True)
    return (learner, header["metadata"]) if return_metadata else learner
