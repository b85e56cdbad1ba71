"""Names and parameters of algorithms: from options to a learner, and from a learner back to them."""

from __future__ import annotations

import onlinecls

from .._registry import ALGORITHMS, OTHERS, select

#: The algorithms that the command line offers by name.
NAMED = {**ALGORITHMS, **{name: OTHERS[name] for name in ("committee",)}}
CLASSIFIERS = tuple(name for name, algorithm in NAMED.items() if "binary" in algorithm.tasks)
REGRESSORS = tuple(name for name, algorithm in NAMED.items() if "regression" in algorithm.tasks)
_COMMON = ("average", "class_weight", "covariance", "fit_intercept", "intercept_scaling", "multi_class", "probability")


def _weights_of_classes(text: str):
    """Parse label:weight,... to a dict. Other texts are passed on for the estimator to refuse."""
    if ":" not in text:
        return _value(text)
    found = {}
    for part in text.split(","):
        label, _, weight = part.rpartition(":")
        found[label] = _value(weight)
    return found


def _value(text: str):
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def allowed_parameters(name: str) -> list[str]:
    """Return the parameters of an algorithm and those that all estimators share."""
    algorithm = NAMED[name]
    shared = getattr(onlinecls, algorithm.estimator)().get_params()
    return [*algorithm.params, *(p for p in _COMMON if p in shared)]


def make_learner(parser, option: str, name: str, settings: list[str], dtype: str):
    """Make the estimator of an algorithm from NAME=VALUE texts; wrong ones are usage errors."""
    from .._estimators.learner import check_parameters

    algorithm = NAMED[name]
    cls = getattr(onlinecls, algorithm.estimator)
    allowed, values = allowed_parameters(name), {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals:
            parser.error(f"argument {option}: must be NAME=VALUE, got {setting!r}")
        if parameter not in allowed:
            parser.error(f"argument {option}: must be one of {', '.join(allowed)} for {name}, got {parameter!r}")
        values[parameter] = _weights_of_classes(value) if parameter == "class_weight" else _value(value)
    learner = cls(**algorithm.selects, **values, dtype=dtype)
    try:
        check_parameters(learner)
    except ValueError as error:
        parser.error(f"argument {option}: {error}")
    return learner


def learner_of(learner):
    """Return the learner itself; of an `OnlineToBatch`, the one that it wraps."""
    return getattr(learner, "estimator_", learner)


def _row_of(learner):
    return select(type(learner), learner.get_params())


def algorithm_of(learner) -> str:
    """Return the name of the learner's algorithm."""
    return _row_of(learner_of(learner)).name.removeprefix("kernel_")


def is_kernel(learner) -> bool:
    """Return True for a kernel learner or a wrapper of one."""
    return hasattr(learner_of(learner), "n_support_")


def own_parameters(learner) -> dict:
    """Return the parameters of the learner's algorithm for JSON (infinity as text)."""
    learner = learner_of(learner)
    own = (*(("algorithm", "kernel") if is_kernel(learner) else ()), *_row_of(learner).params)
    values = {name: getattr(learner, name) for name in own}
    return {name: str(value) if value in (float("inf"), -float("inf")) else value for name, value in values.items()}
