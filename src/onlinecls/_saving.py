"""A model in one file, without pickle: written whole or not at all, refused where a byte is not what was written.

The layout is that of safetensors, so that other programs can read the arrays: 8 bytes of length (little-endian), a JSON header
padded with blanks to a multiple of 64 bytes, then the arrays, little-endian, end to end. The header's ``__metadata__`` has the
format's number, a SHA-256 over the whole file (with 64 zeros in its own place), and as one JSON text all that is not an array.

A checksum tells damage, not malice: who can write the file can write the checksum too. What guards against a hostile file is that
every size, name, parameter and number in it is checked before an estimator is made of it (`_rebuilt`). `save` does the same to
what it is about to write: a file that load would refuse is not written.
"""

from __future__ import annotations

import json
import math
import os
import re
from typing import NamedTuple

import numpy as np

from . import _core
from ._ascent import ascent
from ._ascent.leader_state import ForelState
from ._geometry.state import State
from ._input import validate
from ._input.compat import not_fitted, random_state
from ._registry import ALGORITHMS, algorithms_of

FORMAT = 1
_BEGINNING = b'{"__metadata__":{"format":"onlinecls '
_UNSIGNED = "0" * 64  # what stands in the place of the checksum while it is computed
_ALIGNMENT = 64
_CHUNK = 1 << 20  # bytes read and hashed at a time: they are still in the cache when they are hashed
_TENSORS = {
    "F32": np.dtype("<f4"), "F64": np.dtype("<f8"), "U8": np.dtype("u1"), "I32": np.dtype("<i4"), "I64": np.dtype("<i8"),
}
_TENSOR_NAMES = {dtype: name for name, dtype in _TENSORS.items()}
_LABELS = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|\|S[1-9]\d*|[<>]U[1-9]\d*")
_SCALARS = {
    name: np.dtype(name).type for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
}
_ESTIMATORS = {algorithm.estimator for algorithm in ALGORITHMS.values()}
_DTYPES = {"float32": np.float32, "float64": np.float64}


class _InvalidError(ValueError):
    """What a file says cannot be: what was required, what came."""


# --- values that JSON does not know --------------------------------------------------------------------------------------------


