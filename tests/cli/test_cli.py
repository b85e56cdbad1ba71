"""The command line against the same learning in Python, and its messages."""

import gzip
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from internals import COMMANDS, REGRESSION_COMMANDS, learner_in
from mails import WORDS, texts, write_tsv, written
from states import fingerprint

import onlinecls
from onlinecls import AROWClassifier, PassiveAggressiveOneClass
from onlinecls.measures import Measures
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
    expected, vectorizer = in_python(tsv, AROWClassifier(r=0.5, dtype="float32"), **options)
    learner, result = learner_in(model), json.loads(out)
    assert (code, err) == (0, "") and repr(learner) == "AROWClassifier(r=0.5, dtype='float32')"
    np.testing.assert_array_equal(learner.coef_, expected.coef_)
    assert (result["examples"], result["mistakes"], result["updates"]) == (300, expected.n_mistakes_, expected.n_updates_)
    assert result["passes"] == 1 and not result["interrupted"] and result["model"] == str(model)
    X = vectorizer.transform([text for _, text in texts(300)])
    assert run("predict", model, tsv)[1].split() == expected.predict(X).tolist()
    lines = run("predict", model, tsv, "--scores")[1].splitlines()[1:]
    np.testing.assert_array_equal([float(line.split("\t")[1]) for line in lines], expected.decision_function(X))


@pytest.mark.parametrize("format", ["tsv", "fasttext", "csv", "jsonl", "parquet", "arrow", "svmlight", "vw"])
def test_every_format_is_learnt_resumed_predicted_and_evaluated(tmp_path, run, format):
    rows = texts(200)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    data = written(tmp_path, format, rows)
    parts = [written(tmp_path / "a", format, rows[:90]), written(tmp_path / "b", format, rows[90:])]
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert run("train", data, "--bits", 12, "--save", whole, "--quiet") == (0, "", "")
    assert run("train", parts[0], "--bits", 12, "--save", part, "--quiet")[0] == 0
    assert run("train", parts[1], "--resume", part, "--save", part, "--quiet") == (0, "", "")
    assert fingerprint(learner_in(part)) == fingerprint(learner_in(whole))
    code, out, err = run("predict", whole, data)
    assert (code, err) == (0, "") and set(out.split()) == ({"1", "-1"} if format in ("svmlight", "vw") else {"ham", "spam"})
    code, page, err = run("evaluate", whole, data)
    assert code == 0 and page.startswith("examples  200\n") and "log loss  - (the model gives no probabilities)" in page


@pytest.mark.parametrize("name", COMMANDS)
def test_every_algorithm_has_a_name(tmp_path, run, name):
    if "hedge" in name:
        return
    data = tmp_path / "positive.svm"
    data.write_text("".join(f"{k % 2} {1 + k % 2}:1 {3 + k % 5}:0.5\n" for k in range(60)))
    assert run("train", data, "--bits", 4, "--algorithm", name, "--save", tmp_path / "model", "--quiet") == (0, "", "")
    assert run("predict", tmp_path / "model", data)[1].split()[-1] in ("0", "1")


@pytest.mark.parametrize("name", REGRESSION_COMMANDS)
def test_numbers_are_learnt_and_predicted(tmp_path, run, name):
    draw, prices, model = random.Random(0), tmp_path / "prices.csv", tmp_path / "model"
    rows = [(draw.uniform(50, 200), draw.choice(["north", "south"])) for _ in range(300)]
    lines = [f"{3 * size + 40 * (side == 'south'):.2f},{size:.2f},{side}\n" for size, side in rows]
    prices.write_text("price,size,side\n" + "".join(lines))
    how = ("--label", "price", "--algorithm", name, "--dtype", "float64")
    code, out, err = run("train", prices, *how, "--save", model, "--json")
    result = json.loads(out)
    assert code == 0 and result["progressive_mse"] > 0.0 and "mae" in err
    predicted = np.array(run("predict", model, prices)[1].split(), float)
    loaded = onlinecls.load(model)
    with read([prices], label="price", labels="number") as stream:
        np.testing.assert_array_equal(np.concatenate([loaded.predict(batch.X) for batch in stream]), predicted)
    assert "mae" in run("evaluate", model, prices)[1]
    page = run("inspect", model, prices)[1]
    assert "for higher predictions" in page and "size" in page


