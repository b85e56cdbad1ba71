"""scikit-learn's own checks on every estimator, and its meta-estimators around them."""

import numpy as np
import onlinecls
import pytest
from scipy.sparse import csr_matrix

sklearn = pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

CLASSIFIERS = [getattr(onlinecls, name) for name in onlinecls.__all__]
VARIANTS = [
    onlinecls.Perceptron(aggressive=True),
    onlinecls.PassiveAggressiveClassifier(loss="squared_hinge", average=True),
    onlinecls.SecondOrderPerceptron(aggressive=True),
    onlinecls.ConfidenceWeightedClassifier(variant="variance"),
    onlinecls.AdaGradClassifier(update="dual_averaging"),
    onlinecls.AROWClassifier(multi_class="ovr", class_weight="balanced", early_stopping=True),
]


def expected_failures(estimator):
    reason = "a repeated row is another stream than a row of weight 2, and the checks reorder rows; scikit-learn excuses its SGD too"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks([cls() for cls in CLASSIFIERS] + VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)
