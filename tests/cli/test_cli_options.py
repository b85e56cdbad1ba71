"""Options of the command line except for pipes and tables: classes, words, evaluation, memory, messages."""

import json
import re

import numpy as np
import pytest
from internals import learner_in
from mails import WORDS, texts, write_tsv, written

from onlinecls import AROWClassifier
from onlinecls.streams import read
from onlinecls.text import HashingVectorizer


@pytest.fixture
def tsv(tmp_path):
    return write_tsv(tmp_path / "mail.tsv", texts(300))


def in_python(path, learner, classes=None, **options):
    with read(path, vectorizer=HashingVectorizer(n_features=2**10, dtype="float32", **options)) as stream:
        for X, y, _ in stream:
            learner.partial_fit(X, y, classes=classes)
    return learner


# --- learners -------------------------------------------------------------------------------------------------------------------


def test_classes_of_the_option_are_known_before_the_first_row(tsv, tmp_path, run):
    model = tmp_path / "model"
    assert run("train", tsv, "--bits", 10, "--classes", "spam,ham,later", "--save", model, "--quiet")[0] == 0
    expected = in_python(tsv, AROWClassifier(dtype="float32"), ["ham", "later", "spam"])
    assert learner_in(model).classes_.tolist() == ["ham", "later", "spam"]
    np.testing.assert_array_equal(learner_in(model).coef_, expected.coef_)
    code, _, err = run("train", tsv, "--bits", 10, "--classes", "ham,other", "--quiet")
    assert code == 1 and "'spam'" in err
    for label, weights in (("1,-1", {}), ("-1,1", {"--param": "class_weight=1:2,-1:0.5"})):
        svm = tmp_path / "a.svm"
        svm.write_text("1 1:1\n-1 2:1\n" * 5)
        arguments = [each for pair in weights.items() for each in pair]
        assert run("train", svm, "--bits", 4, f"--classes={label}", *arguments, "--save", model, "--quiet")[0] == 0
        assert learner_in(model).classes_.tolist() == [-1, 1]
    assert learner_in(model).class_weight == {1.0: 2, -1.0: 0.5}
    code, _, err = run("train", svm, "--classes", "1,2", "--quiet")
    assert code == 1 and "-1" in err


def test_labels_of_svmlight_and_vw_may_be_texts(tmp_path, run):
    for name, lines in (("a.svm", "ham 1:1\nspam 2:1\n"), ("a.vw", "ham | a\nspam 2 | b\n")):
        data, model = tmp_path / name, tmp_path / "model"
        data.write_text(lines * 9)
        assert run("train", data, "--bits", 6, "--save", model, "--quiet")[0] == 0
        assert run("predict", model, data)[1].split() == ["ham", "spam"] * 9
        assert run("train", data, "--resume", model, "--save", model, "--quiet")[0] == 0
        assert json.loads(run("evaluate", model, data, "--json")[1])["error"] == 0.0
        data.write_text("1" + lines[3:])
        code, _, err = run("train", data, "--bits", 6, "--quiet")
        assert code == 1 and "expected a finite number for a label, got 'spam" in err
        assert run("train", data, "--bits", 6, "--quiet", "--classes", "1,spam")[0] == 0


def test_rows_of_tables_that_cannot_be_learnt_are_malformed_lines(tmp_path, run):
    model, data = tmp_path / "model", tmp_path / "a.jsonl"
    odd = ["1e999", "-Infinity", "1e200", "[1, 1e999]", "1" + "0" * 200]
    labels = "xy" + "y" * len(odd) + "x"
    rows = [f'{{"label": "{label}", "a": {value}}}' for label, value in zip(labels, [1, 2, *odd, 3], strict=True)]
    data.write_text("\n".join(rows) + "\n")
    code, _, err = run("train", data, "--save", model, "--quiet")
    assert code == 1 and not model.exists() and err.startswith("onlinecls train: a.jsonl:3: TableVectorizer: ") and "'a'" in err
    skipping = ("--on-error", "skip", "--quiet")
    found = json.loads(run("train", data, "--save", model, *skipping, "--json")[1])
    assert (found["examples"], found["skipped"]) == (3, len(odd)) and learner_in(model).t_ == 3
    for path in (model, tmp_path / "resumed"):
        assert run("train", data, "--resume", model, "--save", path, *skipping)[0] == 0
    assert run("predict", model, data, *skipping)[1].split()[2:-1] == ["NA"] * len(odd)
    code, _, err = run("predict", model, data)
    assert code == 1 and err.startswith("onlinecls predict: a.jsonl:3: TableVectorizer: ")
    assert json.loads(run("evaluate", model, data, *skipping, "--json")[1])["examples"] == 3


