"""A pipeline is one model: for readers in other threads, after Ctrl-C, and where a batch is predicted while it is learnt."""

import copy
import os
import threading
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from threads import beside

from onlinecls import AROWClassifier, make_stream_pipeline, progressive_validation
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

ROUNDS = int(os.environ.get("ONLINECLS_ROUNDS", 3))  # nightly: many


def table(n, seed=0, shift=0.0, columns=("x", "y", "z")):
    """Return a table whose statistics depend on `shift`, with the columns in this order, and labels."""
    rng = np.random.default_rng(seed)
    numbers = {name: rng.normal(shift, 1.0 + shift, n) for name in sorted(columns)}
    return {name: numbers[name] for name in columns}, np.where(numbers["x"] > numbers["y"], "yes", "no")


def rows_of(X):
    return [dict(zip(X, row, strict=True)) for row in zip(*(values.tolist() for values in X.values()), strict=True)]


def young(learner=None):
    learner = AROWClassifier(probability=True, random_state=0) if learner is None else learner
    return make_stream_pipeline(TableVectorizer(bits=0, max_values=8), learner).partial_fit(*table(200))


LATER, OTHER_ORDER = table(300, 1, 50.0), table(300, 1, 50.0, ("z", "y", "x"))
CHANGES = {
    "a batch": [lambda pipeline: pipeline.partial_fit(*LATER)],
    "fit": [lambda pipeline: pipeline.fit(*OTHER_ORDER)],
    "rows": [partial(lambda pipeline, row, label: pipeline.learn_one({**row, label: 1.0}, label), row=row, label=label)
             for row, label in zip(rows_of(LATER[0])[:30], LATER[1].tolist(), strict=False)],
}


@pytest.mark.filterwarnings("ignore:TableVectorizer. X must have the columns")  # (some of its rows have one of their own)
@pytest.mark.parametrize("name", CHANGES)
def test_readers_get_the_answers_of_one_whole_model_while_it_changes(name):
    """They are those of the pipeline between two calls that change it, never of the statistics of one and another's weights."""
    X, _ = table(40, 2, 20.0)
    row = rows_of(X)[0]
    asks = [lambda pipeline: pipeline.decision_function(X).tolist(), lambda pipeline: pipeline.predict_proba_one(row)["yes"]]
    twin, known = young(), [[], []]
    for change in (lambda pipeline: None, *CHANGES[name]):
        change(twin)
        for ask, answers in zip(asks, known, strict=True):
            answers.append(ask(twin))

    def read(pipeline):
        for ask, answers in zip(asks, known, strict=True):
            assert ask(pipeline) in answers, "an answer of no moment"

    for _ in range(20 * ROUNDS):
        pipeline = young()
        with beside(partial(read, pipeline), partial(read, pipeline)):
            for change in CHANGES[name]:
                change(pipeline)
        assert asks[0](pipeline) == known[0][-1]


class Stopped(AROWClassifier):
    """A learner that calls `stop` after it has learnt `n_kept` rows of a batch, all of them if that is None."""

    stop = n_kept = None

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        n, weights = self.n_kept if self.stop else None, sample_weight
        X, weights = X.tocsr() if hasattr(X, "tocsr") else X, np.full(len(y), weights) if np.isscalar(weights) else weights
        super().partial_fit(X[:n], y[:n], classes, None if weights is None else weights[:n])
        if self.stop is not None:
            self.stop()
        return self


def interrupt():
    raise KeyboardInterrupt


def test_a_reader_waits_while_the_learner_has_learnt_and_the_statistics_have_not():
    pipeline, answers = young(Stopped()), []
    X, y = LATER
    after = copy.deepcopy(pipeline).partial_fit(X, y).decision_function(X)
    readers = [threading.Thread(target=lambda: answers.append(pipeline.decision_function(X))) for _ in range(3)]

    def read_at_once():
        for reader in readers:
            reader.start()
        readers[0].join(0.2)
        assert not answers
        with pytest.raises(RuntimeError, match="predictions of pipelines and committees, must be called when no other"):
            pipeline.predict(X)  # (in this thread it would wait for itself)

    pipeline[-1].stop = read_at_once
    pipeline.partial_fit(X, y)
    for reader in readers:
        reader.join()
    for answer in answers:
        np.testing.assert_array_equal(answer, after)
    assert len(answers) == 3