def _packed(value):
    """A parameter as JSON; TypeError if there is no form of it that comes back as it was."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is np.str_:
        return {"numpy": ["str", str(value)]}
    if isinstance(value, np.generic) and value.dtype.name in _SCALARS:
        return {"numpy": [value.dtype.name, _packed(value.item())]}
    for name, scalar in _DTYPES.items():
        if value is scalar:
            return {"type": name}
        if isinstance(value, np.dtype) and value == scalar:
            return {"dtype": name}
    if type(value) is dict:
        return {"dict": [[_packed(key), _packed(item)] for key, item in value.items()]}
    raise TypeError(type(value).__name__)


def _unpacked(form):
    if not isinstance(form, dict):
        return form
    ((kind, value),) = form.items()
    if kind == "float":
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value]
    if kind == "numpy":
        name, value = value
        return np.str_(value) if name == "str" else _SCALARS[name](_unpacked(value))
    if kind == "type":
        return _DTYPES[value]
    if kind == "dtype":
        return np.dtype(_DTYPES[value])
    if kind == "dict":
        return {_unpacked(key): _unpacked(item) for key, item in value}
    raise _InvalidError(f"parameters of a known kind, got {kind!r}")


def _is_json(value) -> bool:
    """Whether JSON gives back just this: no tuples, no numpy numbers, no keys but texts."""
    if type(value) is dict:
        return all(type(key) is str and _is_json(item) for key, item in value.items())
    if type(value) is list:
        return all(map(_is_json, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


# --- an estimator as a description and arrays ----------------------------------------------------------------------------------


def _described(who: str, learner, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
    """All there is to know of a fitted estimator: what JSON can hold, and the arrays."""
    from . import __version__

    parameters = {}
    for name, value in learner.get_params().items():
        try:
            parameters[name] = _packed(value)
        except TypeError:
            raise ValueError(
                f"{who}: save must have None, numbers, texts, numpy scalars, float32 or float64, or a dict of these as {name}, "
                f"got {name}={value!r}. Set it to one of these before (set_params), or use pickle."
            ) from None
    classes, names = learner.__dict__.get("classes_"), learner.__dict__.get("feature_names_in_")
    if classes is not None and not _LABELS.fullmatch(classes.dtype.str):
        raise ValueError(f"{who}: save must have classes of a fixed size, got dtype {classes.dtype}. Use pickle.")
    state = learner._state.parts()
    arrays = {name: part for name, part in state.items() if isinstance(part, np.ndarray)}
    if classes is not None:
        arrays["classes"] = np.frombuffer(classes.tobytes(), np.uint8)
    learnt = {name: _packed(value) for name, value in learner._params.items()}
    for name, numbers in learner._numbered.items():  # the numbers may be others in the next version
        learnt[name] = next(key for key, number in numbers.items() if number == learnt[name])
    return {
        "library": __version__,
        "estimator": who,
        "parameters": parameters,
        "learnt_with": learnt,
        "state": {name: part for name, part in state.items() if name not in arrays},
        "classes": None if classes is None else classes.dtype.str,
        "feature_names": None if names is None else list(names),
        "n_iter": learner.n_iter_,
        "open": learner.__dict__.get("_open", False),
        "sparse": "_sparse_coef" in learner.__dict__,
        "metadata": metadata,
    }, arrays


def _require(that: bool, required: str, came) -> None:
    if not that:
        raise _InvalidError(f"{required}, got {came!r}")


def _read_state(kind: type, told: dict, geometry: str, n_classes: int, average: bool, arrays: dict[str, np.ndarray]) -> State:
    """A State of these parts, each of them of the type, shape and range that learning gives it."""
    kind = kind.class_of(geometry)
    scalars = set(kind.PARTS) - arrays.keys()
    _require(told.keys() == scalars, f"a state of {sorted(scalars)}", sorted(told))
    _require(told["geometry"] == geometry, f"geometry {geometry!r}", told["geometry"])
    _require(type(told["n_features"]) is int and told["n_features"] > 0, "n_features > 0", told["n_features"])
    _require(told["n_columns"] == (n_classes if n_classes > 2 else 1), f"columns for {n_classes} classes", told["n_columns"])
    dtype = arrays["values"].dtype
    _require(dtype in validate.FLOATS, "values of float32 or float64", dtype)
    _require(type(told["variance"]) in (int, float) and 0.0 < told["variance"] <= np.finfo(dtype).max / 4,
             f"a variance > 0 that fits {dtype}", told["variance"])
    problem = kind.problem_of_scalars(told)
    _require(not problem, "a state that learning can give", problem)
    if "joint" in kind.PARTS:  # of dual ascent
        _require(type(told["joint"]) is bool, "joint true or false", told["joint"])
        _require(type(told["bias"]) is float and 0.0 <= told["bias"] <= np.finfo(dtype).max, "a bias >= 0", told["bias"])
    expected = kind.layout(geometry, told["n_features"], n_classes, dtype, average, kind.n_shared(told, arrays))
    found = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    _require(found == expected, f"arrays {expected}", found)
    state = kind.of({**told, **arrays})
    problem = state.problem()
    _require(not problem, "numbers that learning can give", problem)
    return state


def _read_learnt(told: dict, offered, may_choose: bool, compiled: dict) -> dict:
    """The kernels' Params of the last learning."""
    _require(told.keys() == compiled.keys(), f"learnt_with of {sorted(compiled)}", sorted(told))
    kind = told["rule"], told["geometry"], told["margin"]
    choices = [(a, geometry) for a in offered for geometry in a.geometries[: 1 + may_choose]]
    algorithm = next((a for a, g in choices if kind == (a.rule, g, told["margin"] if "margin" in a.params else a.margin)), None)
    _require(algorithm is not None, "a rule and geometry of this estimator", kind)
    learnt = {name: _unpacked(value) for name, value in told.items()}
    trigger = _core.TRIGGERS[algorithm.trigger]
    learnt.update(rule=_core.RULES[algorithm.rule], trigger=trigger, geometry=_core.GEOMETRIES[told["geometry"]])
    whole = {"open_classes": (0, 1), "balanced": (0, 1), "average_from": (-1, 2**31 - 1), "squarings": (0, 9)}  # (2^9 > 500 - 1)
    for name, value in learnt.items():
        if name in whole:
            valid = type(value) is int and whole[name][0] <= value <= whole[name][1]
        elif name in algorithm.params:
            valid = type(value) is float and value in algorithm.params[name]
        else:
            valid = type(value) is type(compiled[name]) and (0.0 <= value < math.inf or value == compiled[name])
        _require(valid, f"learnt_with[{name!r}] in its range", value)
    return learnt


