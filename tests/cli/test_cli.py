"""The command line against the same learning in Python, its messages word for word, and its processes."""

import gzip
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from algorithms import CLASSIFIERS
from internals import COMMANDS, NAMED, REGRESSION_COMMANDS, learner_in, main
from mails import WORDS, texts, write_tsv, written

import onlinecls
from onlinecls import AROWClassifier, AROWRegressor, PassiveAggressiveOneClass
from onlinecls._cli.progress import Clock, Every
from onlinecls.streams import read
from onlinecls.text import HashingVectorizer

COMMAND = [sys.executable, "-m", "onlinecls"]


@pytest.fixture
def tsv(tmp_path):
    return write_tsv(tmp_path / "mail.tsv", texts(300))


@pytest.fixture
def trained(tsv, tmp_path, run):
    model = str(tmp_path / "mail.model")
    assert run("train", tsv, "--bits", "10", "--save", model)[0] == 0
    return model


def in_python(path, learner=None, **options):
    learner = learner or AROWClassifier(dtype="float32")
    vectorizer = HashingVectorizer(n_features=2**10, dtype="float32", **options)
    with read([path], vectorizer=vectorizer) as stream:
        for X, y, weight in stream:
            learner.partial_fit(X, y, sample_weight=weight)
    return learner, vectorizer


# --- train ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}])
def test_train_learns_the_same_model_as_the_estimator_in_python(tsv, tmp_path, run, options):
    model = tmp_path / "model"
    words = ["--ngrams", *options["ngram_range"]] if "ngram_range" in options else []
    words += ["--analyzer", options["analyzer"]] if "analyzer" in options else []
    code, out, err = run("train", tsv, "--bits", 10, "--param", "r=0.5", "--json", "--quiet", "--save", model, *words)
    expected, _ = in_python(tsv, AROWClassifier(r=0.5, dtype="float32"), **options)
    learner = learner_in(model)
    assert (code, err) == (0, "") and repr(learner) == "AROWClassifier(r=0.5, dtype='float32')"
    np.testing.assert_array_equal(learner.coef_, expected.coef_)
    np.testing.assert_array_equal(learner.covariance_, expected.covariance_)
    found = json.loads(out)
    assert found.pop("seconds") > 0
    assert 0 < found["mistakes"] < 150 and found.pop("features") > 600
    assert found.pop("parameters")["r"] == 0.5
    assert found == {
        "algorithm": "arow", "examples": 300, "mistakes": expected.n_mistakes_,
        "progressive_error": expected.n_mistakes_ / 300, "updates": expected.n_updates_,
        "bytes": len(Path(tsv).read_bytes()), "skipped": 0, "passes": 1, "interrupted": False, "model": str(model),
    }


def test_an_interval_in_rows_begins_anew_when_it_has_passed():
    clock = Clock(Every(rows=10))
    assert [rows for rows in (5, 10, 15, 19, 25, 26, 35, 60) if clock.is_due(rows)] == [10, 25, 35, 60]


def test_train_prints_a_line_when_the_examples_have_doubled(tsv, run):
    code, out, err = run("train", tsv, "--bits", 10)
    expected, vectorizer = in_python(tsv)
    header, names, *lines, summary = err.splitlines()
    assert header == "AROWClassifier(dtype='float32'), 2^10 columns, from tsv; the model is not kept (--save)"
    assert names.split("  ")[-1].strip() == "features" and (code, out) == (0, "")
    rows = [line.replace("%", "").replace(",", "").split() for line in lines]
    assert [int(row[0]) for row in rows] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    mistakes, features = [], []
    X, y = vectorizer.transform([text for _, text in texts(300)]), [label for label, _ in texts(300)]
    for row in rows:
        n = int(row[0])
        mistakes.append(AROWClassifier(dtype="float32").partial_fit(X[:n], y[:n]).n_mistakes_)
        features.append(X[:n].nnz)
        assert float(row[3]) == pytest.approx(100 * mistakes[-1] / n, abs=0.006)
    assert [int(row[2]) for row in rows] == mistakes and [int(row[5]) for row in rows] == features
    assert float(rows[8][4]) == pytest.approx(100 * (mistakes[8] - mistakes[7]) / 128, abs=0.006)
    assert summary.startswith(f"300 examples, {expected.n_mistakes_} mistakes ({expected.n_mistakes_ / 3:.2f} %), ")