def test_tables_weights_and_probabilities(tmp_path, run):
    path, model, draw = tmp_path / "t.csv", tmp_path / "model", random.Random(0)
    rows = [(draw.gauss(0, 1), draw.choice("xyz"), draw.choice([0, 1, 2])) for _ in range(500)]
    lines = [f"{'yes' if a + (c == 'x') > 0 else 'no'},{a:.3f},{c},2024-05-{1 + k % 28:02},{w}\n"
             for k, (a, c, w) in enumerate(rows)]
    path.write_text("label,a,c,day,w\n" + "".join(lines))
    assert run("train", path, "--weights", "w", "--probabilities", "--save", model, "--quiet") == (0, "", "")
    assert learner_in(model).t_ == sum(w > 0 for *_, w in rows)
    header, first, *_ = run("predict", model, path, "--probabilities", "--scores")[1].splitlines()
    assert header == "prediction\tyes\tp no\tp yes" and sum(map(float, first.split("\t")[2:])) == pytest.approx(1.0)
    first, *_ = run("predict", model, path, "--probabilities", "--json")[1].splitlines()
    assert json.loads(first)["probabilities"].keys() == {"no", "yes"}
    page = run("inspect", model)[1]
    assert "; a (number); c (text); day (date)" in page and "c=x" in page
    path.write_text("label,a,c,day,w\nyes,1.5,x,soon,1\n")
    assert "t.csv:2: expected a date in column 'day', as in the first rows, got 'soon'" in run("predict", model, path)[2]
    other = tmp_path / "o.tsv"
    other.write_text("yes\tsome words\n")
    assert "rows must be like those of csv that the model has learnt, got tsv" in run("predict", model, other)[2]
    assert "like those of tsv that the model has learnt, got csv" in run("train", other, other, "--test", path)[2]
    path.write_text("a,c,day\n1.5,x,2024-05-01\n")  # (without weights)
    assert run("predict", model, path) == (0, "yes\n", "")


def test_passes_test_files_and_malformed_lines(tsv, tmp_path, run):
    model = tmp_path / "model"
    code, out, err = run("train", tsv, "--bits", 10, "--passes", 3, "--test", tsv, "--json", "--save", model)
    learner, _ = in_python(tsv)
    result, first = json.loads(out), learner.n_mistakes_
    assert code == 0 and result["mistakes"] == first and result["passes"] == 3 and learner_in(model).t_ == 900
    assert result["test_examples"] == 300 and "test: 300 examples, " in err and "pass 3" in err
    with open(tsv, "a") as file:
        file.write("no tab\nham\tlunch\n")
    code, _, err = run("train", tsv, "--bits", 10)
    assert code == 1 and "mail.tsv:301:7: expected a tab between label and text" in err and "what was learnt is not saved" in err
    assert not json.loads(run("train", tsv, "--bits", 10, "--json", "--quiet")[1])["interrupted"]
    code, _, err = run("train", tsv, "--bits", 10, "--on-error", "skip")
    assert code == 0 and "301 examples" in err and "1 malformed line skipped; the last:\nmail.tsv:301:7:" in err


def test_texts_without_blanks_are_warned_of(tmp_path, run):
    path = tmp_path / "t.tsv.gz"
    path.write_bytes(gzip.compress("".join(f"{k % 2}\t你好世界{k}\n" for k in range(200)).encode()))
    assert "--analyzer char --ngrams 1 2" in run("train", path)[2]
    assert "blanks" not in run("train", path, "--analyzer", "char", "--ngrams", 1, 2)[2]


def test_what_was_learnt_before_an_error_is_saved(tsv, tmp_path, run, monkeypatch):
    model = tmp_path / "model"
    with open(tsv, "a") as file:
        file.write("no tab\n")
    assert run("train", tsv, "--bits", 10, "--save", model, "--quiet")[0] == 1
    assert learner_in(model).t_ == 300
    code, _, err = run("train", tsv, "--resume", model, "--save", model, "--on-error", "skip")
    assert code == 0 and "going on after 300 examples, after row 300" in err and learner_in(model).t_ == 300
    code, _, err = run("train", tsv, "--resume", model, "--save", model)
    assert code == 0 and "has learnt all of DATA, 1 times: there is nothing to learn" in err

    def no_memory(*_, **__):
        raise MemoryError("in the middle")

    monkeypatch.setattr(AROWClassifier, "partial_fit", no_memory)
    code, _, err = run("train", write_tsv(tmp_path / "new.tsv", texts(9)), "--resume", model, "--save", tmp_path / "other")
    assert code == 1 and "not enough memory (in the middle)" in err and learner_in(tmp_path / "other").t_ == 300


# --- predict, evaluate, inspect -------------------------------------------------------------------------------------------------