def _read_learnt_ascent(told: dict, cls: type, compiled: dict) -> dict:
    """The same of dual ascent, gradient descent and Hedge: what none of the class's rows may choose is as compiled."""
    _require(told.keys() == compiled.keys(), f"learnt_with of {sorted(compiled)}", sorted(told))
    learnt, chosen, offered = {}, {}, algorithms_of(cls)
    for name in ("update", "loss"):
        chosen[name] = {a.selects[name] for a in offered if name in a.selects}
    chosen["schedule"] = set(cls._schedules)
    flags = {"open_classes", "balanced", *(("joint",) if "multi_class" in cls._parameter_names() else ())}
    if any("regularizer" in a.selects for a in offered):
        flags.add("entropic")
    for name, value in told.items():
        value = _unpacked(value)
        if name in cls._numbered:
            numbers = cls._numbered[name]
            valid = type(value) is str and value in numbers
            valid = valid and (value in chosen.get(name, ()) or numbers[value] == compiled[name])
            value = numbers[value] if valid else value
        elif name in flags:
            valid = type(value) is int and value in (0, 1)
        elif name == "average_from":
            valid = type(value) is int and -1 <= value <= 2**31 - 1
        elif name in ("sigma", "margin", "bound"):
            valid = type(value) is float and (0.0 < value < math.inf or value == compiled[name])
        elif name in ("bias", "limit"):
            valid = type(value) is float and 0.0 <= value < math.inf
        else:
            valid = type(value) is type(compiled[name]) and value == compiled[name]
        _require(valid, f"learnt_with[{name!r}] in its range", value)
        learnt[name] = value
    grows = learnt["entropic"] and learnt["schedule"] == ascent.SCHEDULES["auto"]
    average = learnt["average_from"]
    _require(not (grows and average >= 0), "no average of entropic weights under sigma='auto'", average)
    return learnt


def _read_leader(told: dict, arrays: dict[str, np.ndarray], n_classes: int, learnt: dict, compiled: dict) -> tuple:
    """FoReL's state and Params: rows, dual variables and θ, each of the type, shape and range that learning gives it."""
    while_learning = {"open_classes", "balanced", "limit"}  # not there before the second class
    _require(learnt.keys() - while_learning == compiled.keys(), f"learnt_with of {sorted(compiled)}", sorted(learnt))
    params = {name: _unpacked(value) for name, value in learnt.items()}
    params["geometry"] = _core.GEOMETRIES[learnt["geometry"]]
    for name, value in params.items():
        if name in ("joint", "open_classes", "balanced"):
            valid = type(value) is int and value in (0, 1)
        elif name in ("sigma", "tolerance"):
            valid = type(value) is float and 0.0 < value < math.inf
        elif name in ("bias", "limit"):
            valid = type(value) is float and 0.0 <= value < math.inf
        else:
            valid = type(value) is type(compiled[name]) and value == compiled[name]
        _require(valid, f"learnt_with[{name!r}] in its range", value)
    _require(told.keys() == {"joint", "n_features"}, "a state of joint and n_features", sorted(told))
    _require(type(told["n_features"]) is int and told["n_features"] > 0, "n_features > 0", told["n_features"])
    _require(type(told["joint"]) is bool, "joint true or false", told["joint"])
    dtype = arrays["data"].dtype
    _require(dtype in validate.FLOATS, "data of float32 or float64", dtype)
    n_rows, n_entries = len(arrays["labels"]), len(arrays["data"])
    expected = ForelState.layout(told["n_features"], n_classes, dtype, n_rows, n_entries)
    found = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    _require(found == expected, f"arrays {expected}", found)
    state = ForelState.__new__(ForelState)
    state.__dict__.update({**told, **arrays})
    problem = state.problem(params["bias"])
    _require(not problem, "numbers that learning can give", problem)
    return state, params


