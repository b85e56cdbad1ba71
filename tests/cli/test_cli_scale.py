"""Columns of unlike size on the command line: `--scale`, and steps behind what reads the rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mails import texts, write_tsv

import onlinecls
from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.steps import OnlineMaxAbsScaler, OnlineTfidf
from onlinecls.streams import read
from onlinecls.text import HashingVectorizer

HIDES = "has more than nine tenths of the squared length of each of the first 16 rows (--scale none leaves them as they are)"


def rows(n=300, size=1000, seed=0):
    """Return labels, words and lengths: `size` times more than words."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 40, (n, 6))
    y = np.where((words < 12).sum(axis=1) > 1, 1, -1)
    named = [[f"w{k}" for k in sorted(set(each))] for each in words.tolist()]
    return y.tolist(), named, (size * rng.integers(50, 300, n)).tolist()


def vw(path, *arguments, **named):
    found = zip(*rows(*arguments, **named), strict=True)
    path.write_text("".join(f"{y} |w {' '.join(words)} |m len:{size}\n" for y, words, size in found))
    return path


def svmlight(path):
    lines = (f"{y} {' '.join(f'{w[1:]}:1' for w in sorted(words, key=lambda w: int(w[1:])))} 77:{size}\n"
             for y, words, size in zip(*rows(), strict=True))
    path.write_text("".join(lines))
    return path


def objects(path):
    lines = (json.dumps({"label": y, "features": {**dict.fromkeys(words, 1), "len": size}}) + "\n"
             for y, words, size in zip(*rows(), strict=True))
    path.write_text("".join(lines))
    return path


FILES = {"a.vw": (vw, "m^len"), "a.svm": (svmlight, "column 77"), "a.jsonl": (objects, "len")}


@pytest.mark.filterwarnings("ignore:AROWClassifier. columns should be of like size")
@pytest.mark.parametrize("name", FILES)
def test_a_column_that_hides_the_others_is_scaled_by_its_largest_so_far(name, tmp_path, run):
    make, shown = FILES[name]
    data, model = make(tmp_path / name), tmp_path / "model"
    code, out, err = run("train", data, "--bits", 10, "--save", model, "--dtype", "float64")
    assert code == 0
    assert f"columns are divided by their largest so far, as {shown} {HIDES}\n" in err
    found, expected = onlinecls.load(model), make_stream_pipeline(OnlineMaxAbsScaler(), AROWClassifier())
    with read(data, n_features=2**10, dtype="float64") as stream:
        batches = list(stream)
    for X, y, _ in batches:
        expected.partial_fit(X, y)
    np.testing.assert_array_equal(found[0].max_abs_, expected[0].max_abs_)
    np.testing.assert_array_equal(found[1].coef_, expected[1].coef_)
    predicted = np.concatenate([expected.predict(X) for X, _, _ in batches])
    assert [int(line) for line in run("predict", model, data)[1].split()] == predicted.tolist()
    wrong = predicted != np.concatenate([y for _, y, _ in batches])
    assert json.loads(run("evaluate", model, data, "--json")[1])["error"] == wrong.mean()
    told = {}
    for scale in ("auto", "largest", "none"):
        code, out, err = run("train", data, "--bits", 10, "--scale", scale, "--json", "--quiet")
        told[scale] = json.loads(out)["progressive_error"]
    assert told["auto"] == told["largest"] < 0.3 < 0.4 < told["none"]


def test_without_such_a_column_all_is_as_it_was(tmp_path, run):
    data, models = vw(tmp_path / "a.vw", size=0.001), [tmp_path / "a.model", tmp_path / "b.model"]
    for model, more in zip(models, ((), ("--scale", "none")), strict=True):
        code, _, err = run("train", data, "--bits", 10, "--save", model, *more)
        assert code == 0 and "divided" not in err
    assert models[0].read_bytes() == models[1].read_bytes()
    assert isinstance(onlinecls.load(models[0]), AROWClassifier)
    few = vw(tmp_path / "few.vw", 15)  # (a learner warns after 16 rows)
    assert "divided" not in run("train", few, "--bits", 10)[2]