def test_batches_are_cut_only_where_a_line_is_printed(tsv, run, monkeypatch):
    sizes, learn = [], AROWClassifier.partial_fit
    monkeypatch.setattr(
        AROWClassifier, "partial_fit", lambda self, X, y, **more: (sizes.append(len(y)), learn(self, X, y, **more)))
    found = [json.loads(run("train", tsv, "--bits", 10, "--json", *more)[1]) for more in (("--quiet",), ())]
    assert sizes == [300, 1, 1, 2, 4, 8, 16, 32, 64, 128, 44]
    assert all(found[0][name] == found[1][name] for name in ("examples", "mistakes", "updates", "features"))


@pytest.mark.parametrize("name", ["arow", "adagrad_da", "da_regression"])
def test_resume_gives_the_model_of_one_uninterrupted_run(tmp_path, run, name):
    rows = [texts(100), texts(150, 1)]
    if name in REGRESSION_COMMANDS:
        rows = [[(str(len(text) / 10), text) for _, text in part] for part in rows]
    a, b = (write_tsv(tmp_path / file, part) for file, part in zip(("a.tsv", "b.tsv"), rows, strict=True))
    whole, half, both = tmp_path / "whole", tmp_path / "half", tmp_path / "both"
    options = ("--bits", 8, "--algorithm", name, "--ngrams", 1, 2, "--quiet")
    assert run("train", a, b, *options, "--save", whole)[0] == 0
    assert run("train", a, *options, "--save", half)[0] == 0
    assert run("train", b, "--resume", half, "--quiet", "--save", both)[0] == 0
    assert whole.read_bytes() == both.read_bytes() != half.read_bytes()


def test_resume_counts_its_own_examples(tmp_path, run):
    a, b = write_tsv(tmp_path / "a.tsv", texts(100)), write_tsv(tmp_path / "b.tsv", texts(150, 1))
    assert run("train", a, "--bits", 8, "--save", tmp_path / "half")[0] == 0
    _, out, err = run("train", b, "--resume", tmp_path / "half", "--save", tmp_path / "both", "--json")
    assert "going on after 100 examples" in err and json.loads(out)["examples"] == 150
    assert learner_in(tmp_path / "both").t_ == 250


def test_the_reported_error_is_that_of_the_first_pass(tsv, tmp_path, run):
    _, once, _ = run("train", tsv, "--bits", 10, "--json")
    _, twice, err = run("train", tsv, "--bits", 10, "--json", "--passes", 2, "--save", tmp_path / "model")
    once, twice = json.loads(once), json.loads(twice)
    assert once["mistakes"] == twice["mistakes"] and twice["passes"] == 2 and "pass 2" in err.splitlines()
    assert (twice["features"], twice["bytes"]) == (2 * once["features"], 2 * once["bytes"])
    assert learner_in(tmp_path / "model").t_ == 600


def test_errors_on_test_files_are_counted_after_learning(tsv, tmp_path, run):
    held_out = texts(80, 9)
    code, out, err = run("train", tsv, "--bits", 10, "--json", "--test", write_tsv(tmp_path / "test.tsv", held_out))
    learner, vectorizer = in_python(tsv)
    wrong = int(np.sum(learner.predict(vectorizer.transform([t for _, t in held_out])) != [label for label, _ in held_out]))
    found = json.loads(out)
    assert (found["test_examples"], found["test_mistakes"], found["test_error"]) == (80, wrong, wrong / 80)
    assert code == 0 and f"test: 80 examples, {wrong} mistakes" in err


def test_malformed_lines_are_counted_and_shown(tsv, tmp_path, run):
    bad = tmp_path / "bad.tsv"
    bad.write_text(Path(tsv).read_text() + "no tab here\n")
    code, out, err = run("train", bad, "--bits", 10, "--on-error", "skip", "--json")
    assert code == 0 and json.loads(out)["skipped"] == 1 and json.loads(out)["examples"] == 300
    assert "1 malformed line skipped; the last:\nbad.tsv:301:12: expected a tab between label and text" in err
    code, out, err = run("train", bad, "--bits", 10, "--quiet", "--save", tmp_path / "model")
    assert (code, out) == (1, "") and not (tmp_path / "model").exists()
    assert err.startswith("onlinecls train: bad.tsv:301:12: expected a tab between label and text")