def test_evaluate_measures_the_predictions_of_the_model(tmp_path, run):
    draw, path, model = random.Random(1), tmp_path / "a.tsv", tmp_path / "model"
    path.write_text("".join(f"{draw.choice('abc')}\t{' '.join(draw.choices(WORDS['ham'], k=4))}\n" for _ in range(400)))
    assert run("train", path, "--bits", 8, "--probabilities", "--save", model, "--quiet")[0] == 0
    learner = onlinecls.load(model)
    measures = Measures(learner.classes_)
    y, rows = zip(*(line.split("\t") for line in path.read_text().splitlines()), strict=True)
    measures.update(y, learner.predict(rows), learner.decision_function(rows), learner.predict_proba(rows))
    found, page = json.loads(run("evaluate", model, path, "--json")[1]), run("evaluate", model, path)[1]
    assert (found["error"], found["log_loss"]) == pytest.approx((measures.error, measures.log_loss))
    assert f"error     {100 * found['error']:.2f} %" in page and "most confused: true, predicted, examples" in page


def test_evaluate_refuses_a_file_none_of_whose_labels_is_the_models(tmp_path, run, trained):
    path = write_tsv(tmp_path / "b.tsv", [("Ham", "lunch"), ("Spam", "win")])
    assert "got none of them, but Ham, Spam" in run("evaluate", trained, path)[2]
    path = write_tsv(tmp_path / "b.tsv", [("ham", "lunch"), ("other", "win")])
    assert json.loads(run("evaluate", trained, path, "--json")[1])["classes"]["other"]["recall"] == 0.0


def test_inspect_shows_words_with_their_confidence(tsv, run, trained):
    page = run("inspect", trained, tsv)[1]
    assert "for ham" in page and "for spam" in page and "±" in page and any(word in page for word in WORDS["spam"])
    assert "The model keeps no words" in run("inspect", trained)[1] and "column " in run("inspect", trained)[1]
    found = json.loads(run("inspect", trained, "--json")[1])
    assert found["classes"].keys() == {"ham", "spam"} and found["input"]["format"] == "tsv" and found["top"]["ham"]


# --- messages -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, complaint", [
    (["train", "a.tsv", "--param", "r=-1"], "argument --param: AROWClassifier: r must be"),
    (["train", "a.tsv", "--param", "q=1"], "argument --param: must be NAME=VALUE, for arow with one of r, r1"),
    (["train", "a.tsv", "--bits", "41"], "argument --bits: must be an integer in 1..31, got '41'"),
    (["train", "a.tsv", "--save-every", "9"], "argument --save-every: must have --save"),
    (["train", "a.tsv", "--algorithm", "arow_regression", "--probabilities"], "argument --probabilities: must be left out"),
    (["train", "-", "--passes", "2"], "argument --passes: must be 1 for standard input"),
    (["train", "a.tsv", "--resume", "m", "--bits", "9"], "argument --bits: must be left out with --resume"),
    (["train", "a.tsv", "--save", os.devnull], "argument --save: must be a file in a folder"),
    (["train"], "the following arguments are required: DATA"), (["fly"], "invalid choice: 'fly'"),
])
def test_wrong_usage_is_one_line_and_a_pointer_to_the_help(run, arguments, complaint):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and complaint in err and err.endswith(" --help.\n") and err.count("\n") == 1


def test_errors_about_files_name_the_file(tmp_path, run, trained, tsv):
    assert run("train", tmp_path / "absent.tsv")[2].endswith("absent.tsv: No such file or directory\n")
    PassiveAggressiveOneClass().partial_fit([[1.0]]).save(tmp_path / "one")
    for model, message in ((tsv, "could have saved"), (tmp_path / "one", "must be a classifier or a regressor")):
        assert message in run("predict", model, tsv)[2]
    (tmp_path / "empty.tsv").write_text("")
    assert "must have an example of weight > 0, got none" in run("train", tmp_path / "empty.tsv")[2]
    assert "must have an example, got none" in run("evaluate", trained, tmp_path / "empty.tsv")[2]
    learner, metadata = onlinecls.load(trained, return_metadata=True)
    learner.save(tmp_path / "strange", {"input": {**metadata["input"], "format": "xml"}})
    assert "metadata must describe how rows were read" in run("predict", tmp_path / "strange", tsv)[2]


def test_learning_texts_imports_nothing_that_takes_long(tsv):
    script = f"import sys; from onlinecls._cli import main; main(['train', {tsv!r}, '--quiet']); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={
        **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}).stdout.split()
    assert not {"pandas", "sklearn", "pyarrow", "scipy.stats", "matplotlib", "onlinecls.tables"} & set(found)
