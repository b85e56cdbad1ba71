"""One model in several threads: it is read, saved, copied and merged while it learns."""

import copy
import io
import os
import pickle
import signal
import threading
import time
from _thread import interrupt_main

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from threads import beside

import onlinecls
from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    CommitteeClassifier,
    DualAscentClassifier,
    KernelOnlineClassifier,
    OnlineToBatch,
    PassiveAggressiveOneClass,
    Perceptron,
)

ROUNDS = int(os.environ.get("ONLINECLS_ROUNDS", 3))  # models that are learnt from their first row on; nightly: many
PATIENCE = 60  # seconds after which a thread is taken for stuck

N_CLASSES = 12
LABELS = np.array([f"class {chr(ord('z') - c)}" for c in range(N_CLASSES)])  # each that joins comes before all others
ROWS = np.eye(N_CLASSES)
plain = {"fit_intercept": False}

SERVED = [
    AROWClassifier(**plain, probability=True), AROWClassifier(**plain, multi_class="ovr", covariance="full"),
    Perceptron(**plain, average=True), DualAscentClassifier(**plain, loss="log_loss"),
    KernelOnlineClassifier("perceptron", kernel="rbf", gamma=10.0, budget=20, fit_intercept=False),
    CommitteeClassifier(**plain), OnlineToBatch(AROWClassifier(**plain), "average"),
]


def calls(size):
    """Yield (X, y) of calls of so many rows: each class joins in a call of its own, the older ones come again."""
    for known in range(1, N_CLASSES + 1):
        for again in range(3):
            numbers = np.array([known - 1, *(np.arange(size - 1) * 7 + again) % known][:size])
            yield csr_matrix(ROWS[numbers]), LABELS[numbers]


def saved_and_loaded(model):
    file = io.BytesIO()
    model.save(file)
    return onlinecls.load(io.BytesIO(file.getvalue()))


COPIES = [saved_and_loaded, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]


class Watched:
    """A learner in its way through the calls, and from which call on each row is known for good, by a way without threads."""

    def __init__(self, learner, size):
        self.learner, self.size, self.done = learner, size, 0
        twin, right = copy.deepcopy(learner), []
        for X, y in calls(size):
            found = []  # (a reader may come after any row of a call)
            for at in range(len(y)):
                twin.partial_fit(X[at : at + 1], y[at : at + 1])
                found.append(twin.predict(csr_matrix(ROWS)) == LABELS)
            right.append(np.all(found, axis=0))
        wrong = ~np.array(right)
        self.known_from = np.array([0 if not of_row.any() else np.flatnonzero(of_row)[-1] + 1 for of_row in wrong.T])
        self.model = copy.deepcopy(learner)

    def learn(self):
        for _ in range(ROUNDS):
            self.done, self.model = 0, copy.deepcopy(self.learner)
            for X, y in calls(self.size):
                self.model.partial_fit(X, y)
                self.done += 1

    def known(self):
        """Return the model and the rows whose labels it is sure to know."""
        while True:
            done, model = self.done, self.model
            if done and self.model is model:
                return model, np.flatnonzero(self.known_from < done)
            time.sleep(0)

    def read(self):
        model, numbers = self.known()
        if not len(numbers):
            return
        X = csr_matrix(ROWS[numbers])
        assert (model.predict(X) == LABELS[numbers]).all(), "predict"
        scores = model.decision_function(X)
        if scores.ndim == 2:  # of a model of so many classes: those that joined first
            assert (np.sort(LABELS[: scores.shape[1]])[scores.argmax(axis=1)] == LABELS[numbers]).all(), "decision_function"
        if hasattr(model, "predict_proba"):
            chances = model.predict_proba(X)
            assert np.allclose(chances.sum(axis=1), 1.0), "predict_proba"
        if hasattr(model, "coef_"):
            assert len(model.coef_) and len(model.intercept_) and model.t_ >= 0, "properties"

    def copy(self):
        for copied in COPIES:
            model, numbers = self.known()
            twin = copied(model)
            assert (twin.predict(csr_matrix(ROWS)) == LABELS)[numbers].all(), copied
            n_rows = getattr(twin, "t_", None) or twin.n_rows_
            assert n_rows % self.size == 0, (copied, n_rows)
            twin.partial_fit(csr_matrix(ROWS), LABELS)


@pytest.mark.parametrize("size", [1, 9])
@pytest.mark.parametrize("learner", SERVED, ids=repr)
def test_threads_read_and_copy_whole_models_while_one_learns_and_classes_join(learner, size):
    watched = Watched(learner, size)
    with beside(watched.read, watched.read, watched.copy):
        watched.learn()


# --- who waits, who is refused -------------------------------------------------------------------------------------------------

LEARNERS = [
    AROWClassifier(), AROWRegressor(), KernelOnlineClassifier(gamma=1.0), PassiveAggressiveOneClass(), CommitteeClassifier()]
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((40, 4)), (rng.standard_normal(40) > 0).astype(int)


def fresh(learner):
    return copy.deepcopy(learner).partial_fit(X, *([] if isinstance(learner, PassiveAggressiveOneClass) else [Y]))


def learn(model, rows=slice(0, 1)):
    return model.partial_fit(X[rows], *([] if isinstance(model, PassiveAggressiveOneClass) else [Y[rows]]))


