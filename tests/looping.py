"""Tests that loop: one item of pytest runs a test for many values, and a failure says for which. (An item costs milliseconds.)"""

from functools import wraps
from inspect import Parameter, signature
from itertools import product

import pytest


def within(**options):
    """Decorate a test so that it runs with all combinations of the values of these arguments, one after the other."""

    def decorate(test):
        @wraps(test)
        def looped(**given):
            for values in product(*options.values()):
                chosen = dict(zip(options, values, strict=True))
                try:
                    test(**given, **chosen)
                except Exception as error:
                    error.add_note(f"with {', '.join(f'{name}={value}' for name, value in chosen.items())}")
                    raise

        left = [parameter for name, parameter in signature(test).parameters.items() if name not in options]
        looped.__signature__ = signature(test).replace(parameters=left)
        return looped

    return decorate


def each_estimator(**items):
    """Decorate a test so that it is one item for each estimator, for all cases or learners of that class: argument=items."""
    ((argument, every),) = items.items()
    groups = {}
    for item in every:
        groups.setdefault(getattr(item, "algorithm", item).estimator, []).append(item)

    def decorate(test):
        @wraps(test)
        def of_one(group, **given):
            within(**{argument: group})(test)(**given)

        left = [parameter for name, parameter in signature(test).parameters.items() if name != argument]
        of_one.__signature__ = signature(test).replace(parameters=[Parameter("group", Parameter.KEYWORD_ONLY), *left][::-1])
        return pytest.mark.parametrize("group", groups.values(), ids=groups)(of_one)

    return decorate
