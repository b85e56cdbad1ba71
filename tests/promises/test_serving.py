"""One model in several threads: it is read, saved, copied and merged while it learns."""

import copy
import io
import os
import pickle
import threading
from _thread import interrupt_main
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from states import fingerprint
from threads import beside

import onlinecls
from onlinecls import AROWClassifier, AROWRegressor, CommitteeClassifier, KernelOnlineClassifier, PassiveAggressiveOneClass

ROUNDS = int(os.environ.get("ONLINECLS_ROUNDS", 2))  # models that are learnt from their first row on; nightly: many
PATIENCE = 60  # seconds after which a thread is taken for stuck

N_CLASSES, SIZE = 12, 9
LABELS = np.array([f"class {chr(ord('z') - c)}" for c in range(N_CLASSES)])  # each that joins comes before all others
ROWS = csr_matrix(np.eye(N_CLASSES))
plain = {"fit_intercept": False}
SERVED = [
    AROWClassifier(**plain, probability=True), AROWClassifier(**plain, multi_class="ovr", covariance="full"),
    onlinecls.Perceptron(**plain, average=True), onlinecls.DualAscentClassifier(**plain, loss="log_loss"),
    KernelOnlineClassifier("perceptron", kernel="rbf", gamma=10.0, budget=20, fit_intercept=False),
    CommitteeClassifier(**plain), onlinecls.OnlineToBatch(AROWClassifier(**plain), "average"),
]


def calls():
    """Yield (X, y) of calls of nine rows: each class joins in a call of its own, the older ones come again."""
    for known in range(1, N_CLASSES + 1):
        for again in range(3):
            numbers = np.array([known - 1, *(np.arange(SIZE - 1) * 7 + again) % known])
            yield ROWS[numbers], LABELS[numbers]


def saved_and_loaded(model):
    file = io.BytesIO()
    model.save(file)
    return onlinecls.load(io.BytesIO(file.getvalue()))


COPIES = [saved_and_loaded, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]


@pytest.mark.parametrize("learner", SERVED, ids=repr)
def test_threads_read_and_copy_whole_models_while_one_learns_and_classes_join(learner):
    """A copy is the model after some call; a reader is right of the rows that the model is right of from then on."""
    (first, *others), twin, by_calls = calls(), copy.deepcopy(learner), copy.deepcopy(learner)
    whole, right = [fingerprint(by_calls.partial_fit(*first))], [twin.partial_fit(*first).predict(ROWS) == LABELS]
    for X, y in others:
        for at in range(SIZE):
            right.append(twin.partial_fit(X[at : at + 1], y[at : at + 1]).predict(ROWS) == LABELS)
        whole.append(fingerprint(by_calls.partial_fit(X, y)))
    known = [np.all(right[SIZE * n :], axis=0) for n in range(len(whole))]
    for _ in range(ROUNDS):
        model, done = copy.deepcopy(learner).partial_fit(*first), []

        def read(model=model, done=done):
            sure = known[len(done)]
            assert (model.predict(ROWS)[sure] == LABELS[sure]).all() and np.isfinite(model.decision_function(ROWS)).all()
            if hasattr(model, "predict_proba"):
                assert np.allclose(model.predict_proba(ROWS).sum(axis=1), 1.0)
            if hasattr(model, "coef_"):
                assert len(model.coef_) and len(model.intercept_) and model.t_ >= SIZE

        def copied(model=model):
            assert all(fingerprint(way(model)) in whole for way in COPIES)

        with beside(read, read, copied):
            for X, y in others:
                done.append(model.partial_fit(X, y))
        assert fingerprint(model) == whole[-1] and known[-1].sum() > N_CLASSES // 2


LEARNERS = [
    AROWClassifier(), AROWRegressor(), KernelOnlineClassifier(gamma=1.0), PassiveAggressiveOneClass(), CommitteeClassifier()]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((40, 4)), (rng.standard_normal(40) > 0).astype(int)


def learn(model, rows=slice(0, 1), method="partial_fit", **named):
    return getattr(model, method)(X[rows], *([] if isinstance(model, PassiveAggressiveOneClass) else [Y[rows]]), **named)


def fresh(learner):
    return learn(copy.deepcopy(learner), slice(None))


def ways_to_copy(model):
    ways = [copy.copy, *COPIES]
    if isinstance(model, (AROWClassifier, AROWRegressor)):
        other = fresh(type(model)())
        ways += [lambda model: onlinecls.merge([model, model]), lambda model: onlinecls.merge([other, model]), other.merge]
    return [partial(way, model) for way in ways]


