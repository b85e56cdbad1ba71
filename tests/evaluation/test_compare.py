"""Learners compared on one stream: their errors are those of each alone, and the better one is found."""

import copy
import sys

import numpy as np
import pytest
from matrices import csr32
from scipy.stats import chi2
from sklearn.linear_model import SGDClassifier, SGDRegressor

from onlinecls import (
    AROWClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    compare,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.measures import ErrorComparison, across
from onlinecls.reference import RuleClassifier, RuleRegressor
from onlinecls.tables import TableVectorizer


def stream(n=3_000, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 20))
    flipped = generator.random(n) < 0.2
    return X, np.where((X[:, :5].sum(axis=1) > 0) != flipped, "spam", "ham"), generator.integers(0, 3, n).astype(float)


def learners():
    return {"perceptron": Perceptron(), "arow": AROWClassifier(r=10.0), "pa": PassiveAggressiveClassifier()}


def test_errors_are_those_of_each_learner_alone_whatever_the_batches():
    X, y, weights = stream()
    found = [
        compare(learners(), batches, classes=["ham", "spam"], every=700)
        for batches in ((X, y, weights), [(csr32(X)[at], y[at], weights[at]) for at in np.split(np.arange(3_000), (1, 2, 1_700))])
    ]
    for name, learner in learners().items():
        alone = progressive_validation(learner, (X, y, weights), classes=["ham", "spam"])
        assert found[0].errors[name] == alone.progressive_error
        assert found[0].examples[name] == np.count_nonzero(weights)
    assert found[0].names == sorted(found[0].errors, key=found[0].errors.get)
    assert found[0].better_by == found[1].better_by and found[0].errors == found[1].errors


def test_compare_gives_the_intervals_of_comparing_each_pair_alone():
    X, y, weights = stream()
    found, live = compare(learners(), (X, y, weights), every=1, level=0.3), weights > 0.0
    wrong = {
        name: (progressive_validation(each, (X, y, weights), predictions=True).predictions != y)[live]
        for name, each in learners().items()
    }
    for name, interval in found.better_by.items():
        pair = ErrorComparison(0.3 / 3).update(wrong[name], wrong[found.best])
        assert interval == pytest.approx((pair.low, pair.high))


def test_a_learner_that_is_beaten_is_dropped_and_learns_no_more():
    X, y, _ = stream()
    raced = learners()
    found = compare(raced, (X, y), drop=True, every=500)
    assert found.best == "arow" and "perceptron" in found.beaten
    n = found.examples["perceptron"]
    assert n % 500 == 0 and n < 3_000 and raced["perceptron"].t_ == n
    alone = progressive_validation(Perceptron(), (X[:n], y[:n]))
    assert found.errors["perceptron"] == alone.progressive_error
    everyone = compare(learners(), (X[:n], y[:n]), every=500)
    assert everyone.better_by["perceptron"][0] > 0.0  # (it was beaten there, and not before)
    before = compare(learners(), (X[: n - 500], y[: n - 500]), every=500)
    assert before.better_by["perceptron"][0] <= 0.0


class PerceptronOfDicts:
    """A Perceptron as river writes it: rows are dicts, one at a time. It says None before it has learnt."""

    def __init__(self):
        self.w, self.n = {}, 0

    def predict_one(self, x):
        return ("spam" if sum(self.w.get(key, 0.0) * value for key, value in x.items()) > 0.0 else "ham") if self.n else None

    def learn_one(self, x, y, w=1.0):
        assert type(y) is str and w > 0.0
        if self.predict_one(x) != y:
            for key, value in x.items():
                self.w[key] = self.w.get(key, 0.0) + (w if y == "spam" else -w) * value
        self.n += 1


def kinds():
    return {
        "arow": AROWClassifier(r=1.0), "rule": RuleClassifier("arow", {"r": 1.0}), "dicts": PerceptronOfDicts(),
        "pipeline": make_stream_pipeline(AROWClassifier(r=1.0)), "sgd": SGDClassifier(shuffle=False, random_state=0),
    }


