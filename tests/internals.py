"""Whatever tests take from behind the public names of onlinecls: when a module of the package moves, this file follows."""

import copy
from contextlib import contextmanager

import numpy as np

from onlinecls import OnlineToBatch, _core, _files, _registry, load
from onlinecls._cli import main, options, stopping
from onlinecls._compiled import model
from onlinecls._input import validate
from onlinecls._models import State
from onlinecls._wings.dual_ascent import dual_ascent as ascent
from onlinecls._wings.dual_ascent.estimators import AscentState
from onlinecls._wings.kernels.estimators import Kernel, SupportState

ALGORITHMS, OTHERS = _registry.ALGORITHMS, _registry.OTHERS

# The command line: what it runs.
COMMANDS, REGRESSION_COMMANDS = options.CLASSIFIERS, options.REGRESSORS
__all__ = ["Kernel", "SupportState", "main", "stopping"]

# The compiled tables: names of counters, rules, tasks; the places of the numbers that dual ascent's groups share.
COUNTERS = model.COUNTERS
SHARED = ascent.SHARED

# A compiled function that is tested by itself.
log_softmax = model.log_softmax

# Modules in which a test puts something else in the place of a function of theirs.
files, validation = _files, validate

def learner_in(path, **options):
    """Return the learner of a file, which the command line writes behind the step that makes its rows."""
    found = load(path, **options)
    model, *more = found if options else (found,)
    learner = model[-1] if hasattr(model, "steps") else model
    return (learner, *more) if more else learner


def state_of(learner):
    """The object that holds what learning changes."""
    return learner._state


def parts_of(state):
    """Return the parts of a model; those of member i of a committee as "i.name"."""
    parts = {name: part for name, part in state.parts().items() if name not in state.LEARNT_WITH or name == "kept"}
    for i, member in enumerate(parts.pop("members", ())):
        parts.update({f"{i}.{name}": part for name, part in parts_of(member).items()})
    return parts


def stored(learner):
    """Return all that learning may change, {name: array or value}; arrays of a kernel learner without spare room."""
    if isinstance(learner, OnlineToBatch):
        parts = {"kept": [each[1:] for each in learner._hypotheses], "n_rows": learner.n_rows_}
        for i, snapshot in enumerate([learner.estimator_, *learner.snapshots_]):
            parts.update({f"{name} of {i}": part for name, part in stored(snapshot).items()})
        return parts
    if not learner.__sklearn_is_fitted__():  # a hypothesis from before the first row
        return {}
    state = learner._state
    parts = parts_of(state)  # (not where classes lie that have joined)
    if isinstance(state, SupportState):  # (nor where rows lie that have been learnt from)
        vectors, _ = state.weights()
        parts = {name: part for name, part in parts.items() if name not in ("kept", "kernel", "origin")}
        parts["vectors"] = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    return parts


def named_from_here(learner, labels):
    """Return a copy of a model that labels may join as one in which all these labels were named, and no other may join."""
    found = copy.deepcopy(learner)
    state = found._state
    everyone = np.union1d(state.classes, labels)
    grown = state.grow_classes(np.searchsorted(everyone, state.classes), len(everyone), state.params).closed()
    grown.classes, grown.is_open = everyone, False
    found._state = grown
    return found


def weights_of_none(learner):
    """Return the weights of "none of these", as coef_ and intercept_ of a label; None of a model without it."""
    state = learner._state
    if not state.n_none:
        return None
    found = state._weights(slice(None))[:, -1]
    return np.append(found[:-1] / state.scale, found[-1] * state.constant)


def arrays(learner):
    """The arrays of the model themselves, by name: to lock, or to spoil."""
    parts = parts_of(learner._state).items()
    return {name: part for name, part in parts if isinstance(part, np.ndarray) and part.size}  # (an empty one may be a constant)


@contextmanager
def again(learner):
    """Inside, rows count as learnt before: probabilities learn nothing from them."""
    learner._are_seen = True
    yield
    del learner._are_seen


def predict_on_the_way(learner, X, y, sample_weight=None):
    """partial_fit that returns what predict would have said of each row just before it was learnt."""
    found = np.full(len(y), -2, np.int32)
    learner._partial_fit(X, y, sample_weight, None, found)
    return found


def set_depth(n):
    """Set how many steps of a full covariance wait at most, and how many products are made at once."""
    _core.DEPTH = n


def averages(geometry):
    """Return whether learners of this geometry can predict with the average of their weights."""
    return geometry not in {*_registry.NO_SUM, "centre"}  # (a centre is no vector of weights)


def kernels():
    """Return where estimators find the functions that learn: (class, name)."""
    return [(State, "learn")]


def readers():
    """Return where estimators find the functions that score rows, as `kernels` does."""
    return [(State, "decision"), (AscentState, "decision")]
