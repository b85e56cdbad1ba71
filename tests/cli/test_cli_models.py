"""`onlinecls merge`, and models that go from the command line to Python and back."""

import json
from pathlib import Path

import numpy as np
import pytest
from internals import learner_in
from mails import texts, write_tsv

from onlinecls import AROWClassifier, load, make_stream_pipeline, merge
from onlinecls.tables import TableVectorizer


@pytest.fixture
def parts(tmp_path, run):
    """Two models of parts of a stream."""
    models = [tmp_path / "a.model", tmp_path / "b.model"]
    for seed, path in enumerate(models):
        data = write_tsv(tmp_path / f"{seed}.tsv", texts(200, seed))
        assert run("train", data, "--bits", 10, "--classes", "ham,spam", "--save", path, "--quiet")[0] == 0
    return models


def test_merge_writes_the_model_that_merge_makes_in_python(parts, tmp_path, run):
    path = tmp_path / "c.model"
    code, out, err = run("merge", *parts, "--save", path)
    expected, (found, metadata) = merge([learner_in(each) for each in parts]), learner_in(path, return_metadata=True)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert (code, err) == (0, "") and out.startswith(f"2 models, 400 examples, {expected.n_mistakes_} mistakes")
    assert metadata == {"input": learner_in(parts[1], return_metadata=True)[1]["input"]}
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
            "words. onlinecls inspect shows both.\n"), arguments
    assert not path.exists()
    assert run("merge", parts[0])[0] == 2 and run("merge", *parts, "--save", tmp_path / "no" / "where")[0] == 2


def test_a_file_of_the_command_line_reads_in_python_what_it_was_learnt_from_and_back(tmp_path, run):
    """A table goes to a pipeline of the same bits, whose statistics are those of all rows; so do texts."""
    draw = np.random.default_rng(0)
    rows = [{"income": 1e4 * draw.normal() + 5e4, "year": 2024, "color": str(draw.choice(["red", "blue"]))} for _ in range(2500)]
    labels = ["yes" if (row["income"] > 5e4) == (row["color"] == "red") or row["income"] > 6e4 else "no" for row in rows]
    data, model, again = tmp_path / "a.jsonl", tmp_path / "model", tmp_path / "again"
    data.write_text("".join(json.dumps({"label": y, **x}) + "\n" for x, y in zip(rows, labels, strict=True)))
    code, _, err = run("train", data, "--dtype", "float64", "--save", model)
    assert code == 0 and "\ncolumns income (number), year (number), color (category)\n" in err
    found, expected = load(model), make_stream_pipeline(TableVectorizer(bits=0, slots=32), AROWClassifier(covariance="auto"))
    for x, y in zip(rows, labels, strict=True):
        expected.learn_one(x, y)
    assert found[-1].t_ == 2500 and found[-1].covariance_.shape == (32, 32)
    np.testing.assert_allclose(found[-1].coef_, expected[-1].coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.decision_function(rows), expected.decision_function(rows), rtol=1e-9, atol=1e-10)
    assert run("predict", model, data)[1].split() == expected.predict(rows).tolist()
    expected.save(again)  # (nothing says how its rows were read)
    assert run("predict", again, data)[1].split() == expected.predict(rows).tolist()
    assert run("train", data, "--resume", again, "--save", again, "--quiet")[0] == 0
    expected.partial_fit(rows, labels)
    np.testing.assert_allclose(load(again)[-1].coef_, expected[-1].coef_, rtol=1e-9, atol=1e-12)

    tsv = write_tsv(tmp_path / "a.tsv", texts(200))
    assert run("train", tsv, "--bits", 10, "--save", model, "--quiet")[0] == 0
    words = [line.split("\t")[1] for line in Path(tsv).read_text().splitlines()]
    assert load(model).predict(words).tolist() == run("predict", model, tsv)[1].split()


@pytest.mark.filterwarnings("ignore:AROWClassifier. columns should be of like size")
def test_numbers_are_standardised_unless_raw_and_passes_learn_their_statistics_once(tmp_path, run):
    draw, data, model = np.random.default_rng(1), tmp_path / "a.csv", tmp_path / "model"
    a, income = draw.normal(size=1500), 1e5 * draw.random(1500)
    data.write_text("label,a,income\n" + "".join(f"{int(x > 0)},{x},{z}\n" for x, z in zip(a, income, strict=True)))
    errors = {}
    for more in ((), ("--numbers", "raw"), ("--passes", 2)):
        told = json.loads(run("train", data, *more, "--json", "--quiet", "--save", model)[1])
        errors[more] = told["progressive_error"]
    assert errors[()] < 0.05 < 0.3 < errors["--numbers", "raw"]
    step = load(model)[0]
    of_all_rows = TableVectorizer(bits=0, slots=32, dtype=np.float32).partial_fit({"a": a, "income": income})
    row = [{"a": 0.5, "income": 7e4}]
    np.testing.assert_array_equal(step.transform(row), of_all_rows.transform(row))


