"""What a model's metadata says of its rows, changed: every command says what is wrong in one line, or does its work."""

import contextlib
import io
import json
import os
import tempfile

from internals import main

from fuzz.models import file_of, parts_of
from fuzz.mutation import chance, mutated_json, one_of

FOLDER = tempfile.TemporaryDirectory()
DATA = {
    "tsv": b"ham\tlunch at noon\nspam\twin a prize\n" * 3,
    "svm": b"1 0:1 3:2\n-1 1:1\n" * 3, "vw": b"1 |a b c:2\n-1 |a d\n" * 3,
    "csv": b"label,x,y,z\na,1,2,red\nb,2,1,blue\n" * 1 + b"a,3,,red\n",
    "jsonl": b'{"label": "a", "x": 1, "z": "q"}\n{"label": "b", "x": 2, "z": null}\n',
    "reg.svm": b"0.5 0:1 3:2\n1.5 1:1\n" * 3,
}
_MODELS = {}


def path_of(name):
    return os.path.join(FOLDER.name, name)


def model_of(kind):
    """Return the bytes of a model that train wrote."""
    if kind not in _MODELS:
        data = path_of(f"data.{kind}")
        with open(data, "wb") as file:
            file.write(DATA[kind])
        more = ["--algorithm", "arow_regression"] if kind.startswith("reg") else []
        code, _, err = run("train", data, "--bits", "8", *more, "--save", path_of("m"), "--quiet")
        assert code == 0, err
        with open(path_of("m"), "rb") as file:
            _MODELS[kind] = file.read()
    return _MODELS[kind]


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([*arguments])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


def make(draw):
    kind = one_of(draw, list(DATA))
    data = model_of(kind)
    told, arrays = parts_of(data)
    for _ in range(int(draw.geometric(0.6))):
        told["metadata"] = mutated_json(draw, told["metadata"])
    learner = told["steps"][-1][1] if "steps" in told else told
    if chance(draw, 0.1):
        learner["feature_names"] = mutated_json(draw, [f"f{i}" for i in range(learner["state"]["n_features"])])
    if learner is not told and chance(draw, 0.2):
        told["steps"][0] = mutated_json(draw, told["steps"][0])
    command = one_of(draw, ["inspect", "inspect", "inspect --json", "inspect data", "predict", "evaluate"])
    return {"kind": kind, "command": command}, file_of(told, arrays)


def check(case):
    options, data = case
    model, rows = path_of("forged"), path_of(f"data.{options['kind']}")
    with open(model, "wb") as file:
        file.write(data)
    with open(rows, "wb") as file:
        file.write(DATA[options["kind"]])
    name, _, more = options["command"].partition(" ")
    arguments = {"inspect": [model, *([rows] if more == "data" else [more] if more else [])]}
    code, out, err = run(name, *arguments.get(name, [model, rows]))
    assert code in (0, 1, 2), (code, out, err)
    assert "Traceback" not in err, err
    strange = {c for c in out + err if not c.isprintable()} - set("\n\t\r")
    assert not strange or more == "--json", f"control characters {strange} in {out!r} {err!r}"
    if code:
        assert err.startswith((f"onlinecls {name}: ", "usage:")), err
    elif more == "--json":
        json.loads(out)
    return "refused" if code else "done"