def _read_classes(who: str, code: str, raw: np.ndarray) -> np.ndarray:
    _require(isinstance(code, str) and _LABELS.fullmatch(code), "a dtype of labels", code)
    classes = np.frombuffer(raw.tobytes(), np.dtype(code))
    if classes.dtype.kind == "U":  # numpy trusts its code points, and its booleans
        _require(classes.view(f"{code[0]}u4").max(initial=0) <= 0x10FFFF, "labels that are texts", "other code points")
    elif classes.dtype.kind == "b":
        _require(raw.max(initial=0) <= 1, "labels that are booleans", "other bytes")
    classes = np.array(classes)
    _require(len(classes) > 0 and validate.read_classes(who, classes).tolist() == classes.tolist(), "sorted classes", classes)
    return classes


def _rebuilt(told: dict, arrays: dict[str, np.ndarray]):
    """The estimator that a description and arrays describe: every one of its parts checked, or an error."""
    import onlinecls

    who = told["estimator"]
    _require(isinstance(who, str) and who in _ESTIMATORS, "an estimator of this version", who)
    cls = getattr(onlinecls, who)
    parameters = {name: _unpacked(value) for name, value in told["parameters"].items()}
    _require(parameters.keys() == set(cls._parameter_names()), f"parameters {cls._parameter_names()}", list(parameters))
    learner = cls(**parameters)
    compiled = learner._kernel_params()
    random_state(who, learner.random_state)

    arrays = dict(arrays)
    is_classifier = cls._estimator_type == "classifier"
    _require((told["classes"] is not None) == is_classifier, "classes of a classifier, and of no other", told["classes"])
    classes = _read_classes(who, told["classes"], arrays.pop("classes")) if is_classifier else None
    n_classes = len(classes) if is_classifier else 1
    if cls._state_type is ForelState:
        state, learnt = _read_leader(told["state"], arrays, n_classes, told["learnt_with"], compiled)
    elif "rule" in cls._numbered:
        several = not {"covariance", "signed"}.isdisjoint(parameters)
        learnt = _read_learnt(told["learnt_with"], algorithms_of(cls), several, compiled)
    else:
        learnt = _read_learnt_ascent(told["learnt_with"], cls, compiled)
    if cls._state_type is not ForelState:
        average = learnt["average_from"] >= 0
        state = _read_state(cls._state_type, told["state"], cls._geometry(learnt), n_classes, average, arrays)
    if "joint" in learnt:
        _require(state.joint == bool(learnt["joint"]), "the construction that learning had", state.joint)
    for name in ("open", "sparse"):
        _require(type(told[name]) is bool, f"{name} true or false", told[name])
    _require(not told["sparse"] or hasattr(cls, "sparsify"), "no sparse weights where there are none", told["sparse"])
    if is_classifier:
        _require(told["open"] or n_classes > 1, "two classes or more, as none may join", classes)
        _require(not told["open"] or state.counts.all(), "rows of each class that has joined", state.counts.tolist())
        _require("multi_class" in parameters or n_classes <= 2, "two classes at most", classes)
        validate.read_class_weight(who, learner.class_weight, classes, closed=not told["open"])
    else:
        _require(not told["open"], "no classes that may join a regressor", told["open"])
    _require(type(told["n_iter"]) is int and told["n_iter"] > 0, "n_iter > 0", told["n_iter"])
    feature_names = told["feature_names"]
    if feature_names is not None:
        fit = isinstance(feature_names, list) and all(isinstance(name, str) for name in feature_names)
        _require(fit and len(feature_names) == state.n_features, f"names of {state.n_features} features", type(feature_names))
        learner.feature_names_in_ = np.array(feature_names, dtype=object)
    _require(_is_json(told["metadata"]) and type(told["metadata"]) is dict, "metadata", type(told["metadata"]))

    learner._state, learner._params, learner._params_of = state, learnt, (None,)
    state.params = learnt
    learner.n_features_in_, learner.n_iter_ = state.n_features, told["n_iter"]
    if is_classifier:
        learner._open, learner.classes_ = told["open"], classes
    learner._check_range(learnt, state.dtype)
    return learner.sparsify() if told["sparse"] else learner


# --- the file ------------------------------------------------------------------------------------------------------------------