def test_rows_that_leave_the_range_are_told_once(tmp_path, run):
    data, model = tmp_path / "rows.svm", tmp_path / "model"
    data.write_text("".join(f"{i % 2} 1:{i % 3} 2:{'1e38' if i % 50 == 49 else i % 5}\n" for i in range(400)))
    code, _, err = run("train", data, "--param", "r=1", "--param", "intercept_scaling=1", "--save", model)
    assert (code, err.count("8 rows skipped: updates should stay within the range of numbers. Standardise")) == (0, 1), err
    assert "Warning" not in err and learner_in(model).n_skipped_ == 8


def test_weights_of_examples_are_read_from_every_format(tmp_path, run):
    rows = texts(60)
    path = tmp_path / "mail.csv"
    path.write_text("label,text,much\n" + "".join(f"{label},{text},{i % 3}\n" for i, (label, text) in enumerate(rows)))
    code, out, _ = run("train", path, "--weights", "much", "--bits", 10, "--json", "--save", tmp_path / "model")
    X = HashingVectorizer(n_features=2**10, dtype="float32").transform([text for _, text in rows])
    y = [label for label, _ in rows]
    expected = AROWClassifier(dtype="float32").partial_fit(X, y, sample_weight=[i % 3 for i in range(60)])
    np.testing.assert_array_equal(learner_in(tmp_path / "model").coef_, expected.coef_)
    assert code == 0 and json.loads(out)["examples"] == 40


# --- formats --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow"])
def test_every_format_is_learnt_and_predicted(tmp_path, run, format):
    path, model = written(tmp_path, format, texts(200)), tmp_path / "model"
    code, out, _ = run("train", path, "--bits", 10, "--json", "--save", model)
    assert code == 0 and json.loads(out)["examples"] == 200
    code, out, err = run("predict", model, path)
    with read([str(path)], n_features=2**10) as stream:
        X, _, _ = next(stream)
        expected = learner_in(model).predict(X).tolist()
    numbers = {1.0: "1", -1.0: "-1"}
    assert out.splitlines() == [numbers.get(label, label) for label in expected] and (code, err) == (0, "")
    assert len(set(expected)) == 2


def test_predict_reads_texts_in_another_format_than_train(tmp_path, run, trained, tsv):
    expected = run("predict", trained, tsv)[1]
    for format in ("csv", "jsonl"):
        assert run("predict", trained, written(tmp_path, format, texts(300)))[1] == expected
    packed = tmp_path / "mail.tsv.gz"
    packed.write_bytes(gzip.compress(Path(tsv).read_bytes()))
    assert run("predict", trained, packed)[1] == expected


def test_columns_of_a_csv_file_are_kept_with_the_model(tmp_path, run):
    path, bare = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("".join(f"{label};{text};x\n" for label, text in texts(100)))
    bare.write_text("".join(f"?;{text};x\n" for _, text in texts(100)))
    options = ("--no-header", "--label", 0, "--text", 1, "--delimiter", ";", "--bits", 10)
    assert run("train", path, *options, "--save", tmp_path / "model")[0] == 0
    code, out, err = run("predict", tmp_path / "model", bare)
    assert (code, err) == (0, "") and set(out.split()) == {"ham", "spam"} and len(out.split()) == 100


# --- predict --------------------------------------------------------------------------------------------------------------------


def test_predict_prints_what_the_estimator_predicts_in_python(tsv, tmp_path, run, trained):
    rows = texts(5000, 3)
    path = write_tsv(tmp_path / "new.tsv", rows)
    learner, vectorizer = in_python(tsv)
    X = vectorizer.transform([text for _, text in rows])
    code, out, err = run("predict", trained, path)
    assert (code, err) == (0, "") and out.splitlines() == learner.predict(X).tolist()
    header, *lines = run("predict", trained, path, "--scores")[1].splitlines()
    labels, scores = zip(*(line.split("\t") for line in lines), strict=True)
    assert header == "prediction\tspam" and list(labels) == learner.predict(X).tolist()
    assert [float(score) for score in scores] == learner.decision_function(X).tolist()