def test_a_decimal_comma_is_one_in_labels_and_weights_too(tmp_path, run, monkeypatch):
    rows = [(f"{k / 4}", f"{1000 + k / 2}", "1.5") for k in range(40)]
    plain, comma = tmp_path / "a.csv", tmp_path / "b.csv"
    plain.write_text("x;label;w\n" + "".join(";".join(row) + "\n" for row in rows))
    comma.write_text(plain.read_text().replace(".", ",").replace("\n0;1000", "\n0;1.000"))
    for least in (0, 1 << 60):
        monkeypatch.setattr("onlinecls.streams._csv.LEAST", least)
        found = []
        for path, decimal in ((plain, "."), (comma, ",")):
            options = ("--delimiter", ";", "--weights", "w", "--algorithm", "arow_regression", "--decimal", decimal, "--quiet")
            assert run("train", path, "--save", tmp_path / "m", *options)[0] == 0
            found.append(run("evaluate", tmp_path / "m", path, "--delimiter", ";", "--json")[1])
        assert found[0] == found[1]


def test_tables_of_few_columns_have_a_full_covariance_unless_the_user_says_otherwise(tmp_path, run):
    draw, data, model = np.random.default_rng(2), tmp_path / "a.csv", tmp_path / "model"
    X = draw.normal(size=(1200, 30)).round(3)
    rows = [[str(np.digitize(x[0] + x[1], [-0.5, 0.5])), str(x[0]), *map(str, x)] for x in X]
    for n, slots in ((3, 32), (20, 64), (31, 64)):
        table = [",".join(["label", *(f"c{k}" for k in range(n))]), *(",".join(row[: n + 1]) for row in rows)]
        data.write_text("\n".join(table) + "\n")
        assert run("train", data, "--save", model, "--quiet")[0] == 0
        step, learner = load(model)[0], load(model)[1]
        assert (step.bits, step.slots, learner.covariance, learner.covariance_.shape) == (0, slots, "auto", (3, slots, slots))
    found = json.loads(run("compare", data, "--algorithms", "arow", "arow:covariance=diagonal", "pa1", "--json", "--quiet")[1])
    mistakes = {each["algorithm"]: each["mistakes"] for each in found["results"]}
    for name, more in (("arow", ()), ("arow:covariance=diagonal", ("--param", "covariance=diagonal"))):
        assert json.loads(run("train", data, *more, "--save", model, "--json", "--quiet")[1])["mistakes"] == mistakes[name], name
    assert load(model)[1].covariance == "diagonal" and len(set(mistakes.values())) == 3
    texts = write_tsv(tmp_path / "a.tsv", [("ham", "a b"), ("spam", "c d")] * 9)
    for arguments in ((texts,), (data, "--bits", 4), (data, "--numbers", "raw")):
        assert run("train", *arguments, "--save", model, "--quiet")[0] == 0
        assert learner_in(model).covariance == "diagonal", arguments


def test_labels_that_are_numbers_are_predicted_in_python_as_on_the_command_line(tmp_path, run):
    for name, lines in (
        ("a.svm", [f"{k % 3} {k % 3}:1" for k in range(60)]),
        ("a.jsonl", [json.dumps({"label": k % 3, "a": "xyz"[k % 3]}) for k in range(60)]),
        ("b.jsonl", [json.dumps({"label": k % 3 - 1, "text": "abc"[k % 3] * 3}) for k in range(60)]),
    ):
        data, model = tmp_path / name, tmp_path / "model"
        data.write_text("\n".join(lines) + "\n")
        assert run("train", data, "--save", model, "--quiet")[0] == 0
        found = learner_in(model)
        assert found.classes_.dtype == np.int64 and found.classes_.tolist() == ([-1, 0, 1] if name == "b.jsonl" else [0, 1, 2])
        assert run("predict", model, data)[1].split()[:3] == list(map(str, found.classes_.tolist()))
        data.write_text("\n".join([*lines, lines[0].replace("0", "7", 1)]) + "\n")
        if name != "b.jsonl":  # (a label that joins is whole, too)
            assert run("train", data, "--resume", model, "--save", model, "--quiet")[0] == 0
            assert learner_in(model).classes_.tolist() == [0, 1, 2, 7] and learner_in(model).classes_.dtype == np.int64
