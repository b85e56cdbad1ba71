"""Options of the command line except for pipes and tables: classes, words, evaluation, memory, messages."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from contracts import memory_of
from internals import learner_in
from mails import WORDS, texts, write_tsv, written

import onlinecls
from onlinecls import AROWClassifier
from onlinecls.measures import ClassificationMeasures
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


def test_labels_of_other_tasks_are_learnt_only_where_asked_for(tmp_path, run):
    model, data = tmp_path / "model", tmp_path / "a.vw"
    for lines in (
        "1:0:0.5 | a b\n2:1:0.3 | c d\n", "3 | a\n1,2 | b\n", "ham | a\n1 | b\n", "a | a\n? | b\n", "shared | a\n| b\n1 | c\n",
    ):
        data.write_text(lines)
        code, out, err = run("train", data, "--quiet")
        assert (code, out) == (1, "") and "; --labels str takes any text for a label" in err, err
        data.write_text(lines.replace("\n| b", ""))
        assert run("train", data, "--bits", 6, "--labels", "str", "--save", model, "--quiet")[0] == 0
        assert learner_in(model).classes_.dtype.kind == "U"
    code, _, err = run("train", data, "--algorithm", "arow_regression", "--quiet")
    assert code == 1 and "arow_regression learns numbers" in err and "labels" not in err
    assert run("train", data, "--algorithm", "arow_regression", "--labels", "str")[0] == 2
    assert run("train", data, "--resume", model, "--labels", "str")[0] == 2
    data.write_text("ham | a\nspam | b\n")
    assert run("train", data, "--bits", 6, "--save", model, "--quiet")[0] == 0
    for odd in ("1:0:0.5", "1,2", "nan", "1"):  # a model of names gets no classes that are none
        data.write_text(f"ham | a\n{odd} | b\n")
        for command in (("train", data, "--resume", model, "--quiet"), ("evaluate", model, data)):
            code, _, err = run(*command)
            assert code == 1 and " for a label, " in err and "--labels" not in err and "labels=" not in err, err


def test_rows_of_tables_that_cannot_be_learnt_are_malformed_lines(tmp_path, run):
    model, data, told = tmp_path / "model", tmp_path / "a.jsonl", tmp_path / "told"
    odd = ["1e999", "-Infinity", "1e200", "[1, 1e999]", '[{"b": 1}]', "1" + "0" * 200]
    labels = "xy" + "y" * len(odd) + "x"
    rows = [f'{{"label": "{label}", "a": {value}}}' for label, value in zip(labels, [1, 2, *odd, 3], strict=True)]
    data.write_text("\n".join(rows) + "\n")
    code, _, err = run("train", data, "--save", model, "--quiet")
    assert code == 1 and not model.exists() and err.startswith("onlinecls train: a.jsonl:3: TableVectorizer: ") and "'a'" in err
    skipping = ("--on-error", "skip", "--quiet")
    found = json.loads(run("train", data, "--save", model, *skipping, "--json", "--predictions", told)[1])
    assert (found["examples"], found["skipped"]) == (3, len(odd)) and learner_in(model).t_ == 3
    assert told.read_text().split()[2:-1] == ["NA"] * len(odd) and len(told.read_text().split()) == len(rows)
    for path in (model, tmp_path / "resumed"):
        assert run("train", data, "--resume", model, "--save", path, *skipping)[0] == 0
    assert run("predict", model, data, *skipping)[1].split()[2:-1] == ["NA"] * len(odd)
    code, _, err = run("predict", model, data)
    assert code == 1 and err.startswith("onlinecls predict: a.jsonl:3: TableVectorizer: ")
    assert json.loads(run("evaluate", model, data, *skipping, "--json")[1])["examples"] == 3


def test_a_model_that_cannot_be_told_other_spellings_is_not_to_be_told_them(tmp_path, run):
    model, data = tmp_path / "model", tmp_path / "a.csv"
    data.write_text("label;x\n" + "a;1,25\nb;2,50\n" * 9)
    assert "--decimal , reads it as that" in run("train", data, "--save", model, "--quiet")[2]
    assert run("train", data, "--decimal", ",", "--save", model, "--quiet") == (0, "", "")
    data.write_text("label;x\n" + "a;1.25\nb;2.50\n" * 9)
    for command in (["predict", model, data], ["train", data, "--resume", model]):
        code, _, err = run(*command, "--quiet")
        said = "which looks like a number with a decimal point, unlike what the model has learnt from. Convert it.\n"
        assert code == 0 and said in err and "--decimal" not in err, err


def test_what_values_look_like_is_told_in_terms_of_options(tmp_path, run):
    """Days of digits, units, and zones that may be one of several; a prediction tells none of what learning has told."""
    model, data = tmp_path / "model", tmp_path / "a.csv"
    data.write_text("label,day,size,at\n" + "a,20240525,5 kg,2024-05-25 10:30 CST\nb,20240526,7 kg,2024-05-26 10:30 IST\n" * 9)
    code, _, err = run("train", data, "--save", model, "--quiet")
    assert code == 0 and len(err.splitlines()) == 3
    assert "'20240525' in row 0, which looks like a date of digits: --dates day=%Y%m%d reads it as that.\n" in err
    assert "a number with a unit: without the unit it is read as that, --categories size as a name.\n" in err
    assert run("predict", model, data) == (0, "a\nb\n" * 9, "")
    said = ("--dates", "day=%Y%m%d", "--categories", "size", "--ignore", "at")
    assert run("train", data, *said, "--save", model, "--quiet") == (0, "", "")


def test_class_weights_are_read_from_param(tsv, tmp_path, run):
    model = tmp_path / "model"
    assert run("train", tsv, "--bits", 10, "--param", "class_weight=spam:5,ham:0.5", "--save", model, "--quiet")[0] == 0
    expected = in_python(tsv, AROWClassifier(class_weight={"spam": 5, "ham": 0.5}, dtype="float32"))
    np.testing.assert_array_equal(learner_in(model).coef_, expected.coef_)
    assert "--param class_weight must be finite and >= 0" in run("train", tsv, "--param", "class_weight=spam:-1", "--quiet")[2]


# --- words ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["tsv", "csv", "jsonl", "parquet"])
def test_analyzer_and_token_pattern_apply_to_every_format_of_texts(tmp_path, run, format):
    data, model = written(tmp_path, format, texts(100)), tmp_path / "model"
    for options, same in (
        (("--token-pattern", r"\w+"), {"token_pattern": r"\w+"}), (("--token-pattern", "[a-e]+"), {"token_pattern": "[a-e]+"}),
        (("--analyzer", "char", "--ngrams", 2, 3), {"analyzer": "char", "ngram_range": (2, 3)}),
    ):
        assert run("train", data, "--bits", 10, *options, "--save", model, "--quiet")[0] == 0
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
    assert told["average_precision"] == pytest.approx(metrics.average_precision_score(truth, scores), abs=1e-3)
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
    assert run("train", data, "--labels", "str", "--save", model, "--quiet")[0] == 0
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


def test_columns_that_options_name_are_told_where_there_are_none(tmp_path, run):
    data = tmp_path / "a.jsonl"
    data.write_text('{"label": "p", "x": 1, "u": {"day": "05.01.24", "n": 3}}\n' * 20)
    dates = "u.day=%d.%m.%y"
    assert run("train", data, "--dates", dates, "--log", "x,u.n", "--quiet")[2] == ""
    for options in (("--dates", f"{dates},daz=%d, %Y"), ("--dates", dates, "--log", "daz")):
        code, _, err = run("train", data, *options, "--quiet")
        assert code == 0 and f"no column in the first rows is called 'daz', which {options[-2]} names" in err


def test_lines_that_are_skipped_are_told_in_terms_of_options(tmp_path, run):
    data = tmp_path / "a.jsonl"
    data.write_text('{"label": "p", "x": 1}\n{"label": "q", "x": [{"y": 1}]}\n')
    err = run("train", data, "--on-error", "skip")[2]
    assert "in column 'x'. Name the column in --ignore to leave it out." in err


@pytest.mark.parametrize("options", [(), ("--numbers", "raw"), ("--text", "t")])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_evaluate_does_not_read_the_weights_of_training(format, options, tmp_path, run):
    """Rows count alike in its measures: what is measured may have no such column, or anything in it."""
    rows, paths = [{"label": "ab"[k % 2], "t": f"{k % 2}", "w": 1 + k % 3} for k in range(40)], []
    for change in (lambda row: row, lambda row: {"label": row["label"], "t": row["t"]}, lambda row: {**row, "w": "-"}):
        found = [change(row) for row in rows]
        lines = [",".join(found[0]), *(",".join(map(str, row.values())) for row in found)]
        paths.append(tmp_path / f"{len(paths)}.{format}")
        paths[-1].write_text("\n".join(lines if format == "csv" else map(json.dumps, found)) + "\n")
    model, said = tmp_path / "m.model", set()
    for path in paths:
        code, out, err = run("train", paths[0], "--weights", "w", *options, "--save", model, "--quiet", "--test", path, "--json")
        assert (code, err) == (0, "") and json.loads(out)["test_examples"] == 40
        code, out, err = run("evaluate", model, path, "--json")
        assert (code, err) == (0, "")
        said.add(out)
    assert len(said) == 1


def test_evaluate_takes_memory_for_the_pairs_of_labels_that_occur(tsv, tmp_path, run, monkeypatch):
    model, many = tmp_path / "model", [(f"l{k}", f"w{k}") for k in range(5_000)]
    run("train", tsv, "--bits", 10, "--save", model, "--quiet")
    new = write_tsv(tmp_path / "new.tsv", [*many, next(each for each in texts(20, 4) if each[0] == "ham")])
    (_, page, _), peak, _ = memory_of(lambda: run("evaluate", model, new))
    assert peak < 60e6  # (a matrix of all labels: 200 MB)
    assert "error     99.98 % (5,000 mistakes)" in page and len(page.splitlines()) > 10_000
    new = write_tsv(tmp_path / "new.tsv", many)
    run("train", new, "--bits", 4, "--save", model, "--quiet")
    confusion = json.loads(run("evaluate", model, new, "--json")[1])["confusion"]
    assert len(confusion) == 5_000 and {sum(row.values()) for row in confusion.values()} == {1} and len(confusion["l7"]) == 1

    def update(*_):
        raise MemoryError("Unable to allocate 4.5 GiB")

    monkeypatch.setattr(ClassificationMeasures, "update", update)
    words = "not enough memory (Unable to allocate 4.5 GiB). Free some, or run the command on a machine with more.\n"
    assert run("evaluate", model, new, "--quiet")[2].endswith(words)


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


# --- memory ---------------------------------------------------------------------------------------------------------------------


def test_a_model_that_does_not_fit_is_refused_before_it_is_allocated(tmp_path, tsv, run):
    code, out, err = run("train", tsv, "--bits", 40, "--quiet")
    assert (code, out) == (1, "") and re.search(
        r"--bits: the model must fit in memory, got 2 classes x 1,099,511,627,776 columns, [\d,.]+ GB, "
        r"where [\d,.]+ GB are free\. --bits \d+ would fit\.", err)
    many = ("--classes", ",".join(f"c{k}" for k in range(200000)))
    assert "200000 classes x 1,048,576 columns" in run("train", tsv, *many, "--bits", 20, "--quiet")[2]


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


def test_options_about_namespaces_are_kept_in_the_model(run, tmp_path, monkeypatch):
    """Products and n-grams make the label learnable, and every command makes them of a model's rows."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{1 if (k * 7 % 5 < 2) == (k % 3 < 1) else -1} |user u{k * 7 % 5} |ad a{k % 3} |noise {k}" for k in range(300)]
    Path("a.vw").write_text("\n".join(lines) + "\n")
    options = ("-q", "ua", "--ngram", "a2", "--ignore", "n", "--noconstant", "--bits", 12, "--quiet")
    assert run("train", "a.vw", "--save", "whole", "--passes", 2, *options)[0] == 0
    assert run("train", "a.vw", "--save", "half", *options)[0] == 0
    assert run("train", "a.vw", "--save", "both", "--resume", "half", "--quiet")[0] == 0
    learner, both = onlinecls.load("whole"), onlinecls.load("both")
    assert not learner.fit_intercept and learner.n_features_in_ == 2**12 and np.array_equal(learner.coef_, both.coef_)
    assert np.count_nonzero(learner.coef_) == 5 + 3 + 15
    assert json.loads(run("evaluate", "whole", "a.vw", "--json")[1])["error"] == 0.0
    assert run("predict", "whole", "a.vw")[1].split() == [line.split()[0] for line in lines]
    page = run("inspect", "whole", "a.vw")[1]
    assert "user^u0*ad^a0" in page and "rows       from vw; interactions ['ua']; ngrams {'a': 2}; ignore n\n" in page
    Path("b.tsv").write_text("1\ta b\n")
    assert "b.tsv: the model has learnt from namespaces of vw, got none. Give it vw." in run("predict", "whole", "b.tsv")[2]
    code, _, err = run("train", "a.vw", "--resume", "half", "--keep", "u")
    assert code == 2 and "argument --keep: must be left out with --resume" in err