def test_predict_prints_a_column_of_scores_for_each_class(tmp_path, run):
    rows = [*texts(60), ("a\\b", "third kind of words")] * 3
    path, model = tmp_path / "mail.jsonl", tmp_path / "model"
    path.write_text("".join(json.dumps({"label": label.replace("\\", "\n"), "text": text}) + "\n" for label, text in rows))
    assert run("train", path, "--bits", 10, "--save", model)[0] == 0
    header, *lines = run("predict", model, path, "--scores")[1].splitlines()
    assert header.split("\t") == ["prediction", "a\\nb", "ham", "spam"] and len(lines) == 183
    scores = np.array([[float(s) for s in line.split("\t")[1:]] for line in lines])
    assert [line.split("\t")[0] for line in lines] == [header.split("\t")[1 + i] for i in scores.argmax(1)]
    assert set(scores.argmax(1)) == {0, 1, 2}


# --- inspect --------------------------------------------------------------------------------------------------------------------


def test_inspect_shows_words_with_their_confidence(tsv, tmp_path, run):
    model = tmp_path / "model"
    run("train", tsv, "--bits", 16, "--save", model)
    learner = learner_in(model)
    found = json.loads(run("inspect", model, tsv, "--json")[1])
    assert found["classes"] == {label: sum(each == label for each, _ in texts(300)) for label in WORDS}
    assert (found["examples"], found["mistakes"], found["algorithm"]) == (300, learner.n_mistakes_, "arow")
    for label, sign in (("spam", 1), ("ham", -1)):
        words = found["top"][label]
        assert {word["name"] for word in words[:4]} <= set(WORDS[label])
        for word in words[:4]:
            X = HashingVectorizer(n_features=2**16, norm=None).transform([word["name"]])
            assert word["weight"] == pytest.approx(sign * (X @ learner.coef_.T)[0, 0], rel=1e-6)
            assert word["std"] == pytest.approx(learner.covariance_[0, word["column"]] ** 0.5)
    page = run("inspect", model, tsv)[1]
    first = found["top"]["spam"][0]
    assert f"  {first['weight']:>+9.4f} ± {first['std']:<8.4f}  {first['name']}\n" in page and "classes    ham " in page


def test_inspect_without_data_shows_columns_by_number(tsv, tmp_path, run):
    model = tmp_path / "model"
    run("train", tsv, "--bits", 16, "--save", model)
    named, bare = (json.loads(run("inspect", *a, "--json")[1])["top"] for a in ((model, tsv), (model,)))
    assert bare["spam"][0]["name"].startswith("column ")
    # (Without names the sign of a hash is not known: a column is shown where its weight is above 0.)
    assert max(features[0]["weight"] for features in bare.values()) >= named["spam"][0]["weight"]
    asks = "\nThe model keeps no words: give the data in which they occur, onlinecls inspect MODEL DATA.\n"
    assert run("inspect", model)[1].endswith(asks) and asks not in run("inspect", model, tsv)[1]


def test_inspect_flags_columns_that_words_share(tsv, tmp_path, run):
    run("train", tsv, "--bits", 2, "--save", tmp_path / "model")
    assert "  (shared)\n" in run("inspect", tmp_path / "model", tsv)[1]


def test_inspect_shows_a_model_that_was_saved_in_python(tmp_path, run):
    AROWClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"]).save(tmp_path / "model")
    code, out, _ = run("inspect", tmp_path / "model")
    assert code == 0 and "column 0" in out and "the file does not say how they were read" in out


