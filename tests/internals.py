"""Whatever tests take from behind the public names of onlinecls: when a module of the package moves, this file follows."""

import numpy as np

from onlinecls import (
    OnlineToBatch,
    _ascent,
    _ascent_base,
    _base,
    _baselines,
    _core,
    _dual,
    _follow_the_leader,
    _forel_state,
    _link,
    _registry,
    _saving,
    _validation,
)
from onlinecls._cli import learning, main

ALGORITHMS = _registry.ALGORITHMS

# The command line: what it runs, and the names by which it calls learners.
COMMANDS, REGRESSION_COMMANDS, command_line = learning.CLASSIFIERS, learning.REGRESSORS, learning
__all__ = ["main"]

# The compiled tables: names of counters, rules, tasks; where the books of a p-norm, of EG and of dual ascent keep what.
TALLY, TASKS, FORESIGHT, RULES = _core.TALLY, _core.TASKS, _core.FORESIGHT, _core.RULES
DUAL_TALLY, DUAL_RULES = _dual.TALLY, _dual.RULES
BOOKS, PENDING, NOISE_AT = _ascent_base.BOOKS, _forel_state.PENDING, _link.NOISE_AT

# Compiled functions that are tested by themselves.
powers, roots_of_all = _ascent.powers, _link.roots_of_all
read_rows = _validation.read_rows

# Modules in which a test puts something else in the place of a function of theirs.
saving, validation, leader = _saving, _validation, _follow_the_leader

#: Modules with examples in their docstrings.
DOCTESTED = [
    "", "._baselines", "._dual_ascent", "._evaluation", "._first_order", "._follow_the_leader", "._kernel_learners",
    "._multiplicative", "._one_class", "._online_to_batch", "._saving", "._second_order",
]  # fmt: skip


def state_of(learner):
    """The object that holds what learning changes."""
    return learner._state


def stored(learner):
    """All that learning may change, {name: array or value}; arrays of a kernel learner without their room to grow."""
    if isinstance(learner, OnlineToBatch):
        run = learner._run
        drawn = run.generator.get_state()
        parts = {"rows": run.rows, "hits": run.hits, "trials": run.trials, "n_rows": run.n_rows, "spacing": run.spacing,
                 "next": run.next, "drawn": drawn[1], "drawn_at": drawn[2]}  # fmt: skip
        for i, snapshot in enumerate([run.learner, *run.snapshots]):
            parts.update({f"{name} of {i}": part for name, part in stored(snapshot).items()})
        return parts
    parts = dict(learner._state.__getstate__())
    if "vectors" in parts:
        size = learner._state.size
        ends = {**dict.fromkeys(("alpha", "norms", "origin"), size), **dict.fromkeys(("P", "Q"), size * (size + 1) // 2)}
        parts = {name: parts[name][..., : ends.get(name)] for name in (*ends, "counts", "scale", "tally")}
        vectors = learner._state.vectors
        parts["vectors"] = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    return parts


def arrays(learner):
    """The arrays of the model themselves, by name: to lock, or to spoil."""
    parts = learner._state.__getstate__().items()
    return {name: part for name, part in parts if isinstance(part, np.ndarray) and part.size}  # (an empty one may be a constant)


def predict_on_the_way(learner, X, y, sample_weight=None):
    """partial_fit that returns what predict would have said of each row just before it was learnt."""
    return learner._partial_fit(X, y, None, sample_weight, predict=True)


def on_path(learner, path):
    """A learner of a full covariance whose kernel goes another way: (which products are made ahead, how many steps wait)."""
    learner._foresight, learner._depth = path
    return learner


def kernels():
    """The tables, {sizes of numbers and indices: compiled function}, from which estimators take what learns."""
    learn = [_base._FULL, _base._LINK, _ascent_base._CLASSIFY, _ascent_base._REGRESS, _baselines._HEDGE]
    tables = [*_base._TASKS.values(), *_base._ONE_CLASS.values(), *learn]
    return [table for i, table in enumerate(tables) if all(table is not other for other in tables[:i])]


def readers():
    """The same of what scores rows."""
    return [_base._DECISION]