@contextmanager
def waiting(*calls):
    """Run the calls in a thread that must not get on before the end of the block; what they return is there after it."""
    found = []
    thread = threading.Thread(target=lambda: found.extend(call() for call in calls))
    thread.start()
    thread.join(0.1)
    assert thread.is_alive() and not found, "a call did not wait"
    yield found
    thread.join(PATIENCE)
    assert len(found) == len(calls), "a thread waits for ever, or has raised"


@pytest.mark.parametrize("method", ["partial_fit", "fit"])
@every_learner
def test_copies_wait_for_the_end_of_a_learning_call_and_are_whole(learner, method, monkeypatch):
    model, begun, original, read = fresh(learner), [], type(learner)._learn, []
    with ExitStack() as stack:

        def learn_beside(self, *batch, **named):
            if self is model and not begun:
                begun.append(stack.enter_context(waiting(*ways_to_copy(model))))
                reader = threading.Thread(target=lambda: read.append(model.predict(X)))
                stack.callback(reader.join)
                reader.start()
                reader.join(0.1 if isinstance(model, CommitteeClassifier) else PATIENCE)
                assert len(read) == (not isinstance(model, CommitteeClassifier))  # (readers of one model wait for nobody)
            return original(self, *batch, **named)

        monkeypatch.setattr(type(learner), "_learn", learn_beside)
        learn(model, slice(None), method, sample_weight=np.ones(len(X), np.float32))  # (cast: no small call in C)
    assert all(fingerprint(twin) == fingerprint(model) for twin in begun[0][:4])
    assert all(twin.t_ > model.t_ for twin in begun[0][4:])


@every_learner
def test_learning_waits_for_a_copy_and_a_second_learner_is_refused(learner):
    for method in ("partial_fit", "fit"):
        model = fresh(learner)
        lock, copying = model._own_lock(), model._own_lock().waiting()

        def is_told(model=model, lock=lock):
            with lock, pytest.raises(RuntimeError, match=r"one call at a time may learn"):
                return learn(model)
            return True

        copying.__enter__()
        with waiting(is_told, partial(learn, model, slice(None), method)):
            assert model.t_ == 40
            copying.__exit__()
        assert model.t_ > 40 or method == "fit"


@pytest.mark.parametrize("n", [1, 50, 3000])
def test_of_two_threads_that_learn_one_model_each_batch_is_learnt_whole_or_refused(n):
    draw = np.random.default_rng(1)
    batches = [(draw.standard_normal((n, 20)), draw.integers(0, 2, n)) for _ in "ab"]
    base, known = AROWClassifier().partial_fit(draw.standard_normal((40, 20)), Y), {}
    for order in ((0,), (1,), (0, 1), (1, 0)):
        twin = copy.deepcopy(base)
        for at in order:
            twin.partial_fit(*batches[at])
        known.setdefault(frozenset(order), []).append(fingerprint(twin))

    def run(at, model, learnt, start):
        start.wait()
        with suppress(RuntimeError):
            model.partial_fit(*batches[at])
            learnt.add(at)

    for _ in range(10 * ROUNDS):
        shared = copy.deepcopy(base), set(), threading.Barrier(2)
        threads = [threading.Thread(target=run, args=(at, *shared)) for at in range(2)]
        for each in (threading.Thread.start, threading.Thread.join):
            for thread in threads:
                each(thread)
        assert fingerprint(shared[0]) in known[frozenset(shared[1])]


@every_learner
def test_a_thread_that_would_wait_for_itself_is_told(learner):
    model = fresh(learner)
    ways = [*ways_to_copy(model), *[partial(model.predict, X)] * isinstance(model, CommitteeClassifier)]
    for held, more in ((model._own_lock(), []), (model._own_lock().waiting(), [partial(learn, model)])):
        with held:
            for way in [*ways, *more]:
                with pytest.raises(RuntimeError, match=rf"^{type(model).__name__}: fit, .* must .* got .* Set a flag"):
                    way()
    learn(model)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals are for the main thread")
def test_ctrl_c_ends_a_wait_and_leaves_the_lock_to_the_holder():
    model = fresh(AROWClassifier())
    for call in (lambda: copy.deepcopy(model), lambda: learn(model), lambda: model.fit(X, Y)):
        held, over, t = threading.Event(), threading.Event(), model.t_

        def hold(held=held, over=over):
            with model._own_lock().waiting():
                held.set()
                over.wait(PATIENCE)

        holder, press = threading.Thread(target=hold), threading.Timer(0.1, interrupt_main)
        holder.start()
        assert held.wait(PATIENCE)
        with pytest.raises(KeyboardInterrupt):
            press.start()
            call()
        assert holder.is_alive()
        over.set(), holder.join(), press.join()
        assert model.t_ == t
        learn(copy.deepcopy(learn(model)))