def test_a_model_with_a_scaler_goes_on_exactly(tmp_path, run):
    data, whole, part, one, other = vw(tmp_path / "a.vw"), *(tmp_path / name for name in ("whole", "part", "one.vw", "other.vw"))
    lines = data.read_text().splitlines(keepends=True)
    one.write_text("".join(lines[:200]))
    other.write_text("".join(lines[200:]))
    assert run("train", data, "--bits", 10, "--save", whole, "--quiet")[0] == 0
    assert run("train", one, "--bits", 10, "--save", part, "--quiet")[0] == 0
    assert run("train", other, "--resume", part, "--save", part, "--quiet")[0] == 0
    a, b = onlinecls.load(whole), onlinecls.load(part)
    np.testing.assert_array_equal(a[0].max_abs_, b[0].max_abs_)
    np.testing.assert_array_equal(a[1].coef_, b[1].coef_)
    code, _, err = run("train", other, "--resume", part, "--scale", "none")
    assert code == 2 and "--scale: must be left out with --resume" in err
    assert run("train", one, other, "--bits", 10, "--save", part, "--passes", 2, "--test", data, "--quiet")[0] == 0
    twice = onlinecls.load(part)
    np.testing.assert_array_equal(twice[0].max_abs_, a[0].max_abs_)
    assert twice[1].t_ == 600
    assert twice[0].n_samples_seen_ == 300
    assert run("train", one, other, "--bits", 10, "--save", part, "--jobs", 2, "--quiet")[0] == 0
    np.testing.assert_array_equal(onlinecls.load(part)[0].max_abs_, a[0].max_abs_)
    compared = json.loads(run("compare", data, "--bits", 10, "--json", "--quiet")[1])["results"]
    trained = json.loads(run("train", data, "--bits", 10, "--json", "--quiet")[1])["mistakes"]
    assert next(each["mistakes"] for each in compared if each["algorithm"] == "arow") == trained


def test_weights_are_those_of_columns_as_they_stand(tmp_path, run):
    data, model = vw(tmp_path / "a.vw"), tmp_path / "model"
    assert run("train", data, "--bits", 10, "--save", model, "--quiet")[0] == 0
    scaler, learner = (step for _, step in onlinecls.load(model).steps)
    at = int(scaler.max_abs_.argmax())
    shown = [each for top in json.loads(run("inspect", model, data, "--json", "--top", 100)[1])["top"].values() for each in top]
    weight = next(each["weight"] for each in shown if each["name"] == "m^len")
    assert abs(weight) == pytest.approx(abs(learner.coef_[0, at]) / scaler.max_abs_[at], rel=1e-6)
    explained = json.loads(run("explain", model, data, "--json", "--top", 100)[1].splitlines()[0])
    of_length = next(each for each in explained["features"] if each["name"] == "m^len")
    assert of_length["value"] == pytest.approx(rows()[2][0], rel=1e-6)
    assert sum(each["contribution"] for each in explained["features"]) == pytest.approx(explained["score"], rel=1e-5)
    assert "behind OnlineMaxAbsScaler()" in run("inspect", model)[1]


def test_scale_is_refused_where_it_has_no_effect(tmp_path, run):
    tsv, table = write_tsv(tmp_path / "a.tsv", texts(40)), tmp_path / "a.csv"
    table.write_text("label,a\n" + "x,1\ny,2\n" * 20)
    for data in (tsv, table):
        code, _, err = run("train", data, "--scale", "largest")
        assert code == 1 and "--scale must have columns by number or by names with numbers, got" in err, data


def test_a_warning_is_a_line_of_the_command(tmp_path):
    command = [sys.executable, "-m", "onlinecls", "train", vw(tmp_path / "a.vw"), "--bits", "10", "--scale", "none"]
    err = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    line = next(line for line in err.splitlines() if "hides the others" in line)
    assert line.startswith("onlinecls train: warning: AROWClassifier: columns should be of like size")
    assert line.endswith("on the command line, --scale largest.")


def test_a_pipeline_of_texts_with_an_idf_predicts_and_goes_on(tmp_path, run):
    data, model = write_tsv(tmp_path / "a.tsv", texts(200)), tmp_path / "model"
    labels, words = zip(*(line.split("\t") for line in Path(data).read_text().splitlines()), strict=True)
    counts = HashingVectorizer(n_features=2**10, norm=None, dtype=np.float32)
    pipeline = make_stream_pipeline(counts, OnlineTfidf(), AROWClassifier())
    pipeline.partial_fit(words, labels).save(model)
    assert run("predict", model, data)[1].split() == pipeline.predict(words).tolist()
    assert run("train", data, "--resume", model, "--save", model, "--quiet")[0] == 0
    pipeline.partial_fit(words, labels)
    again = onlinecls.load(model)
    assert again[1].n_samples_seen_ == 400
    np.testing.assert_array_equal(again.decision_function(words), pipeline.decision_function(words))
