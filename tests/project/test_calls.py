"""How many functions of the package a call enters. Who needs more looks first for what can go."""

import operator
import sys

import numpy as np
from matrices import csr32

import onlinecls

ROOT = onlinecls.__path__[0]
#: The most functions (comprehensions and properties included) and files that a call may enter.
FIRST, LATER, PREDICT = (39, 7), (20, 6), (3, 2)


def entered(call):
    """The numbers of functions of the package that a call enters, and of their files. (Compiled functions do not show.)"""
    codes, before = set(), sys.getprofile()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            codes.add(frame.f_code)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return len(codes), len({code.co_filename for code in codes})


def test_calls_enter_few_functions():
    rng = np.random.default_rng(0)
    X, y = csr32(rng.normal(size=(100, 20)).astype(np.float32)), rng.integers(0, 2, 100)
    learner, other = onlinecls.AROWClassifier(), onlinecls.AROWClassifier().partial_fit(X, y, classes=[0, 1])
    first = entered(lambda: learner.partial_fit(X, y, classes=[0, 1]))
    many, of_many = np.tile(X.toarray().astype(float), (20, 1)), np.tile(y, 20)
    later = entered(lambda: other.partial_fit(many, of_many))
    predict = entered(lambda: other.predict(many[:3].tolist()))
    assert all(map(operator.le, (*first, *later, *predict), (*FIRST, *LATER, *PREDICT))), (first, later, predict)