def test_class_weights_are_read_from_param(tsv, tmp_path, run):
    model = tmp_path / "model"
    assert run("train", tsv, "--bits", 10, "--param", "class_weight=spam:5,ham:0.5", "--save", model, "--quiet")[0] == 0
    expected = in_python(tsv, AROWClassifier(class_weight={"spam": 5, "ham": 0.5}, dtype="float32"))
    np.testing.assert_array_equal(learner_in(model).coef_, expected.coef_)
    assert "--param class_weight must be finite and >= 0" in run("train", tsv, "--param", "class_weight=spam:-1", "--quiet")[2]


# --- words ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["tsv", "csv", "jsonl", "parquet"])
def test_the_analyzer_applies_to_every_format_of_texts(tmp_path, run, format):
    data, model = written(tmp_path, format, texts(100)), tmp_path / "model"
    same = {"analyzer": "char", "ngram_range": (2, 3)}
    assert run("train", data, "--bits", 10, "--analyzer", "char", "--ngrams", 2, 3, "--save", model, "--quiet")[0] == 0
    expected = in_python(write_tsv(tmp_path / "same.tsv", texts(100)), AROWClassifier(dtype="float32"), **same)
    np.testing.assert_array_equal(learner_in(model).coef_, expected.coef_)
    said = run("predict", model, data)[1].split()
    with read(tmp_path / "same.tsv", vectorizer=HashingVectorizer(n_features=2**10, **same)) as stream:
        assert said == np.concatenate([expected.predict(X.astype(np.float32)) for X, _, _ in stream]).tolist()


@pytest.mark.parametrize("format", ["vw", "jsonl"])
def test_names_of_vw_and_json_lines_are_shown(tmp_path, run, format):
    data, model = tmp_path / f"a.{format}", tmp_path / "model"
    rows = [("spam", {"title^cheap": 1, "title^pills": 1}), ("ham", {"title^lunch": 1, "body^noon": 1})] * 20
    if format == "vw":
        data.write_text("".join(
            f"{label} {' '.join('|' + name.replace('^', ' ') for name in features)}\n" for label, features in rows))
    else:
        data.write_text("".join(json.dumps({"label": label, "features": features}) + "\n" for label, features in rows))
    assert run("train", data, "--bits", 16, "--save", model, "--quiet")[0] == 0
    top = json.loads(run("inspect", model, data, "--json")[1])["top"]
    assert {each["name"] for each in top["spam"]} == {"title^cheap", "title^pills"}


# --- evaluate -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [("ham", "spam"), ("ham", "spam", "news")])
def test_evaluate_agrees_with_scikit_learns_metrics(tmp_path, run, labels):
    metrics = pytest.importorskip("sklearn.metrics")
    words = {**WORDS, "news": "election market report a project".split()}
    draw = np.random.default_rng(0)
    rows = [
        (label, " ".join(draw.choice(words[label if draw.random() < 0.6 else str(draw.choice(labels))]) for _ in range(3)))
        for label in draw.choice(labels, 900).tolist()
    ]
    data, model, new = write_tsv(tmp_path / "a.tsv", rows[:300]), tmp_path / "model", write_tsv(tmp_path / "b.tsv", rows[300:])
    assert run("train", data, "--bits", 10, "--save", model, "--quiet")[0] == 0
    told = json.loads(run("evaluate", model, new, "--json", "--quiet")[1])
    learner = learner_in(model)
    X = HashingVectorizer(n_features=2**10, dtype="float32").transform([text for _, text in rows[300:]])
    y, said, scores = [label for label, _ in rows[300:]], learner.predict(X), learner.decision_function(X)
    assert told["examples"] == 600 and told["error"] == pytest.approx(1 - metrics.accuracy_score(y, said))
    assert told["f1"] == pytest.approx(metrics.f1_score(y, said, average="macro"))
    report = metrics.classification_report(y, said, output_dict=True)
    for label in labels:
        for name in ("precision", "recall"):
            assert told["classes"][label][name] == pytest.approx(report[label][name])
        assert told["classes"][label]["f1"] == pytest.approx(report[label]["f1-score"])
    confusion = [[told["confusion"][true][guess] for guess in learner.classes_] for true in learner.classes_]
    assert confusion == metrics.confusion_matrix(y, said, labels=learner.classes_).tolist()
    if len(labels) == 2:
        truth = [label == "spam" for label in y]
        area = metrics.roc_auc_score(truth, scores)
    else:
        truth = np.array(y)[:, None] == learner.classes_
        area = metrics.roc_auc_score(truth, scores)
    assert told["auc"] == pytest.approx(area, abs=1e-4)
    page = run("evaluate", model, new)[1]
    assert f"AUC       {told['auc']:.4f}\n" in page and f" {100 * told['error']:.2f} % ({told['mistakes']} mistakes)" in page