# --- complaints -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "complaint"), [
    (["--param", "r=-1"], "argument --param: AROWClassifier: r must be "),
    (["--param", "q=1"], "argument --param: must be one of " + ", ".join(NAMED["arow"].params) + ", average, "),
    (["--probabilities", "--algorithm", "da_squared"], "argument --probabilities: must be left out for da_squared, "),
    (["--param", "r"], "argument --param: must be NAME=VALUE, got 'r'"),
    (["--bits", "41"], "argument --bits: must be an integer in 1..40, got '41'"),
    (["--ngrams", "2", "1"], "argument --ngrams: MIN must not be more than MAX, got [2, 1]"),
    (["--every", "x"], "argument --every: must be a number of rows >= 1 (1000, 1e6) or a time (30s, 10m, 2h), got 'x'"),
    (["--save-every", "10m"], "argument --save-every: must have --save, the file to write"),
    (["--classes", "a,a"], "argument --classes: must be different names "),
    (["--classes", "ham"], "argument --classes: must be two labels or more, got 'ham'"),
    (["--classes", "1,2", "--algorithm", "arow_regression"], "argument --classes: must be left out for arow_regression, "),
    (["--quiet", "b.tsv"], "unknown b.tsv. Files are given together; "),
    (["-", "--passes", "2"], "argument --passes: must be 1 for standard input, which cannot be read again"),
    (["--resume", "m", "--bits", "9"], "argument --bits: must be left out with --resume, "),
    (["--resume", "m", "--param", "r=1"], "argument --param: must be left out with --resume, "),
    (["--save", "no/where"], "argument --save: must be a file in a folder that can be written to, got 'no/where'"),
    (["--save", "-"], "argument --save: must be a file in a folder that can be written to, got '-'"),
])
def test_train_reports_wrong_usage_before_it_reads(run, arguments, complaint):
    code, out, err = run("train", "missing.tsv", *arguments)
    assert (code, out) == (2, "") and err.splitlines()[-1].startswith(f"onlinecls train: error: {complaint}")


def test_errors_about_files_name_the_file(tmp_path, run, trained, tsv):
    def complaint(*arguments):
        code, out, err = run(*arguments)
        assert (code, out) == (1, "")
        return err.splitlines()[-1]

    missing, empty, one = tmp_path / "missing.tsv", tmp_path / "empty.tsv", tmp_path / "zeros.vw"
    empty.write_text("")
    one.write_text("1 0 | a\n")
    assert complaint("train", missing) == f"onlinecls train: {missing}: No such file or directory"
    assert complaint("predict", missing, tsv) == f"onlinecls predict: {missing}: No such file or directory"
    beginning = f"onlinecls predict: onlinecls.load: {tsv!r} must be a model that onlinecls could have saved, got"
    assert complaint("predict", tsv, tsv).startswith(beginning)
    for path in (empty, one):
        assert complaint("train", path, "--bits", "4") == (
            f"onlinecls train: {path}: must have an example of weight > 0, got none. There is no model.")
    vw = written(tmp_path, "vw", texts(5))
    assert complaint("predict", trained, vw) == (
        f"onlinecls predict: {vw}: the model has learnt from tsv, whose columns are not those of vw. Give it tsv.")
    assert complaint("train", vw, "--resume", trained).endswith("whose columns are not those of vw. Give it tsv.")


def test_a_model_without_metadata_of_hashing_refuses_texts(tmp_path, run, tsv):
    model, rows = str(tmp_path / "model"), tmp_path / "rows.svm"
    learner = AROWClassifier(fit_intercept=False).partial_fit([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], ["ham", "spam"])
    learner.save(model)
    code, out, err = run("predict", model, tsv)
    assert (code, out) == (1, "") and err.startswith("onlinecls predict: the model must say how its texts were hashed, got ")
    rows.write_text("1 0:2\n1 1:2\n")
    assert run("predict", model, rows) == (0, "spam\nham\n", "")


def test_a_model_with_strange_metadata_is_refused(tmp_path, run, trained, tsv):
    learner, metadata = learner_in(trained, return_metadata=True)
    good, model = metadata["input"], str(tmp_path / "model")
    strange = {"n_features": -1, "text": 1.5, "format": [], "header": 1, "dtype": "x", "features": [], "missing": "x", "new": 1}
    hashed = {"ngram_range": [1, 10**30], "analyzer": "x", "n_features": 2**60, "dtype": "(,)f4", "input": "filename", "new": 1}
    changes = [{name: value} for name, value in strange.items() if name != "n_features"]
    changes += [{"vectorizer": {**good["vectorizer"], name: value}} for name, value in hashed.items()]
    changes += [{"n_features": -1, "vectorizer": None}, {"vectorizer": {**good["vectorizer"], "ngram_range": [2, 1]}}]
    for change in changes:
        learner.save(model, {"input": {**good, **change}})
        code, _, err = run("predict", model, tsv)
        assert code == 1 and f"{model!r} must say in its metadata how its rows were read, got what train does not write" in err
    learner.save(model, {"input": {**good, "vectorizer": {**good["vectorizer"], "n_features": 2**9}}})
    assert "has 512 features, but AROWClassifier is expecting 1024" in run("predict", model, tsv)[2]