@pytest.mark.parametrize(("options", "message"), [
    (("-q", "u"), "-q must be texts of 2..16 letters"), (("--ngram", "0"), "--ngram must be an int in 1..16"),
    (("--ngram", "ab"), "argument --ngram: must be a number, or the first letter of a namespace and a number (a2), got 'ab'"),
    (("--skips", "1"), "--skips must be left out without ngrams"), (("--keep", ":"), "--keep must be the first letters"),
    (("--ngrams", "1", "2"), "--ngrams must have texts, whose words are hashed, got vw. Give --ngram N."),
])
def test_wrong_options_about_namespaces_are_refused(run, tmp_path, options, message):
    (tmp_path / "a.vw").write_text("1 |user u1 |ad a1\n")
    code, _, err = run("train", tmp_path / "a.vw", *options)
    assert code in (1, 2) and message in err


def test_unknown_options_are_answered_with_the_usual_ones(run):
    for arguments, answer in (
        (("train", "-b", "22", "mail.tsv"), "unknown option -b. Use --bits N."),
        (("predict", "-b", "22", "m", "mail.tsv"), "unknown option -b. A model keeps its columns."),
        (("train", "mail.tsv", "-p", "out"), "unknown option -p. Use --predictions FILE."),
        (("predict", "m", "mail.tsv", "-p", "out"), "unknown option -p. Predictions go to standard output."),
        (("train", "mail.tsv", "-f", "out"), "unknown option -f. Use --save MODEL."),
        (("train", "mail.tsv", "-i", "m"), "unknown option -i. Use --resume MODEL."),
        (("predict", "-i", "m"), "unknown option -i. MODEL is given first, without an option."),
        (("train", "mail.tsv", "-lr", "0.1"), "unknown option -lr. Use --param NAME=VALUE."),
        (("train", "mail.tsv", "-wordNgrams=2"), "unknown option -wordNgrams. Use --ngrams MIN MAX."),
        (("predict", "m", "mail.vw", "--ngram=2"), "unknown option --ngram. A model keeps its n-grams."),
        (("train", "mail.vw", "--quadratic", "ab"), "unknown option --quadratic. Use -q AB."),
        (("predict", "m", "mail.vw", "-q", "ab"), "unknown option -q. A model keeps what train is told of VW's namespaces."),
        (("train", "mail.vw", "--link"), "unknown option --link. Use --probabilities."),
        (("train", "a.vw", "--audit"), "unknown option --audit. StreamPipeline.explain shows the features of a row, in Python."),
        (("predict", "m", "-", "--daemon"), "unknown option --daemon. onlinecls predict MODEL - answers the lines of a pipe."),
        (("train", "mail.vw", "--kernelized"), "unknown option --kernelized. onlinecls train --help lists all."),
        (("train", "mail.tsv", "--oaa", "3"), "unknown option --oaa. Classes are found as they come, or named by --classes."),
        (("train", "mail.tsv", "--l1", "1e-6"), "unknown option --l1. Use --algorithm adagrad_da --param l1=VALUE."),
        (("train", "mail.tsv", "--l2=1e-6"), "unknown option --l2. Use --algorithm ogd --param alpha=VALUE."),
        (("train", "-d=mail.tsv"), "unknown option -d. Files are given without an option."),
        (("train", "mail.tsv", "--algoritm", "pa"), "unknown option --algoritm. Is --algorithm meant?"),
        (("train", "a.tsv", "--quiet", "b.tsv"), "unexpected b.tsv. Files are given together, options before or behind them."),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "") and err.startswith(f"usage: onlinecls {arguments[0]} "), arguments
        assert err.splitlines()[-1] == f"onlinecls {arguments[0]}: error: {answer}"
    from onlinecls._cli import options

    ours = [ours.split(" ")[0] for ours, _ in options._HABITS.values() if ours]
    shown = "".join(run(command, "--help")[1] for command in ("train", "predict"))
    assert [option for option in ours if option not in shown] == []