def _header(told: dict, arrays: dict[str, np.ndarray], digest: str) -> bytes:
    """Length and header, as they stand in the file. Arrays are in the order given."""
    tensors, at = {}, 0
    for name, array in arrays.items():
        tensors[name] = {"dtype": _TENSOR_NAMES[array.dtype], "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    metadata = {"format": f"onlinecls {FORMAT}", "sha256": digest, "model": json.dumps(told, allow_nan=False)}
    text = json.dumps({"__metadata__": metadata, **tensors}, separators=(",", ":")).encode()
    assert text.startswith(_BEGINNING)
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def save(learner, path, metadata: dict | None = None) -> None:
    """See `Estimator.save`."""
    who, path = type(learner).__name__, os.path.realpath(os.fspath(path))
    if not _ESTIMATORS.intersection(cls.__name__ for cls in type(learner).__mro__):
        raise ValueError(
            f"{who}: save must have a linear learner, the only ones that have a form without pickle, got a {who}. Use pickle."
        )
    if "_state" not in learner.__dict__:
        raise not_fitted(who)
    if type(learner).__module__.partition(".")[0] != __package__:
        raise ValueError(
            f"{who}: save must have an estimator of onlinecls itself, got a class that extends one, whose code a file without "
            "pickle cannot hold. Use pickle."
        )
    metadata = {} if metadata is None else metadata
    if type(metadata) is not dict or not _is_json(metadata):
        raise ValueError(
            f"{who}: metadata must be a dict of what JSON gives back as it was (texts as keys; None, booleans, integers, finite "
            f"floats, texts, lists, dicts), got {metadata!r}. Turn tuples into lists and numpy numbers into Python's."
        )
    told, arrays = _described(who, learner, metadata)
    try:
        _rebuilt(json.loads(json.dumps(told)), arrays)
    except _InvalidError as error:
        raise ValueError(f"{who}: save must have a model as learning leaves it: {error}. Fit it again.") from None
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, -arrays[name].nbytes))  # each one aligned
    little = {name: np.asarray(arrays[name], arrays[name].dtype.newbyteorder("<"), order="C") for name in order}
    digest = _sha256(_header(told, little, _UNSIGNED))
    for array in little.values():
        digest.update(array.reshape(-1))
    _replace(who, path, [_header(told, little, digest.hexdigest()), *little.values()])


def _sha256(start: bytes):
    from hashlib import sha256  # OpenSSL, which is for those who save and load

    return sha256(start)


def _replace(who: str, path: str | bytes, parts: list) -> None:
    """Put a file in the place of another: at any moment there is the old one or the new one, even if the power fails."""
    import secrets
    import shutil

    folder = os.path.dirname(path)
    token = f".onlinecls-{secrets.token_hex(8)}.tmp"
    draft = os.path.join(folder, os.fsencode(token) if isinstance(path, bytes) else token)
    try:
        try:
            if os.path.isdir(path):
                raise IsADirectoryError(21, "Is a directory")
            with open(draft, "xb") as file:
                for part in parts:
                    file.write(memoryview(part).cast("B") if len(part) else b"")
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(path):
                shutil.copymode(path, draft)
            os.replace(draft, path)
        except BaseException:
            if os.path.exists(draft):
                os.unlink(draft)
            raise
        if os.name != "nt":  # (Windows has no way to sync a directory)
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        raise OSError(
            error.errno, f"{who}: save must write a file beside its target and put it in its place, got: {error.strerror}. "
            "What was there before is as it was. Save to another path", os.fspath(path)
        ) from error


class _Header(NamedTuple):
    told: dict
    tensors: dict[str, tuple[int, int, np.dtype, tuple]]  # begin, end, dtype, shape
    unsigned: bytes
    digest: str


def _refused(path, required: str, came: str, do: str = "") -> ValueError:
    do = do or "The file is damaged, or was not written by save: take another copy of it, or save the model again."
    return ValueError(f"onlinecls.load: {os.fsdecode(path)!r} must be {required}, got {came}. {do}")


