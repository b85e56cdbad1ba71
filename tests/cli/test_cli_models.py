"""`onlinecls merge` and `onlinecls export`: models as files for other machines and other programs."""

import csv
import json

import numpy as np
import pytest
from mails import texts, write_tsv

from onlinecls import load, merge


@pytest.fixture
def parts(tmp_path, run):
    """Two models of parts of a stream, the words of one kept."""
    models = [tmp_path / "a.model", tmp_path / "b.model"]
    for seed, path in enumerate(models):
        data = write_tsv(tmp_path / f"{seed}.tsv", texts(200, seed))
        more = ("--names", 99) if seed == 0 else ()
        assert run("train", data, "--bits", 10, "--classes", "ham,spam", "--save", path, "--quiet", *more)[0] == 0
    return models


def test_merge_writes_the_model_that_merge_makes_in_python(parts, tmp_path, run):
    path = tmp_path / "c.model"
    code, out, err = run("merge", *parts, "--save", path)
    expected, (found, metadata) = merge([load(each) for each in parts]), load(path, return_metadata=True)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert (code, err) == (0, "") and out.startswith(f"2 models, 400 examples, {expected.n_mistakes_} mistakes")
    assert metadata == {"input": load(parts[1], return_metadata=True)[1]["input"]}  # (and no words of one part only)
    data = tmp_path / "0.tsv"
    assert len(run("predict", path, data)[1].split()) == 200
    assert run("train", data, "--resume", path, "--save", path, "--quiet")[0] == 0
    assert json.loads(run("inspect", path, "--json")[1])["examples"] == 600
    about = json.loads(run("merge", *parts, "--save", path, "--json")[1])
    assert about["examples"] == 400 and about["model"] == str(path)


def test_merge_refuses_models_whose_columns_mean_something_else(parts, tmp_path, run):
    path, other = tmp_path / "c.model", tmp_path / "other.model"
    svm = tmp_path / "a.svm"
    svm.write_text("ham 1:1\nspam 2:1\n" * 9)
    for arguments in ((tmp_path / "0.tsv", "--ngrams", 1, 2), (svm,)):
        assert run("train", *arguments, "--bits", 10, "--classes", "ham,spam", "--save", other, "--quiet")[0] == 0
        code, out, err = run("merge", parts[0], other, "--save", path)
        assert (code, out) == (1, "") and err == (
            f"onlinecls merge: {other}: must have learnt from rows that were read like those of {parts[0]}, got other columns or "
            "words. onlinecls inspect shows both.\n"
        ), arguments
    assert not path.exists()
    assert run("merge", parts[0])[0] == 2 and run("merge", *parts, "--save", tmp_path / "no" / "where")[0] == 2


def weights_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_exported_weights_are_those_of_the_model(parts, tmp_path, run):
    path, learner = tmp_path / "w.csv", load(parts[1])
    assert run("export", parts[1], "--weights", path) == (0, "", "")
    first, *rows = weights_of(path)
    coef, variances = learner.coef_[0], learner.covariance_[0]
    intercept = repr(float(learner.intercept_[0]))
    assert first == {"class": "spam", "feature": "(intercept)", "column": "", "weight": intercept, "std": ""}
    columns = [int(row["column"]) for row in rows]
    assert columns == np.flatnonzero(coef).tolist() and [row["feature"] for row in rows] == [f"column {k}" for k in columns]
    assert [float(row["weight"]) for row in rows] == coef[columns].tolist()
    assert [float(row["std"]) for row in rows] == pytest.approx(np.sqrt(variances[columns]).tolist())
    table = tmp_path / "w.parquet"
    pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run("export", parts[1], "--weights", table)[0] == 0
    found = parquet.read_table(table).to_pydict()
    assert found["weight"][1:] == coef[columns].tolist() and found["column"] == [None, *columns]


def test_exported_weights_have_the_words_that_inspect_shows(parts, tmp_path, run):
    path = tmp_path / "w.csv"
    for arguments in ((parts[0],), (parts[1], tmp_path / "1.tsv")):  # words of the model, of data
        assert run("export", *arguments, "--weights", path)[0] == 0
        found = {row["feature"]: (float(row["weight"]), float(row["std"] or 0)) for row in weights_of(path)}
        shown = json.loads(run("inspect", *arguments, "--json", "--top", 20)[1])["top"]["spam"]
        assert len(shown) > 5
        for feature in shown:
            assert found[feature["name"]] == (feature["weight"], feature["std"]), feature


def test_weights_of_many_classes_and_of_a_regression_are_exported(tmp_path, run):
    model, path = tmp_path / "model", tmp_path / "w.csv"
    three = write_tsv(tmp_path / "three.tsv", [*texts(60), *(("third", f"kind of {k} words") for k in range(20))])
    numbers = write_tsv(tmp_path / "numbers.tsv", [(k, f"word{k % 5}") for k in range(50)])
    for data, more, classes in ((three, (), ["ham", "spam", "third"]), (numbers, ("--algorithm", "arow_regression"), [""])):
        assert run("train", data, "--bits", 10, "--save", model, "--quiet", *more)[0] == 0
        assert run("export", model, "--weights", path)[0] == 0
        rows, learner = weights_of(path), load(model)
        coef, intercepts = np.atleast_2d(learner.coef_), np.reshape(learner.intercept_, -1)
        for c, label in enumerate(classes):
            own = [row for row in rows if row["class"] == label]
            assert float(own[0]["weight"]) == intercepts[c], label
            assert {int(row["column"]): float(row["weight"]) for row in own[1:]} == {
                k: coef[c, k] for k in np.flatnonzero(coef[c]).tolist()
            }, label
        assert {row["class"] for row in rows} == set(classes)


def test_export_refuses_what_it_cannot_write(parts, tmp_path, run):
    for arguments, said in (
        ((), "one of the arguments --onnx --weights is required"),
        (("--weights", tmp_path / "w.txt"), "argument --weights: must end in .csv or .parquet"),
        (("--weights", tmp_path / "no" / "w.csv"), "argument --weights: must be a file in a folder that can be written to"),
        (("--weights", tmp_path / "w.csv", "--sparse"), "argument --sparse: must have --onnx"),
    ):
        code, out, err = run("export", parts[0], *arguments)
        assert (code, out) == (2, "") and said in err, arguments
    assert not (tmp_path / "w.csv").exists()


def test_an_exported_graph_is_that_of_to_onnx(parts, tmp_path, run):
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "m.onnx"
    for more in ((), ("--sparse",)):
        assert run("export", parts[0], "--onnx", path, *more) == (0, "", "")
        assert onnx.load(path) == load(parts[0]).to_onnx(sparse=bool(more)), more
