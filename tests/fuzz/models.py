"""Files of models, changed: `load` refuses them with its error, or gives a model that keeps its promises."""

import io
import json
import warnings
import zipfile

import numpy as np
from algorithms import LEARNERS
from internals import files
from states import fingerprint, is_finite

from fuzz.mutation import chance, mutated_bytes, mutated_json, one_of, poked
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
    """Return what is not an array in a file, and the arrays."""
    return files.read(io.BytesIO(data))


def file_of(told, arrays, kind=zipfile.ZIP_STORED, **others):
    """Return a file of these parts, with right checksums. others : parts that are bytes, by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as target:
        target.writestr("header.json", json.dumps({"format": files.FORMAT, **told} if isinstance(told, dict) else told))
        for name, array in arrays.items():
            with target.open(f"{name}.npy", "w") as part:
                np.lib.format.write_array(part, np.asarray(array, order="C"), (1, 0), allow_pickle=False)
        for name, part in others.items():
            target.writestr(name, part)
    return file.getvalue()


def forged(path, change=lambda told, arrays: None, **told_changes):
    """Give a file other contents, with right checksums; change may edit the description and the arrays."""
    told, arrays = parts_of(path.read_bytes())
    change(told, arrays)
    path.write_bytes(file_of({**told, **told_changes}, arrays))


def make(draw):
    number, d = int(draw.integers(len(LEARNERS))), int(draw.choice([1, 5, 30]))
    data = whole(number, d, chance(draw, 0.4))
    if chance(draw, 0.1):
        return {"kind": "damaged"}, mutated_bytes(draw, data, times=1)
    told, arrays = parts_of(data)
    for _ in range(int(draw.geometric(0.6))):
        what, name = int(draw.integers(8)), one_of(draw, [*arrays, "extra"])
        if what <= 2:
            part = one_of(draw, ["state", "learnt_with", "parameters", "learnt_with", None, None])
            whole_part = not isinstance(told, dict) or part not in told
            told = mutated_json(draw, told) if whole_part else {**told, part: mutated_json(draw, told[part])}
        elif name == "extra" or chance(draw, 0.1):
            arrays = {**arrays, name: np.zeros(3)} if name == "extra" else {k: v for k, v in arrays.items() if k != name}
        elif what <= 5 and arrays[name].dtype.kind in "iuf":
            arrays[name] = poked(draw, arrays[name])
        elif what == 6:
            size = int(draw.integers(0, 40))
            shape = one_of(draw, [[size], [1, size], [size, 1], [2, size // 2], [size, 0]])
            arrays[name] = np.resize(arrays[name], shape)
        else:
            dtype = one_of(draw, ["f4", "f8", "f2", "i4", "i8", "u1", "?", ">f8", "U3", "S2"])
            with np.errstate(all="ignore"):
                arrays[name] = np.resize(arrays[name].reshape(-1).view("u1"), arrays[name].size * 24).view(dtype)
    return {"kind": "forged"}, file_of(told, arrays, one_of(draw, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


def check(case):
    options, data = case
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            learner = load(io.BytesIO(data))
    except ValueError as error:
        assert str(error).startswith("onlinecls.load: "), f"whose error is this: {error!r}"
        return "refused"
    if options["kind"] == "damaged" and _WHOLE:
        shown = [fingerprint(load(io.BytesIO(each))) for each in _WHOLE.values()]
        assert fingerprint(learner) in shown, "damage was not seen"
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