def test_a_one_class_model_is_refused(tmp_path, run, tsv):
    model = str(tmp_path / "model")
    PassiveAggressiveOneClass().partial_fit([[0.0, 1.0]]).save(model)
    message = f"onlinecls predict: {model!r} must be a classifier or a regressor, got PassiveAggressiveOneClass. "
    assert run("predict", model, tsv)[2].startswith(message)


# --- regression -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def prices(tmp_path):
    """Write texts whose target is the sum of a number for each word."""
    draw, words = random.Random(4), sorted({*WORDS["ham"], *WORDS["spam"]})
    worth = {word: draw.uniform(-2, 2) for word in words}
    rows = [[draw.choice(words) for _ in range(draw.randint(1, 6))] for _ in range(300)]
    return write_tsv(tmp_path / "prices.tsv", [(f"{sum(map(worth.get, row)):.3f}", " ".join(row)) for row in rows])


def rows_of(path):
    lines = [line.split("\t") for line in Path(path).read_text().splitlines()]
    X = HashingVectorizer(n_features=2**10, dtype="float32").transform([text for _, text in lines])
    return X, np.array([float(label) for label, _ in lines])


@pytest.mark.parametrize("name", REGRESSION_COMMANDS)
def test_numbers_are_learnt_and_predicted_as_in_python(prices, tmp_path, run, name):
    model, (X, y) = tmp_path / "model", rows_of(prices)
    options = ("--bits", 10, "--algorithm", name, "--json", "--save", model)
    code, out, _ = run("train", prices, *options, "--test", prices)
    algorithm, found = NAMED[name], json.loads(out)
    expected = getattr(onlinecls, algorithm.estimator)(**algorithm.selects, dtype="float32").partial_fit(X, y)
    np.testing.assert_array_equal(learner_in(model).coef_, expected.coef_)
    residuals = y - expected.predict(X)
    assert found["progressive_mse"] == expected.progressive_mse_ and found["progressive_mae"] == expected.progressive_mae_
    assert found["test_mse"] == pytest.approx(np.mean(residuals**2)) and found["test_examples"] == 300
    assert found["test_mae"] == pytest.approx(np.mean(np.abs(residuals)))
    assert code == 0 and not {"mistakes", "progressive_error", "test_error"} & found.keys()
    code, out, _ = run("predict", model, prices)
    assert code == 0 and [float(line) for line in out.splitlines()] == expected.predict(X).tolist()


def test_lines_show_mean_squared_and_absolute_errors(prices, run):
    _, _, err = run("train", prices, "--bits", 10, "--algorithm", "arow_regression", "--every", 100)
    X, y = rows_of(prices)
    assert err.splitlines()[1].split("  ")[-1].strip() == "features" and "mse  since last         mae" in err.splitlines()[1]
    before = 0.0
    for line, n in zip(err.splitlines()[2:5], (100, 200, 300), strict=True):
        learner = AROWRegressor(dtype="float32").partial_fit(X[:n], y[:n])
        squared = learner.progressive_mse_ * n
        shown = f"{squared / n:.5g} {(squared - before) / 100:.5g} {learner.progressive_mae_:.5g} {X[:n].nnz}"
        assert line.replace(",", "").split()[2:] == shown.split()
        before = squared
    assert f"300 examples, mse {squared / 300:.5g}, mae {learner.progressive_mae_:.5g}, " in err.splitlines()[-1]


def test_errors_beyond_1e140_count_as_1e140(tmp_path, run):
    path = tmp_path / "rows.svm"
    path.write_text("1e300 1:1\n-1e300 2:1\n1e300 3:1\n1e300 4:1\n")
    code, out, err = run("train", path, "--bits", 4, "--algorithm", "pa1_regression", "--json")
    assert code == 0
    assert json.loads(out)["progressive_mse"] == pytest.approx(1e280)
    assert json.loads(out)["progressive_mae"] == pytest.approx(1e140)
    assert "4 examples, mse 1e+280, mae 1e+140, " in err


