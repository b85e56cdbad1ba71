"""`train --predictions` and `--every --json`: what is to be seen of a stream while it is learnt."""

import json
from pathlib import Path

import numpy as np
import pytest
from mails import texts, write_tsv

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    CommitteeClassifier,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.streams import read
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer


def batches(path):
    return read(path, vectorizer=HashingVectorizer(n_features=2**10, dtype="float32"))


@pytest.fixture
def tsv(tmp_path):
    """A stream whose labels turn half-way."""
    mails = texts(4000)
    turned = [("ham" if label == "spam" else "spam", text) for label, text in mails[2000:]]
    return Path(write_tsv(tmp_path / "mail.tsv", [*mails[:2000], *turned]))


def test_predictions_of_a_stream_are_those_of_progressive_validation(tsv, tmp_path, run):
    path = tmp_path / "said"
    code, out, _ = run(
        "train", tsv, "--bits", 10, "--predictions", path, "--json", "--passes", 2, "--classes", "ham,spam",
        "--every", 1000)
    assert code == 0
    learner = AROWClassifier(dtype="float32")
    with batches(tsv) as stream:
        found = progressive_validation(learner, stream, classes=["ham", "spam"], predictions=True, every=1000)
    assert path.read_text().split() == found.predictions.tolist()
    *points, result = map(json.loads, out.splitlines())
    assert [(point["examples"], point["mistakes"]) for point in points[:4]] == list(
        zip(found.examples.tolist(), found.mistakes.tolist(), strict=True))
    assert [point["pass"] for point in points] == [1] * 4 + [2] * 4
    assert points[1]["error_since_last"] == pytest.approx(np.diff(found.mistakes)[0] / 1000)
    assert result["mistakes"] == found.mistakes[-1]


def test_a_row_without_a_prediction_has_a_line_all_the_same(tmp_path, run):
    data, path = tmp_path / "a.tsv", tmp_path / "said"
    data.write_text("ham\tlunch noon\nspam\tpills win\nham\tlunch noon\nno label\nspam\tpills win\n")
    assert run("train", data, "--quiet", "--predictions", path, "--on-error", "skip")[0] == 0
    assert path.read_text().split() == ["NA", "ham", "spam", "NA", "spam"]


def test_a_line_without_a_row_is_counted_once_in_a_batch_of_several_marks(tmp_path, run):
    data, path = tmp_path / "a.tsv", tmp_path / "said"
    data.write_text("ham\tlunch noon\n" + "no label\n" + "spam\tpills win\n" * 9 + "no label\nham\tnoon\n")
    assert run("train", data, "--predictions", path, "--on-error", "skip")[0] == 0  # (a line after 1, 2, 4 and 8 examples)
    assert path.read_text().split() == ["NA", "NA", "ham", *["spam"] * 8, "NA", "spam"]


def unlabelled_table(n=60):
    generator = np.random.default_rng(3)
    rows = [{"x": float(x), "name": f"n{int(z * 3)}"} for x, z in generator.normal(size=(n, 2)) * 50 + 300]
    return rows, [None if k % 5 in (2, 3) else "ham" if row["x"] < 300 else "spam" for k, row in enumerate(rows)]


@pytest.mark.parametrize("form", ["table", "texts", "numbers"])
def test_rows_without_a_label_are_predicted_by_the_model_of_the_rows_before_them(form, tmp_path, run):
    rows, labels = unlabelled_table()
    if form == "numbers":
        labels = [None if label is None else row["x"] * 2 for row, label in zip(rows, labels, strict=True)]
    if form == "texts":
        rows = [{"text": f"{row['name']} w{row['x'] // 20}"} for row in rows]
        step, learner = HashingVectorizer(n_features=2**20, dtype="float32"), AROWClassifier(dtype="float32")
    else:
        step = TableVectorizer(0, slots=128, dtype=np.float32)
        learner = (AROWRegressor if form == "numbers" else AROWClassifier)(covariance="auto", dtype="float32")
    data, path, model = tmp_path / "a.jsonl", tmp_path / "said", tmp_path / "model"
    data.write_text("".join(json.dumps({**row, "label": label}) + "\n" for row, label in zip(rows, labels, strict=True)))
    algorithm = ("--algorithm", "arow_regression") if form == "numbers" else ()
    code, out, err = run("train", data, *algorithm, "--unlabelled", "predict", "--predictions", path, "--save", model, "--json")
    assert code == 0 and "\n24 rows without a label: predicted, not learnt\n" in err
    assert (json.loads(out)["examples"], json.loads(out)["unlabelled"]) == (36, 24)
    pipeline, said = make_stream_pipeline(step, learner), path.read_text().split()
    assert len(said) == 60
    for row, label, told in zip([row.get("text", row) for row in rows], labels, said, strict=True):
        predicted = pipeline.predict_one(row)
        if label is not None and form != "texts":
            pass  # (a row of a table that is learnt is in the statistics before it is predicted)
        elif form == "numbers":
            assert float(told) == pytest.approx(predicted, rel=1e-5)
        else:
            assert told == ("NA" if predicted is None else predicted)
        if label is not None:
            pipeline.learn_one(row, label)
    skipped = tmp_path / "skipped"
    code, out, err = run("train", data, *algorithm, "--unlabelled", "skip", "--predictions", path, "--save", skipped)
    assert code == 0 and "\n24 rows without a label: left out\n" in err
    assert path.read_text().split() == ["NA" if label is None else told for label, told in zip(labels, said, strict=True)]
    assert skipped.read_bytes() == model.read_bytes()


