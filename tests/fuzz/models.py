"""Files of models, changed and signed again: `load` refuses them with its error, or gives a model that keeps its promises."""

import contextlib
import hashlib
import io
import json
import warnings

import numpy as np
from algorithms import LEARNERS
from internals import files
from states import is_finite

from fuzz.mutation import chance, mutated_bytes, mutated_json, odd_value, one_of, poked
from onlinecls import load

_WHOLE = {}


def whole(number, n_features, average):
    """The file of a learner after a few rows."""
    key = number, n_features, average
    if key not in _WHOLE:
        spec = LEARNERS[number]
        X, y = spec.problem(25, n_features, seed=number)
        learner = spec(**({"average": True} if average and spec.can_average else {})).partial_fit(X, y)
        file = io.BytesIO()
        learner.save(file, {"note": "a"})
        _WHOLE[key] = file.getvalue()
    return _WHOLE[key]


def parts_of(data):
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    arrays = {name: body[slice(*part["data_offsets"])] for name, part in header.items() if name != "__metadata__"}
    return header, json.loads(header["__metadata__"]["model"]), arrays


def signed(header, told, arrays):
    """Return a file of these parts with a right checksum."""
    header["__metadata__"].update(model=json.dumps(told), sha256="0" * 64)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8", "surrogatepass")
    unsigned = len(text).to_bytes(8, "little") + text
    body = b"".join(arrays.values())
    digest = hashlib.sha256(unsigned + body).hexdigest().encode()
    return unsigned.replace(b"0" * 64, digest) + body


def make(draw):
    number, d = int(draw.integers(len(LEARNERS))), int(draw.choice([1, 5, 30]))
    data = whole(number, d, chance(draw, 0.4))
    kind = int(draw.integers(10))
    if kind == 0:
        return {"kind": "damaged"}, mutated_bytes(draw, data, times=1)
    header, told, arrays = parts_of(data)
    for _ in range(int(draw.geometric(0.6))):
        what = int(draw.integers(8))
        if what <= 2:
            name = one_of(draw, ["state", "learnt_with", "parameters", "units", "learnt_with", "classes", None, None])
            name = name if name in told else None
            told = mutated_json(draw, told) if name is None else {**told, name: mutated_json(draw, told[name])}
        elif what <= 5 and arrays:
            name = one_of(draw, list(arrays))
            with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):  # what says its type was changed before
                dtype = files._TENSORS[header[name]["dtype"]]
                arrays[name] = poked(draw, np.frombuffer(arrays[name], dtype)).tobytes()
        elif what == 6 and arrays:
            name = one_of(draw, list(arrays))
            size = int(draw.integers(0, 40)) * 8
            arrays[name] = (arrays[name] * (size // max(len(arrays[name]), 1) + 1))[:size]
            places(header, arrays, draw, name)
        else:
            name = one_of(draw, [name for name in header if name != "__metadata__"] or ["x"])
            if chance(draw, 0.3) and name in arrays:
                del arrays[name], header[name]
            elif chance(draw, 0.2):
                header["extra"], arrays["extra"] = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}, bytes(8)
            elif name in header:
                header[name] = mutated_json(draw, header[name])
            if chance(draw, 0.7):
                places(header, arrays)
    if chance(draw, 0.05):
        header["__metadata__"] = mutated_json(draw, header["__metadata__"])
        if not isinstance(header["__metadata__"], dict):
            header["__metadata__"] = {"format": odd_value(draw)}
    return {"kind": "forged"}, signed(header, told, arrays)


def places(header, arrays, draw=None, changed=None):
    """Say again where the arrays are; of the changed one, a shape that its bytes may have."""
    at = 0
    for name, data in arrays.items():
        part = header.get(name)
        if isinstance(part, dict):
            if name == changed:
                size = len(data) // 8
                part["shape"] = one_of(draw, [[size], [1, size], [size, 1], [2, size // 2]])
            part["data_offsets"] = [at, at + len(data)]
        at += len(data)


def check(case):
    options, data = case
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            learner = load(io.BytesIO(data))
    except ValueError as error:
        assert str(error).startswith("onlinecls.load: "), f"whose error is this: {error!r}"
        return "refused"
    if options["kind"] == "damaged":
        assert any(data == each for each in _WHOLE.values()) or not _WHOLE, "damage was not seen"
    d = learner.n_features_in_
    if d > 10**5:
        return "large"
    X = np.random.default_rng(0).random((12, d))
    y = {"classifier": lambda: learner.classes_[np.arange(12) % len(learner.classes_)], "regressor": lambda: X.sum(axis=1)}
    targets = (y[learner._estimator_type](),) if learner._estimator_type in y else ()
    assert is_finite(learner)
    came = "loaded"
    learner.save(io.BytesIO())  # what load takes, save gives
    for _ in range(2):
        learner.predict(X)
        getattr(learner, "decision_function", learner.predict)(X)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                learner.partial_fit(X, *targets)
                learner.partial_fit(X[:1], *(part[:1] for part in targets))
        except ValueError as error:
            assert type(learner).__name__ in str(error), repr(error)
            came = "loaded, and cannot go on"
        assert is_finite(learner)
    return came