def test_inspect_shows_what_raises_and_what_lowers_a_prediction(prices, tmp_path, run):
    model = tmp_path / "model"
    run("train", prices, "--bits", 16, "--algorithm", "arow_regression", "--save", model)
    found = json.loads(run("inspect", model, prices, "--json")[1])
    assert list(found["top"]) == ["lower predictions", "higher predictions"] and "classes" not in found
    assert len(found["top"]["lower predictions"]) == 10
    for direction, sign in (("lower predictions", -1), ("higher predictions", 1)):
        for word in found["top"][direction][:2]:
            X = HashingVectorizer(n_features=2**16, norm=None).transform([word["name"]])
            assert word["weight"] == pytest.approx((X @ learner_in(model).coef_)[0], rel=1e-6) and word["weight"] * sign > 0
            assert word["std"] == pytest.approx(learner_in(model).covariance_[word["column"]] ** 0.5)
    page = run("inspect", model)[1]
    assert f"300 examples, mse {learner_in(model).progressive_mse_:.5g}, mae " in page and "for higher predictions\n" in page
    for covariance in ("diagonal", "full"):
        X = [[0.0, 0.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 0.0]]
        learner = AROWRegressor(covariance=covariance).partial_fit(X, [0.0, 1.0, 2.0])
        learner.sparsify().save(model)
        top = json.loads(run("inspect", model, "--json")[1])["top"]
        assert [f["column"] for f in top["lower predictions"]] == [2] and top["higher predictions"][0]["name"] == "column 0"


def test_labels_that_do_not_fit_the_task_are_refused(prices, tmp_path, run):
    model = str(tmp_path / "model")
    tsv = write_tsv(tmp_path / "mail.tsv", [("ham", "lunch")])
    code, out, err = run("train", tsv, "--algorithm", "arow_regression", "--quiet", "--save", model)
    assert (code, out, err) == (1, "", (
        "onlinecls train: mail.tsv:1:1: expected a finite number for a label, got 'ham\\tlunch'. "
        "arow_regression learns numbers; for classes take a classifier, arow say.\n"))
    run("train", prices, "--bits", 10, "--algorithm", "arow_regression", "--save", model)
    assert run("train", tsv, "--resume", model, "--quiet")[2] == err
    assert run("predict", model, prices, "--scores")[2].splitlines()[-1] == (
        f"onlinecls predict: error: argument --scores: must be left out for {model!r}, whose predictions are numbers")


def test_help_has_examples_and_names_every_algorithm(run):
    for command in ("train", "predict", "evaluate", "inspect"):
        code, out, _ = run(command, "--help")
        assert code == 0 and "examples:\n  onlinecls " in out and "Exit codes: 0 done;" in out
    assert all(name in run("train", "--help")[1] for name in (*COMMANDS, *REGRESSION_COMMANDS))
    assert {NAMED[name].estimator for name in COMMANDS} == {"CommitteeClassifier", *(cls.__name__ for cls in CLASSIFIERS)}
    assert run("--help")[0] == 0 and run()[0] == 2 and run("learn")[0] == 2


# --- the bar --------------------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_and_the_lines(tsv, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert main(["train", tsv, "--bits", "10"]) == 0
    size = len(Path(tsv).read_bytes())
    shown = terminal.getvalue()
    assert "train:   0%|" in shown and f"/{size / 1000:.2f}k" in shown and "B/s" in shown and "         256 " in shown


def test_without_tqdm_a_terminal_gets_the_lines(tsv, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert main(["train", tsv, "--bits", "10"]) == 0
    assert "%|" not in terminal.getvalue() and "         256 " in terminal.getvalue()


def test_learning_texts_imports_nothing_that_takes_long(tsv):
    code = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        f"from {main.__module__} import main\n"
        "main(['train', sys.argv[1], '--quiet'])\n"
        "print(*set(sys.modules) - before)\n")
    loaded = subprocess.run([sys.executable, "-c", code, tsv], capture_output=True, text=True, check=True).stdout.split()
    assert "onlinecls.streams" in loaded
    assert not {"scipy", "numpy.ma", "hashlib", "concurrent.futures", "logging", "sklearn"}.intersection(loaded)


# --- as a process ---------------------------------------------------------------------------------------------------------------


def process(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


@pytest.mark.parametrize("arguments", [["--version"], ["train", "--help"], ["train"]], ids=" ".join)
def test_help_and_wrong_usage_are_answered_without_numpy(arguments):
    code = (
        "import os, sys\n"
        f"from {main.__module__} import main\n"
        "main(sys.argv[1:])\n"
        "print('numpy' in sys.modules, os.environ['OPENBLAS_NUM_THREADS'], file=sys.stderr)\n")
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment, check=True)
    assert done.stderr.endswith("False 1\n")  # (OpenBLAS reads it when numpy is imported)