def _read_header(path, file, size: int) -> _Header:
    start = file.read(8 + len(_BEGINNING))
    length = int.from_bytes(start[:8], "little")
    if start[8:] != _BEGINNING:
        came = f"a file that begins with {start[:16]!r}" if start else "an empty file"
        raise _refused(path, "a model saved by onlinecls", came)
    if not len(_BEGINNING) <= length <= size - 8:
        raise _refused(path, f"of a header that is in its {size} bytes", f"a header of {length} bytes")
    raw = start + file.read(8 + length - len(start))
    try:
        header = json.loads(raw[8:])
        metadata = header.pop("__metadata__")
        number = int(metadata["format"].removeprefix("onlinecls "))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _refused(path, "a model saved by onlinecls", "a header that is not its JSON") from None
    if number != FORMAT:
        from . import __version__

        raise _refused(
            path, f"of format {FORMAT}, the one that onlinecls {__version__} reads", f"format {number}",
            "Load it with a newer version of onlinecls (pip install --upgrade onlinecls).",
        )
    try:
        tensors, at = {}, 0
        for name, part in header.items():
            dtype, shape, (begin, end) = _TENSORS[part["dtype"]], tuple(part["shape"]), part["data_offsets"]
            _require(all(type(n) is int and n >= 0 for n in (*shape, begin, end)), "shapes and places >= 0", part)
            _require(len(shape) <= 8 and math.prod(n or 1 for n in shape) < 2**59, "shapes that an array can have", part)
            _require(begin == at and end - begin == math.prod(shape) * dtype.itemsize, "arrays end to end", part)
            tensors[name], at = (begin, end, dtype, shape), end
        digest = metadata["sha256"]
        _require(type(digest) is str and raw.count(digest.encode()) == 1 and len(digest) == 64, "one checksum", digest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _refused(path, "a model saved by onlinecls", f"a header with wrong arrays ({error})") from None
    if 8 + length + at != size:
        raise _refused(path, f"of {8 + length + at} bytes, as its header says", f"{size} bytes")
    return _Header(metadata.get("model"), tensors, raw.replace(digest.encode(), _UNSIGNED.encode()), digest)


def _read_data(file, header: _Header, checksum, mmap: bool) -> dict[str, np.ndarray]:
    """The arrays behind the header, each byte of them taken into the checksum."""
    from mmap import ACCESS_READ
    from mmap import mmap as mapped

    start, arrays = len(header.unsigned), {}
    whole = np.frombuffer(mapped(file.fileno(), 0, access=ACCESS_READ), np.uint8) if mmap else None
    for name, (begin, end, dtype, shape) in header.tensors.items():
        if mmap:
            part = whole[start + begin : start + end]
            checksum.update(part)
        else:
            part = np.empty(end - begin, np.uint8)
            for at in range(0, len(part), _CHUNK):
                chunk = part[at : at + _CHUNK]
                file.readinto(chunk)
                checksum.update(chunk)
        arrays[name] = part.view(dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)
    return arrays


def load(path, *, mmap=False, return_metadata=False):
    """Read a model that an estimator's `save` wrote: it predicts, and goes on learning, as if it had never been away.

    Files need not be trusted: nothing in them is executed, and every size, name, parameter and number is checked. (The checksum
    in a file tells damage; who made a model, it does not tell.)

    Parameters
    ----------
    path : str, bytes or os.PathLike
    mmap : bool, default=False
        Leave the arrays in the file, mapped into memory and read-only: processes that load one file share its pages. A model
        learns all the same, on a copy made at its next row.
    return_metadata : bool, default=False
        Give the pair of the estimator and the dict that was passed to `save` as metadata.

    Returns
    -------
    estimator : object
        Fitted, of the class that was saved.
    metadata : dict
        Only with ``return_metadata=True``.

    Raises
    ------
    ValueError
        If the file is not a model, not whole, changed in any byte, of a newer format, or holds what no estimator could have
        written. Nothing is made of it then.
    OSError
        If the file cannot be read.

    Notes
    -----
    The format: docs/saving.md.

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
    path = os.fspath(path)
    with open(path, "rb") as file:
        header = _read_header(path, file, os.fstat(file.fileno()).st_size)
        checksum = _sha256(header.unsigned)
        arrays = _read_data(file, header, checksum, mmap)
    if checksum.hexdigest() != header.digest:
        raise _refused(path, f"a file of SHA-256 {header.digest}, as its header says", checksum.hexdigest())
    try:
        told = json.loads(header.told)
        learner = _rebuilt(told, arrays)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, IndexError, RecursionError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise _refused(path, "a model that onlinecls could have saved", f"one that is not ({what})") from None
    return (learner, told["metadata"]) if return_metadata else learner