# --- messages of errors ---------------------------------------------------------------------------------------------------------


def test_messages_name_options_instead_of_python_parameters(tmp_path, run, tsv):
    model = tmp_path / "model"
    run("train", tsv, "--bits", 10, "--save", model, "--quiet")
    broken = {
        "a.tsv": "no tab\n", "b.svm": "1 5000000:1\n", "c.svm": "1 1:1 x\n", "d.vw": "| a\n", "e": "what is this\n",
        "f.csv": "y,text\nx,a\n", "g.jsonl": '{"label": 1}\n', "h.csv": "label,a\nx,1\ny,abc\n",
        "i.tsv": "a\t" + "x" * (1 << 24) + "\n",
        "j.csv": "label,a\nx,\n", "k.parquet": "PAR1", "l.csv": 'label,text\nx,"a"b\n', "m.tsv": "ham\t\udcff\n",
    }
    python = re.compile(r"\w+=(False|True|None|'|\d)|max_line_bytes|n_features|zero_based|Give format=|\bread: |csv\.field")
    raw = ("--numbers", "raw")
    for name, text in broken.items():
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        strict = ("train", path, *raw, "--missing", "error", "--quiet")
        for arguments in (("train", path, "--quiet"), strict, ("evaluate", model, path)):
            code, out, err = run(*arguments)
            assert (code, out) == (1, "") or (name in ("j.csv", "h.csv") and code in (0, 1))
            assert not python.search(err), err
    for name, options, words in (
        ("f.csv", ("--delimiter", ";;"), "--delimiter must be one character or 'auto', got ';;'."),
        ("d.vw", ("--format", "vw", "--bits", 33), "--bits"),
        ("b.svm", (), "b.svm:1:3: expected an index < columns (--bits), got '5000000:1'"),
        ("d.vw", (), "before '|' (--unlabelled predict or skip takes rows without), got '| a'"),
        ("e", (), "Give --format one of 'svmlight', "),
        ("h.csv", (*raw, "--classes", "x,y"), "h.csv:3: expected a finite number for column 'a', got 'abc' (with --cat"),
        ("j.csv", (*raw, "--missing", "error"), "j.csv:2: expected a value in column 'a', got none (--missing absent takes"),
    ):
        code, _, err = run("train", tmp_path / name, *options, "--quiet")
        assert code == 1 and words in err and not python.search(err), err