def test_evaluate_counts_unknown_labels_as_mistakes(tsv, tmp_path, run):
    model, new = tmp_path / "model", write_tsv(tmp_path / "new.tsv", [*texts(20, 4), ("later", "on the train")])
    run("train", tsv, "--bits", 10, "--save", model, "--quiet")
    told = json.loads(run("evaluate", model, new, "--json")[1])
    assert told["classes"]["later"] == {"examples": 1, "predicted": 0, "precision": None, "recall": 0.0, "f1": 0.0}
    assert sum(told["confusion"]["later"].values()) == 1 and told["mistakes"] >= 1
    empty = tmp_path / "empty.tsv"
    empty.write_text("")
    assert "must have an example, got none. There is nothing to evaluate." in run("evaluate", model, empty)[2]
    numbers = tmp_path / "a.svm"
    numbers.write_text("1 1:2\n")
    assert run("evaluate", model, numbers)[0] == 1


@pytest.mark.parametrize("spelled", [("1.0", "0.0"), ("true", "false"), ('"yes"', '"no"')])
def test_evaluate_refuses_a_file_none_of_whose_labels_is_the_model_s(spelled, tmp_path, run):
    model, data, other = tmp_path / "m", tmp_path / "a.csv", tmp_path / "b.jsonl"
    data.write_text("label,x\n" + "1,2.5\n0,-1.5\n" * 20)
    other.write_text("".join(f'{{"label": {spelled[k % 2]}, "x": {2.5 - 4 * (k % 2)}}}\n' for k in range(8)))
    assert run("train", data, "--save", model, "--quiet")[0] == 0
    assert "0.00 %" in run("evaluate", model, data)[1]
    code, out, err = run("evaluate", model, other)
    assert (code, out) == (1, "") and "a label must be one of the model's (0, 1), got none of them, but " in err


@pytest.mark.parametrize("spelled", [("1.0", "0.0"), ("true", "false")])
def test_labels_none_of_which_is_the_model_s_are_told_where_it_goes_on(spelled, tmp_path, run):
    """They would be classes of their own: 0, 1, false and true."""
    model, data, other = tmp_path / "m", tmp_path / "a.csv", tmp_path / "b.csv"
    data.write_text("label,x\n" + "1,2.5\n0,-1.5\n" * 20)
    other.write_text("label,x\n" + f"{spelled[0]},2.5\n{spelled[1]},-1.5\n" * 20)
    assert run("train", data, "--save", model, "--quiet")[2] == "" == run("train", data, "--resume", model, "--quiet")[2]
    code, _, err = run("train", other, "--resume", model, "--quiet")
    assert code == 0 and "labels should be the model's (0, 1), got none of them in the first 40 rows, but " in err


def test_predict_prints_the_probabilities_of_the_model(tsv, tmp_path, run):
    model = tmp_path / "model"
    run("train", tsv, "--bits", 10, "--save", model, "--quiet")
    code, _, err = run("predict", model, tsv, "--probabilities")
    assert code == 2 and "argument --probabilities: must have a model that gives probabilities" in err
    assert json.loads(run("evaluate", model, tsv, "--json")[1])["log_loss"] is None
    run("train", tsv, "--bits", 10, "--probabilities", "--save", model, "--quiet")
    header, *lines = run("predict", model, tsv, "--probabilities")[1].splitlines()
    assert header == "prediction\tp ham\tp spam" and len(lines) == 300
    found = np.array([line.split("\t")[1:] for line in lines], float)
    assert found.sum(axis=1) == pytest.approx(np.ones(300))
    right = [p[["ham", "spam"].index(label)] for p, (label, _) in zip(found, texts(300), strict=True)]
    assert json.loads(run("evaluate", model, tsv, "--json")[1])["log_loss"] == pytest.approx(-np.mean(np.log(right)))