@pytest.mark.parametrize("form", [np.asarray, csr32])
def test_learners_of_every_kind_err_as_each_alone(form):
    """A rule and one-by-one learners predict by row, with any batches; scikit-learn's by parts that double up to `every`."""
    X, y, weights = stream(400)
    weights[0], weights[1], y[1] = 0.0, 1.0, "ham"  # (the first row to learn is of the class that no weights predict)
    X, learners = form(X.astype(np.float32)), kinds()
    found = compare(learners, (X, y, weights), classes=["ham", "spam"], every=150)
    assert found.errors == {
        name: progressive_validation(each, (X, y, weights), classes=["ham", "spam"], every=150).progressive_error
        for name, each in kinds().items()
    }
    assert [name for name in kinds() if not found.curves[name][0].by_row] == ["sgd"]
    assert found.curves["sgd"][0].examples.tolist() == [np.count_nonzero(weights[:n]) for n in (150, 300, 400)]
    rule, walker, wrong = learners["rule"], PerceptronOfDicts(), 0
    assert found.errors["rule"] == rule.n_mistakes_ / rule.t_ == found.errors["arow"]  # (with the first row's)
    rows = X.toarray() if hasattr(X, "toarray") else X
    for row, label, weight in zip(rows.tolist(), y.tolist(), weights.tolist(), strict=True):
        if weight:
            wrong += walker.predict_one(dict(enumerate(row))) != label
            walker.learn_one(dict(enumerate(row)), label, weight)
    assert found.errors["dicts"] == wrong / walker.n
    by_row, cut = {name: each for name, each in kinds().items() if name != "sgd"}, (3, 200, 201)
    parts = zip(np.split(rows, cut), np.split(y, cut), np.split(weights, cut), strict=True)
    again = compare(by_row, iter(parts), classes=["ham", "spam"])
    assert again.errors == {name: found.errors[name] for name in by_row}


def test_models_of_river_are_validated_as_river_does():
    linear_model, preprocessing = pytest.importorskip("river.linear_model"), pytest.importorskip("river.preprocessing")
    evaluate, metrics = pytest.importorskip("river.evaluate"), pytest.importorskip("river.metrics")
    X, y, _ = stream(60)
    rows = [dict(enumerate(row)) for row in X.tolist()]
    for estimator, metric, labels in (
        (linear_model.LinearRegression(), metrics.MAE(), X[:, 0]),
        (preprocessing.StandardScaler() | linear_model.LogisticRegression(), metrics.Accuracy(), y == "spam"),
    ):
        for delay in (None, 3):
            said = evaluate.progressive_val_score(
                zip(rows, labels.tolist(), strict=True), copy.deepcopy(estimator), copy.deepcopy(metric), delay=delay).get()
            for given in (X, csr32(X).astype(float), rows):
                found = progressive_validation(copy.deepcopy(estimator), (given, labels), delay=delay)
                error = said if labels.dtype == float else 1.0 - said
                assert found.by_row and found.progressive_error == pytest.approx(error, rel=1e-5)


def test_a_regressor_by_a_rule_is_validated_row_by_row():
    X, _, _ = stream(60)
    walker, errors = RuleRegressor("pa1_regression", {"C": 1.0}), []
    for i in range(60):
        errors.append(abs(X[i, 0] - (walker.predict(X[i : i + 1])[0] if i else 0.0)))
        walker.partial_fit(X[i : i + 1], X[i : i + 1, 0])
    found = progressive_validation(RuleRegressor("pa1_regression", {"C": 1.0}), (X, X[:, 0]))
    assert found.by_row and found.progressive_error == pytest.approx(np.mean(errors))


def test_orders_give_the_mean_and_the_spread_of_shuffled_streams():
    X, y, weights = stream(500)
    given = learners()
    found = compare(given, (X, y, weights), classes=["ham", "spam"], orders=3, random_state=5, level=0.3, every=100)
    generator = np.random.RandomState(5)
    shuffled = [(X[at], y[at], weights[at]) for at in (generator.permutation(500) for _ in range(3))]
    alone = [compare(learners(), rows, classes=["ham", "spam"], level=0.1, every=100) for rows in shuffled]
    for name in given:
        errors = [each.errors[name] for each in alone]
        assert (found.errors[name], found.spread[name]) == pytest.approx((np.mean(errors), np.std(errors, ddof=1)))
        curves = [each.curves[name][0].mistakes.tolist() for each in alone]
        assert [curve.mistakes.tolist() for curve in found.curves[name]] == curves
    assert found.level == pytest.approx(0.3) and not any(learner.__sklearn_is_fitted__() for learner in given.values())
    assert {each.best for each in alone} == {found.best}  # (so that each order has intervals for the same pairs)
    for name, interval in found.better_by.items():
        assert interval == pytest.approx(np.mean([each.better_by[name] for each in alone], axis=0))
    assert np.isnan(alone[0].spread[found.best])