def test_rows_without_a_label_have_numbers_where_a_model_goes_on(tmp_path, run):
    _, labels = unlabelled_table()
    text = [f"{'' if label is None else '1 ' if label == 'ham' else '-1 '}|f a{k % 7} b\n" for k, label in enumerate(labels)]
    data, head, options = tmp_path / "a.vw", tmp_path / "head.vw", ("--quiet", "--test", tmp_path / "a.vw")
    data.write_text("".join(text))
    head.write_text("".join(text[:37]))
    said, whole, part = (tmp_path / name for name in ("said", "whole", "part"))
    assert run("train", data, *options, "--unlabelled", "skip", "--bits", 8, "--save", whole)[0] == 0
    assert run("train", head, "--quiet", "--unlabelled", "predict", "--predictions", said, "--bits", 8, "--save", part)[0] == 0
    assert run("train", data, *options, "--unlabelled", "skip", "--resume", part, "--from-row", 38, "--save", part)[0] == 0
    assert part.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("options, message", [
    (("--unlabelled", "predict"), "argument --unlabelled: predict must have --predictions"),
    (("--predictions", "-", "--json"), "argument --predictions: must be a file with --json"),
    (("mail.tsv", "--unlabelled", "skip", "--jobs", 2), "argument --jobs: must be without --unlabelled"),
])
def test_options_that_do_not_go_together_are_refused(options, message, tsv, run):
    code, _, err = run("train", tsv, *options)
    assert code == 2 and message in err


def test_the_error_for_a_row_without_a_label_names_the_option(tmp_path, run):
    for name, text in (("a.vw", "1 |f a\n|f b\n"), ("a.tsv", "ham\ta\n\tb\n"), ("a.csv", "label,x\nham,1\n,2\n")):
        (tmp_path / name).write_text(text)
        code, _, err = run("train", tmp_path / name, "--quiet")
        assert code == 1 and "(--unlabelled predict or skip takes rows without), got" in err
    (tmp_path / "b.tsv").write_text("ham\ta\nspam\tb\n")
    assert run("train", tmp_path / "b.tsv", "--save", tmp_path / "m", "--quiet")[0] == 0
    code, _, err = run("evaluate", tmp_path / "m", tmp_path / "a.tsv")
    assert code == 1 and "expected a label before the tab, got" in err


def test_numbers_are_predicted_row_by_row(tmp_path, run):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(50, 3))
    y = X @ [1.0, 2.0, 3.0]
    data, path = tmp_path / "a.svm", tmp_path / "said"
    lines = (f"{t} 0:{a} 1:{b} 2:{c}\n" for t, (a, b, c) in zip(y, X, strict=True))
    data.write_text("".join(lines))
    arguments = "train", data, "--bits", 2, "--algorithm", "arow_regression", "--dtype", "float64", "--quiet"
    assert run(*arguments, "--predictions", path)[0] == 0
    found = progressive_validation(AROWRegressor(), (np.c_[X, np.zeros(50)], y), predictions=True)
    said = np.array(path.read_text().split(), float)
    np.testing.assert_allclose(said[1:], found.predictions[1:].astype(float), rtol=1e-9, atol=1e-12)
    assert said[0] == 0.0 and found.predictions[0] == y[0]  # (a level begins at the first target, and counts as predicted)


def test_predictions_that_could_not_be_whole_are_refused(tsv, tmp_path, run):
    for more in (("--from-row", 5), ("--jobs", 2)):
        code, _, err = run("train", tsv, tsv, *more, "--predictions", tmp_path / "said")
        assert code == 2 and "--predictions" in err, more
    code, _, err = run("train", tsv, "--predictions", tmp_path / "none" / "said")
    assert code == 2 and "argument --predictions: must be a file in a folder that can be written to" in err


def test_the_report_names_whom_a_committee_follows(tsv, run):
    code, out, err = run("train", tsv, "--bits", 10, "--algorithm", "committee")
    assert code == 0
    with batches(tsv) as stream:
        learner = CommitteeClassifier(dtype="float32")
        for X, y, _ in stream:
            learner.partial_fit(X, y)
    weights = sorted(zip(learner.member_weights_.tolist(), learner.member_names_, strict=True), reverse=True)
    assert "weights of members: " + ", ".join(f"{name} {weight:.2f}" for weight, name in weights) in (out + err).splitlines()
