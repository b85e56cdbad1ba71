"""Models that go from the command line to Python and back."""

import json
from pathlib import Path

import numpy as np
from internals import learner_in
from mails import texts, write_tsv

from onlinecls import AROWClassifier, load, make_stream_pipeline
from onlinecls.tables import TableVectorizer


def test_a_file_of_the_command_line_reads_in_python_what_it_was_learnt_from_and_back(tmp_path, run):
    """A table goes to a pipeline of the same bits, whose statistics are those of all rows; so do texts."""
    draw = np.random.default_rng(0)
    rows = [{"income": 1e4 * draw.normal() + 5e4, "year": 2024, "color": str(draw.choice(["red", "blue"]))} for _ in range(2500)]
    labels = ["yes" if (row["income"] > 5e4) == (row["color"] == "red") or row["income"] > 6e4 else "no" for row in rows]
    data, model, again = tmp_path / "a.jsonl", tmp_path / "model", tmp_path / "again"
    data.write_text("".join(json.dumps({"label": y, **x}) + "\n" for x, y in zip(rows, labels, strict=True)))
    code, _, err = run("train", data, "--dtype", "float64", "--save", model)
    assert code == 0 and "\ncolumns income, year, color\n" in err
    found, expected = load(model), make_stream_pipeline(TableVectorizer(bits=0, max_values=32), AROWClassifier())
    for x, y in zip(rows, labels, strict=True):
        expected.learn_one(x, y)
    assert found[-1].t_ == 2500 and found[-1].coef_.shape == (1, 32)
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


def test_numbers_are_standardised_and_passes_learn_their_statistics_once(tmp_path, run):
    draw, data, model = np.random.default_rng(1), tmp_path / "a.csv", tmp_path / "model"
    a, income = draw.normal(size=1500), 1e5 * draw.random(1500)
    data.write_text("label,a,income\n" + "".join(f"{int(x > 0)},{x},{z}\n" for x, z in zip(a, income, strict=True)))
    errors = {}
    for more in ((), ("--passes", 2)):
        told = json.loads(run("train", data, *more, "--json", "--quiet", "--save", model)[1])
        errors[more] = told["progressive_error"]
    assert errors[()] == errors["--passes", 2] < 0.05
    step = load(model)[0]
    of_all_rows = TableVectorizer(bits=0, max_values=32, dtype=np.float32).partial_fit({"a": a, "income": income})
    row = [{"a": 0.5, "income": 7e4}]
    np.testing.assert_array_equal(step.transform(row), of_all_rows.transform(row))


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