def test_rows_of_any_table_are_put_in_the_same_orders():
    pandas = pytest.importorskip("pandas")
    X, y, _ = stream(60)
    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")}, index=np.arange(60)[::-1])
    tables = [frame, frame.to_dict("list"), frame.to_dict("records")]
    tables += [pytest.importorskip("polars").from_pandas(frame), pytest.importorskip("pyarrow").table(tables[1])]
    found = [
        compare({"a": make_stream_pipeline(TableVectorizer(), AROWClassifier()), "b": make_stream_pipeline(
            TableVectorizer(), Perceptron())}, (table, pandas.Series(y, index=frame.index)), orders=2).errors
        for table in tables
    ]
    assert found == [found[0]] * len(tables)


def test_the_comparison_prints_as_a_table_also_of_latex_and_pandas(monkeypatch):
    X, y, _ = stream()
    found = compare({"a_row": AROWClassifier(r=10.0), "pa": PassiveAggressiveClassifier()}, (X, y), orders=2)
    errors, spread, (low, high) = found.errors, found.spread, found.better_by["pa"]
    numbers = {name: f"{100 * errors[name]:.2f} ± {100 * spread[name]:.2f}" for name in errors}
    lines = str(found).splitlines()
    assert lines[0].split() == ["learner", "error,", "%", "errs", "more", "by,", "%", "rows"]
    assert lines[1].startswith(f"a_row    {numbers['a_row']}") and lines[2].startswith(f"pa       {numbers['pa']}")
    assert low > 0.0 and f"{100 * low:+.2f} to {100 * high:+.2f}*  3,000" in lines[2]
    latex = found.to_latex().splitlines()
    assert latex[:2] == [r"\begin{tabular}{lrrr}", r"\toprule"]
    assert latex[4].startswith(rf"a\_row & \textbf{{{numbers['a_row']}}} &".replace("±", r"$\pm$"))
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame) and frame.index.tolist() == ["a_row", "pa"]
    assert frame.loc["pa", ["error", "spread", "errs_more_low", "errs_more_high"]].tolist() == [
        errors["pa"], spread["pa"], low, high]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="Comparison: pandas is needed for to_frame: pip install pandas"):
        found.to_frame()


# Demšar (JMLR 2006), Table 6: AUC of four learners on 14 sets. ("voting" is ranked there by more digits than are printed.)
DEMSAR = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967], [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931], [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875], [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])