def test_a_model_that_does_not_fit_is_refused_before_it_is_allocated(tsv, run):
    code, out, err = run("train", tsv, "--bits", 40, "--quiet")
    assert (code, out) == (1, "") and "columns (--bits) must be an int in 1..2147483648, got" in err
    many = ("--classes", ",".join(["ham", "spam", *(f"c{k}" for k in range(200000))]))
    assert "the model must fit in memory, got 200002 classes x 1,048,576 columns (--bits), " in run("train", tsv, *many)[2]


# --- wrong usage ----------------------------------------------------------------------------------------------------------------


def test_an_option_with_many_values_leaves_the_data_alone(tsv, tmp_path, run):
    test = write_tsv(tmp_path / "test.tsv", texts(20, 4))
    code, out, err = run("train", "--test", test, tsv)
    assert (code, out) == (2, "") and err.startswith("usage: onlinecls train ")
    assert err.endswith(
        f"error: DATA must be given, got only --test {test} {tsv}. Put DATA before --test, or write --test={test} for each "
        "file.\n")
    _, out, _ = run("train", f"--test={test}", f"--test={tsv}", tsv, "--bits", 10, "--json", "--quiet")
    assert json.loads(out)["test_examples"] == 320


# --- messages of errors ---------------------------------------------------------------------------------------------------------


def test_messages_name_options_instead_of_python_parameters(tmp_path, run, tsv):
    model = tmp_path / "model"
    run("train", tsv, "--bits", 10, "--save", model, "--quiet")
    broken = {
        "a.tsv": "no tab\n", "b.svm": "1 5000000:1\n", "c.svm": "1 1:1 x\n", "d.vw": "| a\n", "e": "what is this\n",
        "f.csv": "y,text\nx,a\n", "g.jsonl": '{"label": 1}\n',
        "i.tsv": "a\t" + "x" * (1 << 24) + "\n",
        "k.parquet": "PAR1", "l.csv": 'label,text\nx,"a"b\n', "m.tsv": "ham\t\udcff\n",
    }
    python = re.compile(r"\w+=(False|True|None|'|\d)|max_line_bytes|n_features|zero_based|Give format=|\bread: |csv\.field")
    for name, text in broken.items():
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        for arguments in (("train", path, "--quiet"), ("evaluate", model, path)):
            code, out, err = run(*arguments)
            assert (code, out) == (1, "")
            assert not python.search(err), err
    for name, options, words in (
        ("f.csv", ("--delimiter", ";;"), "--delimiter must be one character or 'auto', got ';;'."),
        ("d.vw", ("--format", "vw", "--bits", 33), "--bits"),
        ("b.svm", (), "b.svm:1:3: expected an index < columns (--bits), got '5000000:1'"),
        ("d.vw", (), "before '|', got '| a'"),
        ("e", (), "Give --format one of 'svmlight', "),
    ):
        code, _, err = run("train", tmp_path / name, *options, "--quiet")
        assert code == 1 and words in err and not python.search(err), err


# --- what predict prints --------------------------------------------------------------------------------------------------------


@pytest.fixture
def three(tmp_path, run):
    """A model of three classes without probabilities, its data, and its rows in Python."""
    path, model = tmp_path / "three.tsv", tmp_path / "three.model"
    rows = texts(90) + [("third", f"kind of {k} words") for k in range(30)]
    write_tsv(path, rows)
    assert run("train", path, "--bits", 10, "--save", model, "--quiet")[0] == 0
    X = HashingVectorizer(n_features=2**10, dtype="float32").transform([text for _, text in rows])
    return path, model, learner_in(model), X


def test_json_has_what_the_columns_have(three, tmp_path, run):
    gap, model = tmp_path / "gap.tsv", three[1]
    gap.write_text("ham\tone\n\nham\ttwo\n")
    for arguments in ((), ("--scores",)):
        _, out, _ = run("predict", model, gap, *arguments)
        lines = [line.split("\t") for line in out.splitlines()][bool(arguments) :]
        found = [json.loads(line) for line in run("predict", model, gap, *arguments, "--json")[1].splitlines()]
        assert [each["prediction"] for each in found] == [lines[0][0], None, lines[2][0]], arguments
        assert found[1] == {"prediction": None}
        scores = found[0].get("scores", {})
        assert [repr(value) for value in scores.values()] == lines[0][1:]
        assert list(scores) == ["ham", "spam", "third"] * bool(scores)