def test_processes_read_standard_input_and_return_exit_codes(tsv, tmp_path):
    done = process("train", "-", "--bits", 10, "--json", "--save", tmp_path / "model", input=Path(tsv).read_text())
    assert done.returncode == 0 and json.loads(done.stdout)["examples"] == 300
    assert process("--version").stdout.startswith("onlinecls ")
    assert process("train", tmp_path / "missing").returncode == 1 and process("train").returncode == 2
    told = process("predict", tmp_path / "model", "-", input=Path(tsv).read_text())
    assert len(told.stdout.split()) == 300 and told.stderr == ""


def test_a_closed_output_pipe_ends_predict_silently_with_code_141(tmp_path, trained):
    path = write_tsv(tmp_path / "long.tsv", texts(2000) * 40)
    told = subprocess.Popen([*COMMAND, "predict", trained, path, "--scores"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert told.stdout.readline() == b"prediction\tspam\n"
    told.stdout.close()
    assert told.stderr.read() == b"" and told.wait(60) == 141
    told.stderr.close()


# --- kernel learners and OnlineToBatch ------------------------------------------------------------------------------------------


def saved_with_its_stream(learner, tsv, path):
    with read(tsv, n_features=2**10) as stream:
        for rows, labels, _ in stream:
            learner.partial_fit(rows, labels)
    learner.save(path, metadata=stream.metadata)
    return learner, [(rows, labels) for rows, labels, _ in read(tsv, n_features=2**10)]


@pytest.mark.parametrize("learner", [
    onlinecls.KernelOnlineClassifier(gamma=0.3, budget=30), onlinecls.OnlineToBatch(AROWClassifier(), "validation"),
    onlinecls.OnlineToBatch(AROWClassifier()), onlinecls.OnlineToBatch(onlinecls.KernelOnlineClassifier("pa"), "validation"),
], ids=repr)
def test_models_of_other_kinds_predict_and_are_evaluated(learner, tsv, tmp_path, run):
    model = str(tmp_path / "model")
    learner, ((X, y),) = saved_with_its_stream(learner, tsv, model)
    code, out, _ = run("predict", model, tsv, "--scores")
    lines = [line.split("\t") for line in out.splitlines()[1:]]
    assert code == 0 and [line[0] for line in lines] == learner.predict(X).tolist()
    assert [float(line[1]) for line in lines] == learner.decision_function(X).tolist()
    told = json.loads(run("evaluate", model, tsv, "--json")[1])
    assert (told["examples"], told["mistakes"]) == (300, int((learner.predict(X) != y).sum()))
    told = json.loads(run("inspect", model, "--json")[1])
    assert sum(told["classes"].values()) == told["examples"] == getattr(learner, "estimator_", learner).t_
    assert run("inspect", model)[0] == 0
    message = f"onlinecls train: {model!r} must be a linear learner to go on here, got {type(learner).__name__}. "
    assert run("train", tsv, "--resume", model)[2] == message + "Go on in Python: onlinecls.load, partial_fit.\n"


def test_a_kernel_regressor_predicts_and_one_of_kernel_values_is_refused(prices, tmp_path, run):
    model = str(tmp_path / "model")
    with read(prices, n_features=2**8, labels="number") as stream:
        X, y, _ = next(stream)
    learner = onlinecls.KernelOnlineRegressor("arow", kernel="linear").partial_fit(X, y)
    learner.save(model, metadata=stream.metadata)
    out = run("predict", model, prices)[1]
    assert list(map(float, out.split())) == learner.predict(X).tolist()
    assert json.loads(run("evaluate", model, prices, "--json")[1])["mse"] == pytest.approx(np.mean((learner.predict(X) - y) ** 2))
    assert json.loads(run("inspect", model, "--json")[1])["top"]["higher predictions"]
    G = (X @ X.T).toarray()
    onlinecls.KernelOnlineRegressor(kernel="precomputed").partial_fit(G, y).save(model)
    message = f"onlinecls predict: {model!r} must take rows, got a model of kernel values (kernel='precomputed')."
    assert run("predict", model, prices)[2] == f"{message} Use it in Python.\n"
