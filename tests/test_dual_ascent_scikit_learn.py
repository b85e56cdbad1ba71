"""scikit-learn's own checks on the dual ascent learners and gradient descent."""

import pytest
from test_scikit_learn import expected_failures

import onlinecls

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

LEARNERS = [
    onlinecls.OGDClassifier(),
    onlinecls.OGDClassifier(0.01, average=True, multi_class="crammer_singer"),
    onlinecls.DualAscentClassifier(),
    onlinecls.DualAscentClassifier(loss="log_loss", multi_class="ovr"),
    onlinecls.DualAscentClassifier(regularizer="entropic", norm_bound=10.0),
    onlinecls.DualAscentClassifier("auto", regularizer="entropic", norm_bound=10.0, update="DA1"),
]


@parametrize_with_checks(LEARNERS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)