@pytest.mark.parametrize("n_more", [0, 1, 3])
@pytest.mark.parametrize("n_kept", [0, 1, 150, 299, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_after_ctrl_c_steps_and_learner_stand_at_the_same_row(n_kept, n_more, weighted, monkeypatch):
    """Going on from there gives the uninterrupted model to the bit, however often Ctrl-C is pressed."""
    X, y = rows_of(LATER[0]), LATER[1]
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(y)) if weighted else None
    class_weight = {"no": 0.5, "yes": 1.0} if weighted else None
    named = lambda part: {} if weights is None else {"sample_weight": weights[part]}  # noqa: E731
    whole = young(Stopped(class_weight=class_weight)).partial_fit(X, y, **named(slice(None)))
    pipeline = young(Stopped(class_weight=class_weight))
    t, left, planned = pipeline[-1].t_, [interrupt] * n_more, TableVectorizer._planned

    def planned_later(*arguments):
        if pipeline[-1].t_ > t and left:
            left.pop()()
        return planned(*arguments)

    monkeypatch.setattr(TableVectorizer, "_planned", planned_later)
    pipeline[-1].stop, pipeline[-1].n_kept = interrupt, n_kept
    with pytest.raises(KeyboardInterrupt):
        pipeline.partial_fit(X, y, **named(slice(None)))
    pipeline[-1].stop = None
    n_learnt, live = pipeline[-1].t_ - t, np.ones(300, bool) if weights is None else weights > 0.0
    assert n_learnt == live[:n_kept].sum()
    assert pipeline[0].statistics_["x"][0] == 200 + (live if weights is None else weights)[:n_kept].sum()
    rest = slice(int(np.flatnonzero(live)[n_learnt - 1]) + 1 if n_learnt else 0, None)
    if len(y[rest]):
        pipeline.partial_fit(X[rest], y[rest], **named(rest))
    assert pipeline[0].statistics_ == whole[0].statistics_
    np.testing.assert_array_equal(pipeline[-1].coef_, whole[-1].coef_)


def matrix(kind):
    """Return rows of numbers in a format of scipy."""
    return getattr(sparse, f"{kind}_matrix")(np.column_stack(list(LATER[0].values())))


def arrow_stream():
    return pytest.importorskip("pyarrow").table(LATER[0]).to_reader()


WORDS, NO_WEIGHT = [f"{label} {k % 7}" for k, label in enumerate(LATER[1])], {"no": 0.0, "yes": 1.0}
FORMATS = ("csr", "csc", "coo", "dok", "lil", "bsr", "dia")
AWKWARD = {  # rows, labels, weights and the learner's class weights, of which no beginning can be taken as of a list
    **{kind: (partial(matrix, kind), LATER[1], None, None) for kind in FORMATS},
    "a stream of Arrow": (arrow_stream, LATER[1], None, None),
    "an iterator": (lambda: iter(WORDS), LATER[1], None, None),
    "labels in a column": (lambda: LATER[0], LATER[1][:, None], None, NO_WEIGHT),
    "one weight": (lambda: LATER[0], LATER[1], 2.0, None),
    "weights in a list": (lambda: LATER[0], LATER[1].tolist(), [0.0, 1.0, 2.0] * 100, NO_WEIGHT),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed", "ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("name", AWKWARD)
def test_after_ctrl_c_steps_know_the_rows_learnt_of_any_input(name):
    make_rows, y, weights, class_weight = AWKWARD[name]
    steps = [MaxAbsScaler()] if name in FORMATS else [TableVectorizer(bits=0, max_values=8)]
    steps = [HashingVectorizer(n_features=64), MaxAbsScaler()] if name == "an iterator" else steps
    named = {} if weights is None else {"sample_weight": weights}
    pipeline = make_stream_pipeline(*steps, Stopped(class_weight=class_weight))
    pipeline[-1].stop, pipeline[-1].n_kept = interrupt, 150
    with pytest.raises(KeyboardInterrupt):
        pipeline.partial_fit(make_rows(), y, ["no", "yes"], **named)
    known = pipeline[0].statistics_["x"][0] if isinstance(pipeline[0], TableVectorizer) else pipeline[-2].n_samples_seen_
    each = np.broadcast_to(1.0 if weights is None else weights, 300)
    live = each * [1.0 if class_weight is None else class_weight[label] for label in np.ravel(y)] > 0.0
    assert known == each[: np.flatnonzero(live[:150])[-1] + 1].sum()  # (rows of weight 0 behind the last one are still to come)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_fit_that_ends_early_changes_nothing(error):
    class Failing(AROWClassifier):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            raise error

    pipeline = young(Failing(warm_start=True))
    before = pipeline.decision_function(LATER[0])
    for warm_start in (True, False):
        with pytest.raises(error):
            pipeline.set_params(failing__warm_start=warm_start).fit(*OTHER_ORDER)
        np.testing.assert_array_equal(pipeline.decision_function(LATER[0]), before)
    assert pipeline.partial_fit(*LATER)[-1].t_ == 500


@pytest.mark.parametrize("learner", [AROWClassifier(), AROWClassifier(class_weight={"yes": 0.0}), BernoulliNB()])
@pytest.mark.parametrize(
    "step", [TableVectorizer(bits=0, max_values=16), HashingVectorizer(n_features=64), Normalizer(), StandardScaler()])
def test_validation_predicts_all_rows_behind_the_first_whatever_makes_and_learns_them(step, learner):
    """Named classes, rows and classes of weight 0 make no prediction, and another library's learner may have no coef_."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    y, weights = np.resize(["no", "yes", "yes", "no", "no"], 40), np.resize([0.0, 1.0, 1.0], 40)
    rows = {
        HashingVectorizer: [f"w{a:.0f} v{b:.0f}" for a, b in X], TableVectorizer: [{"a": a, "b": b} for a, b in X.tolist()]
    }.get(type(step), X)
    found = []
    for ends in ([], [1], [2], [1, 2, 3, 4], [5, 20]):
        cuts = list(zip([0, *ends], [*ends, 40], strict=True))
        batches = [(rows[start:stop], y[start:stop], weights[start:stop]) for start, stop in cuts]
        result = progressive_validation(
            make_stream_pipeline(clone(step), clone(learner)), batches, classes=["no", "yes"], predictions=True)
        found.append((result.examples[-1], result.mistakes[-1], result.predictions.tolist()))
    assert all(each == found[0] for each in found)
    live = (weights > 0.0) & ((y == "no") | (getattr(learner, "class_weight", None) is None))
    assert found[0][0] == live.sum()
    assert [row for row, said in enumerate(found[0][2]) if said is not None] == np.flatnonzero(live)[1:].tolist()