def test_predict_prints_a_line_for_an_empty_one_with_any_number_of_threads(tmp_path, tsv, run):
    model, path = tmp_path / "model", tmp_path / "gaps.tsv"
    assert run("train", tsv, "--bits", 10, "--save", model, "--quiet")[0] == 0
    path.write_text("".join(f"{label}\t{text}\n" + "\n" * (k % 3 == 0) for k, (label, text) in enumerate(texts(9000))))
    one, several = (run("predict", model, path, "--threads", n)[1].split() for n in (1, 3))
    assert one == several and len(one) == 12000
    assert [k for k, line in enumerate(one) if line == "NA"] == list(range(1, 12000, 4))


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


def test_top_prints_the_best_classes_in_their_order(three, tsv, tmp_path, run):
    path, model, learner, X = three
    scores = learner.decision_function(X)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    code, out, err = run("predict", model, path, "--top", 2)
    header, *lines = [line.split("\t") for line in out.splitlines()]
    assert (code, err, header) == (0, "", ["prediction", "top 1", "score 1", "top 2", "score 2"])
    assert [[line[1], line[3]] for line in lines] == learner.classes_[order].tolist()
    np.testing.assert_array_equal(np.array([[line[2], line[4]] for line in lines], float), np.take_along_axis(scores, order, 1))
    assert [line[0] for line in lines] == [line[1] for line in lines]
    found = [json.loads(line) for line in run("predict", model, path, "--top", 9, "--json")[1].splitlines()]
    assert {len(each["top"]) for each in found} == {3}
    assert found[0]["top"][0] == {"class": lines[0][1], "score": float(lines[0][2])}
    two = tmp_path / "two.model"
    run("train", tsv, "--bits", 10, "--probability", "--save", two, "--quiet")
    first = run("predict", two, tsv, "--top", 1)[1].splitlines()
    assert first[0] == "prediction\ttop 1\tp 1" and all(float(line.split("\t")[2]) >= 0.5 for line in first[1:])
    header, *lines = (line.split("\t") for line in run("predict", two, tsv, "--top", 2, "--scores")[1].splitlines())
    assert header[2::2] == ["score 1", "score 2"] and all(line[4] in ("-" + line[2], line[2].lstrip("-")) for line in lines)
    assert {line[0] for line in lines} == {"ham", "spam"} and all(line[0] == line[1] for line in lines)