class Waiting:
    """Threads that come one after the other to wait for a model's lock, and what they have found."""

    def __init__(self, model):
        self.lock, self.threads, self.errors, self.found = model._own_lock(), [], [], {}

    def start(self, name, what):
        n_before = self.lock.n_waiting

        def run():
            try:
                self.found[name] = what()
            except BaseException as error:
                self.errors.append(error)

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()
        until(lambda: self.lock.n_waiting == n_before + 1)

    def join(self):
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a thread waits for ever"
        assert not self.errors, self.errors


def until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(1e-3)


def ways_to_copy(model):
    ways = [lambda: copy.copy(model), lambda: copy.deepcopy(model), lambda: pickle.dumps(model), lambda: model.save(io.BytesIO())]
    if isinstance(model, (AROWClassifier, AROWRegressor)):
        other = fresh(type(model)())
        ways += [lambda: onlinecls.merge([model, other]), lambda: onlinecls.merge([other, model]), lambda: other.merge(model)]
    return ways


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_learning_waits_for_a_copy_and_all_wait_in_the_order_of_coming(learner):
    model = learn(fresh(learner))
    t, waiting = model.t_, Waiting(model)
    with model._own_lock().copying():
        waiting.start("copied", lambda: copy.deepcopy(model))
        waiting.start("learnt", lambda: learn(model))
        waiting.start("copied later", lambda: copy.deepcopy(model))
        assert model.t_ == t
    waiting.join()
    assert (waiting.found["copied"].t_, waiting.found["copied later"].t_, model.t_) == (t, t + 1, t + 1)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_thread_that_would_wait_for_itself_is_told(learner):
    model = fresh(learner)
    with model._own_lock():
        for number, way in enumerate(ways_to_copy(model)):
            with pytest.raises(RuntimeError, match=rf"^{type(model).__name__}: save, copy, .* must .* got .* Set a flag"):
                way()
                raise AssertionError(number)
        with pytest.raises(RuntimeError, match=r"one call at a time may learn"):
            learn(model)
    with model._own_lock().copying():
        copy.deepcopy(model)  # (one copy within another changes nothing)
        with pytest.raises(RuntimeError, match=rf"^{type(model).__name__}: fit, .* must .* got .* Set a flag"):
            learn(model)
    learn(model)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread on this system")
def test_a_signal_handler_within_a_wait_gets_an_error_instead_of_waiting():
    model, told, held = fresh(AROWClassifier()), [], threading.Event()

    def save(*_):
        try:
            model.save(io.BytesIO())
        except RuntimeError as error:
            told.append(str(error))

    def hold():
        with model._own_lock().copying():
            held.set()
            until(lambda: model._own_lock().n_waiting)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            until(lambda: told)

    before = signal.signal(signal.SIGUSR1, save)
    thread = threading.Thread(target=hold)
    try:
        thread.start()
        assert held.wait(PATIENCE)
        copy.deepcopy(model)
    finally:
        thread.join(PATIENCE)
        signal.signal(signal.SIGUSR1, before)
    assert "Set a flag" in told[0]
    save()
    assert len(told) == 1


def test_ctrl_c_ends_a_wait_and_leaves_the_lock_to_the_others():
    model = fresh(AROWClassifier())
    for call in (lambda: copy.deepcopy(model), lambda: learn(model), lambda: model.fit(X, Y)):
        held, over, t = threading.Event(), threading.Event(), model.t_

        def hold(held=held, over=over):
            with model._own_lock().copying():
                held.set()
                assert over.wait(PATIENCE)

        def press():
            until(lambda: model._own_lock().n_waiting)
            interrupt_main()

        threads = [threading.Thread(target=target) for target in (hold, press)]
        threads[0].start()
        assert held.wait(PATIENCE)
        threads[1].start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert model._own_lock().n_waiting == 0 and not over.is_set()
        over.set()
        for thread in threads:
            thread.join()
        assert model.t_ == t
        learn(copy.deepcopy(learn(model)))


def test_fit_gives_way_between_two_epochs_and_what_is_copied_then_learns_on(monkeypatch):
    learner = AROWClassifier(r=1.0, max_iter=4, tol=None, random_state=0)
    model, waiting, original, copied = copy.deepcopy(learner), [], AROWClassifier._learn, []

    def learn_an_epoch(self, *arguments, **others):
        if self is model and not waiting:
            waiting.append(Waiting(model))
            waiting[0].start("copied", lambda: copied.extend(way(model) for way in COPIES))
        return original(self, *arguments, **others)

    expected = copy.deepcopy(learner).fit(X, Y)
    one_epoch = copy.deepcopy(learner).set_params(max_iter=1).fit(X, Y).partial_fit(X, Y)
    monkeypatch.setattr(AROWClassifier, "_learn", learn_an_epoch)
    model.fit(X, Y)
    waiting[0].join()
    assert copied[0].t_ == 40 and copied[0].n_iter_ == 1
    assert (copied[0].partial_fit(X, Y).decision_function(X) == one_epoch.decision_function(X)).all()
    assert all(twin.partial_fit(X, Y).t_ % 40 == 0 for twin in copied)
    assert (expected.coef_ == model.coef_).all() and expected.t_ == model.t_