def test_ranks_across_sets_are_those_of_demsar():
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    sets = {f"set {i}": dict(zip(names, 1.0 - row, strict=True)) for i, row in enumerate(DEMSAR)}
    found = across(sets)
    assert {name: round(rank, 3) for name, rank in found.mean_ranks.items()} == {
        "C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}
    assert list(found.mean_ranks) == found.names and (found.errors[0] == 1.0 - DEMSAR[0, [3, 1, 2, 0]]).all()
    assert (round(found.critical_difference, 2), round(across(sets, level=0.1).critical_difference, 2)) == (1.25, 1.12)
    assert found.friedman == pytest.approx(chi2.sf(9.28 / (1 - 78 / 840), 3), rel=5e-3)  # his chi², corrected for ties
    assert found.wilcoxon[1, 3] == found.wilcoxon[3, 1] < 0.05 and found.wilcoxon[2, 2] == 1.0  # his 3.1.3: it is rejected
    two = across({name: {each: row[each] for each in names[:2]} for name, row in sets.items()})
    assert np.isnan(two.friedman) and round(two.critical_difference, 3) == round(1.960 * np.sqrt(1 / 14), 3)
    alike = across({"a": dict.fromkeys(names, 0.5), "b": dict.fromkeys(names, 0.1)})
    assert alike.friedman == 1.0 and (alike.wilcoxon == 1.0).all()


def test_comparisons_are_ranked_with_their_spread():
    (X, y, _), (Z, z, _) = stream(400), stream(300, 1)
    found = {"a": compare(learners(), (X, y), orders=2), "b": compare(learners(), (Z, z), orders=2)}
    ranked = across(found)
    name = ranked.names[0]
    assert ranked.errors[:, 0].tolist() == [each.errors[name] for each in found.values()]
    assert ranked.spread[:, 0].tolist() == [each.spread[name] for each in found.values()]
    cell = f"{100 * found['a'].errors[name]:.2f} ± {100 * found['a'].spread[name]:.2f}"
    assert cell in str(ranked) and rf"\textbf{{{cell}}}".replace("±", r"$\pm$") in ranked.to_latex()
    assert ranked.to_frame().loc["b", name] == found["b"].errors[name]


@pytest.mark.parametrize(("results", "words"), [
    ({"a": {"x": 1.0, "y": 2.0}}, "results must be a dict of two data sets or more"),
    ({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 1.0}}, "the same two learners or more for each set, got {'x': 1.0} for 'b'"),
    ({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 1.0, "y": np.nan}}, "results must be finite numbers, got nan"),
    ({"a": {"x": 1.0, "y": "none"}, "b": {"x": 1.0, "y": 2.0}}, "results must be finite numbers, got 'none'"),
    ({"a": 0.1, "b": {"x": 1.0, "y": 2.0}}, "the same two learners or more for each set, got 0.1 for 'a'"),
])
def test_results_that_cannot_be_ranked_are_refused(results, words):
    with pytest.raises(ValueError, match=words):
        across(results)


class Silent:
    """A model of river's kind that predicts nothing."""

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return None


def test_learners_that_were_dropped_are_not_ranked():
    X, y, _ = stream(2_000)
    whole, raced = (compare({"pa": PassiveAggressiveClassifier(), "none": Silent()}, (X, y), drop=drop) for drop in (False, True))
    assert raced.examples == {"pa": 2_000, "none": 1_000} and whole.examples["none"] == 2_000
    with pytest.raises(ValueError, match="errors over the same rows, got learners of 'b' that were dropped"):
        across({"a": whole, "b": raced})


def test_models_of_river_s_kind_get_no_weight_of_1():
    X, y, _ = stream(50)
    found = compare({"none": Silent(), "pa": PassiveAggressiveClassifier()}, (X, y, np.ones(50)))
    assert found.examples == {"none": 50, "pa": 50}


def test_names_may_be_numbers():
    X, y, _ = stream(50)
    found = {year: compare({1: Perceptron(), 2: PassiveAggressiveClassifier()}, (X, y)) for year in (2024, 2025)}
    assert "2" in repr(found[2024]) and "1 &" in found[2024].to_latex() and "2025" in repr(across(found))


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"learners": {"one": Perceptron()}}, ValueError, "learners must be a dict of two classifiers or more"),
    ({"learners": {"a": Perceptron(), "b": SGDRegressor()}}, TypeError, "got SGDRegressor for 'b'"),
    ({"learners": dict.fromkeys("ab", Perceptron())}, ValueError, "must be different objects, got one twice among"),
    ({"learners": {"a": Perceptron(), "b": Perceptron}}, TypeError, "must be an object, got the class Perceptron"),
    ({"level": 1.0}, ValueError, "level must be a number in"),
    ({"learners": {"a": Perceptron(), "b": object()}}, TypeError, "got object without partial_fit"),
    ({"orders": 0}, ValueError, "orders must be None or an integer >= 1"),
    ({"orders": 2, "drop": True}, ValueError, "drop must be False where orders is given"),
    ({"orders": 2, "stream": [(np.ones((1, 2)), [1])]}, ValueError, r"stream must be one \(X, y\) .* got list"),
    ({"orders": 2, "stream": (np.ones((2, 2)), [1])}, ValueError, "X and y must have the same number of rows"),
    ({"every": 0}, ValueError, "every must be an integer >= 1"),
    ({"stream": (np.ones((1, 2)), [1], [0.0])}, ValueError, "stream must have a row of weight > 0"),
])
def test_what_cannot_be_compared_is_refused(arguments, error, words):
    X, y, _ = stream(10)
    with pytest.raises(error, match=words):
        compare(**{"learners": learners(), "stream": (X, y), **arguments})