def test_json_has_what_the_columns_have(three, tmp_path, run):
    gap, model = tmp_path / "gap.tsv", three[1]
    gap.write_text("ham\tone\n\nham\ttwo\n")
    for arguments in ((), ("--scores",), ("--std",), ("--scores", "--std")):
        _, out, _ = run("predict", model, gap, *arguments)
        lines = [line.split("\t") for line in out.splitlines()][bool(arguments) :]
        found = [json.loads(line) for line in run("predict", model, gap, *arguments, "--json")[1].splitlines()]
        assert [each["prediction"] for each in found] == [lines[0][0], None, lines[2][0]], arguments
        assert found[1] == {"prediction": None}
        values = [value for key in ("scores", "std") if f"--{key}" in arguments for value in found[0][key].values()]
        assert [repr(value) for value in values] == lines[0][1:], arguments
        assert all(list(found[0][key]) == ["ham", "spam", "third"] for key in found[0] if key != "prediction")


def test_ids_stand_beside_their_predictions(tmp_path, run):
    def names(n):
        return [f"{k:03}" for k in range(n)]

    flats = "".join(f"{id},{'high' if k % 3 else 'low'},{k % 3 + 1},{k}\n" for k, id in enumerate(names(300)))
    table, model = tmp_path / "flats.csv", tmp_path / "model"
    table.write_text("id,price,rooms,size\n" + flats)
    assert run("train", table, "--label", "price", "--ignore", "id", "--save", model, "--quiet")[0] == 0
    plain = run("predict", model, table)[1].split()
    code, out, err = run("predict", model, table, "--id", "id")
    assert (code, err) == (0, "") and out.splitlines() == [
        "id\tprediction", *(f"{id}\t{each}" for id, each in zip(names(300), plain, strict=True))
    ]
    rows = [json.loads(line) for line in run("predict", model, table, "--id", "id", "--scores", "--json")[1].splitlines()]
    assert [list(row) for row in rows] == [["id", "prediction", "scores"]] * 300 and rows[7]["id"] == "007"
    by_feature = run("predict", model, table, "--id", "size")[1].splitlines()
    assert by_feature[1:] == [f"{k}\t{each}" for k, each in enumerate(plain)]
    assert [line.split("\t")[0] for line in run("predict", model, table, "--id", "price")[1].splitlines()[1:4]] == [
        "low", "high", "high"
    ]
    table.write_text(f"id,price,rooms,size\n{flats.splitlines()[0]}\na,low,1\n{flats.splitlines()[2]}\n")
    out = run("predict", model, table, "--id", "id", "--on-error", "skip")[1]
    assert out.splitlines()[1:] == [f"000\t{plain[0]}", "NA\tNA", f"002\t{plain[2]}"]
    objects = tmp_path / "mail.jsonl"
    objects.write_text("".join(json.dumps({"id": f"m{k}", "label": a, "text": b}) + "\n" for k, (a, b) in enumerate(texts(50))))
    assert run("train", objects, "--text", "text", "--bits", 8, "--save", model, "--quiet")[0] == 0
    _, *lines = run("predict", model, objects, "--id", "id")[1].splitlines()
    assert lines == [f"m{k}\t{each}" for k, each in enumerate(run("predict", model, objects)[1].split())]
    tsv = write_tsv(tmp_path / "a.tsv", texts(5))
    code, _, err = run("predict", model, tsv, "--id", "id")
    assert code == 1 and "--id must have columns, got tsv" in err
    code, _, err = run("predict", model, objects, "--id", "name")
    assert code == 1 and "expected a label, got none (--id reads its column in place of the labels)" in err
