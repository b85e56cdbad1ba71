"""`train --predictions`, `--alarm` and `--every --json`: what is to be seen of a stream while it is learnt."""

import json
from pathlib import Path

import numpy as np
import pytest
from mails import texts, write_tsv

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    CommitteeClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    compare,
    progressive_validation,
)
from onlinecls.measures import DriftAlarm
from onlinecls.streams import read
from onlinecls.text import HashingVectorizer


def batches(path):
    return read(path, vectorizer=HashingVectorizer(n_features=2**10, dtype="float32"))


@pytest.fixture
def tsv(tmp_path):
    """A stream whose labels turn half-way."""
    mails = texts(4000)
    turned = [("ham" if label == "spam" else "spam", text) for label, text in mails[2000:]]
    return Path(write_tsv(tmp_path / "mail.tsv", [*mails[:2000], *turned]))


def test_predictions_and_alarms_of_a_stream_are_those_of_progressive_validation(tsv, tmp_path, run):
    path, alarm = tmp_path / "said", DriftAlarm()
    code, out, err = run(
        "train", tsv, "--bits", 10, "--predictions", path, "--alarm", "--json", "--passes", 2, "--classes", "ham,spam",
        "--every", 1000,
    )
    assert code == 0
    learner = AROWClassifier(dtype="float32")
    with batches(tsv) as stream:
        found = progressive_validation(learner, stream, classes=["ham", "spam"], predictions=True, every=1000)
    assert path.read_text().split() == found.predictions.tolist()
    *points, result = map(json.loads, out.splitlines())
    assert [(point["examples"], point["mistakes"]) for point in points[:4]] == list(
        zip(found.examples.tolist(), found.mistakes.tolist(), strict=True)
    )
    assert [point["pass"] for point in points] == [1] * 4 + [2] * 4
    assert points[1]["error_since_last"] == pytest.approx(np.diff(found.mistakes)[0] / 1000)
    wrong = found.predictions != [line.split("\t")[0] for line in tsv.read_text().splitlines()]
    alarm.update(wrong)
    assert result["alarms"] == alarm.alarms != [] and f"noticed after example {alarm.alarms[0]:,}\n" in err


def test_a_row_without_a_prediction_has_a_line_all_the_same(tmp_path, run):
    data, path = tmp_path / "a.tsv", tmp_path / "said"
    data.write_text("ham\tlunch noon\nspam\tpills win\nham\tlunch noon\nno label\nspam\tpills win\n")
    assert run("train", data, "--quiet", "--predictions", path, "--on-error", "skip")[0] == 0
    assert path.read_text().split() == ["NA", "ham", "spam", "NA", "spam"]


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


def test_a_search_drops_settings_that_are_beaten_and_says_which_are_left(tsv, run):
    specs = ["arow:r=0.1,100", "pa1:C=1e-6", "perceptron"]
    code, out, _ = run("compare", tsv, "--bits", 10, "--search", *specs, "--json", "--classes", "ham,spam")
    assert code == 0
    results = {each["algorithm"]: each for each in json.loads(out)["results"]}
    assert set(results) == {"arow:r=0.1", "arow:r=100", "pa1:C=1e-6", "perceptron"}
    raced = {"arow:r=0.1": AROWClassifier(r=0.1, dtype="float32"), "arow:r=100": AROWClassifier(r=100, dtype="float32"),
             "pa1:C=1e-6": PassiveAggressiveClassifier(C=1e-6, dtype="float32"), "perceptron": Perceptron(dtype="float32")}
    with batches(tsv) as stream:
        found = compare(raced, stream, classes=["ham", "spam"], drop=True)
    for name, result in results.items():
        assert result["examples"] == found.examples[name] and result["progressive_error"] == found.errors[name], name
        assert result["better_by"] == (None if name == found.best else list(found.better_by[name]))
    assert min(found.examples.values()) < 4000
    page = run("compare", tsv, "--bits", 10, "--search", *specs, "--classes", "ham,spam")[1]
    assert page.splitlines()[1].startswith(found.best) and "errs less than" in page.splitlines()[-1]
    assert run("compare", tsv, "--search", "arow")[0] == 2
    assert run("compare", tsv, "--search", "arow:r=1,2", "--algorithms", "arow")[0] == 2
    assert run("compare", tsv, "--level", "1")[0] == 2


def test_the_report_names_whom_a_committee_follows(tsv, run):
    code, out, err = run("train", tsv, "--bits", 10, "--algorithm", "committee")
    assert code == 0
    with batches(tsv) as stream:
        learner = CommitteeClassifier(dtype="float32")
        for X, y, _ in stream:
            learner.partial_fit(X, y)
    weights = sorted(zip(learner.member_weights_.tolist(), learner.member_names_, strict=True), reverse=True)
    assert "weights of members: " + ", ".join(f"{name} {weight:.2f}" for weight, name in weights) in (out + err).splitlines()
