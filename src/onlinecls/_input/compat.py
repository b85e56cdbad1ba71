"""What scikit-learn and scipy.sparse expect, without importing them: their own classes are used where they are loaded."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np

from .rows import Rows

if TYPE_CHECKING:
    from typing import Any, TypeGuard


class NotFittedError(ValueError, AttributeError):
    """Asked for something that only a fitted model has."""


def not_fitted(who: str) -> Exception:
    module = sys.modules.get("sklearn.exceptions")
    kind = module.NotFittedError if module else NotFittedError
    return kind(f"{who}: this model has not been fitted yet. Call 'fit' or 'partial_fit' first.")


def warn_column_vector() -> None:
    module = sys.modules.get("sklearn.exceptions")
    kind = module.DataConversionWarning if module else UserWarning
    message = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
    warnings.warn(message, kind, stacklevel=5)


def classifier_tags(poor_score: bool):
    """scikit-learn's tags (only its own code asks for them, so that it is there to import)."""
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

    return Tags(
        estimator_type="classifier",
        target_tags=TargetTags(required=True),
        classifier_tags=ClassifierTags(poor_score=poor_score),
        input_tags=InputTags(sparse=True),
    )


def regressor_tags(poor_score: bool):
    """The same for a regressor."""
    from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

    return Tags(
        estimator_type="regressor",
        target_tags=TargetTags(required=True),
        regressor_tags=RegressorTags(poor_score=poor_score),
        input_tags=InputTags(sparse=True),
    )


def outlier_tags():
    """The same for an outlier detector."""
    from sklearn.utils import InputTags, Tags, TargetTags

    return Tags(estimator_type="outlier_detector", target_tags=TargetTags(required=False), input_tags=InputTags(sparse=True))


def warn_undefined_score() -> None:
    module = sys.modules.get("sklearn.exceptions")
    kind = module.UndefinedMetricWarning if module else UserWarning
    warnings.warn("R^2 score is not well-defined with less than two samples.", kind, stacklevel=4)


def warn_not_converged(who: str, max_iter: int, largest: float, loss_tol: float) -> None:
    module = sys.modules.get("sklearn.exceptions")
    kind = module.ConvergenceWarning if module else UserWarning
    message = (
        f"{who}: fit must leave no squared loss above loss_tol={loss_tol:g}, but the largest is {largest:.3g}, after "
        f"max_iter={max_iter} cycles or where no step is left to take. Raise max_iter or loss_tol; if no weights have so small a "
        "loss on all rows, no number of cycles will do."
    )
    warnings.warn(message, kind, stacklevel=5)


def kind_of(estimator) -> str | None:
    """ "classifier", "regressor" and so on, of any library's estimator; None of one that does not say."""
    kind = getattr(estimator, "_estimator_type", None)
    if kind is None and hasattr(estimator, "__sklearn_tags__"):
        kind = estimator.__sklearn_tags__().estimator_type
    return kind


def text_transformer_tags():
    """The same for a transformer of texts that needs no fitting."""
    from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=False),
        transformer_tags=TransformerTags(),
        input_tags=InputTags(string=True, two_d_array=False),
        requires_fit=False,
    )


def issparse(X) -> TypeGuard[Any]:
    """Whether it is a matrix of scipy.sparse (which then is loaded), or `Rows`."""
    if isinstance(X, Rows):
        return True
    module = sys.modules.get("scipy.sparse")
    return hasattr(module, "issparse") and module.issparse(X)


def sparse_rows(rows):
    """A CSR matrix, or the array that scikit-learn 1.9 makes of it where it has been told to."""
    module = sys.modules.get("sklearn")
    if module and module.get_config().get("sparse_interface") == "sparray":
        from scipy.sparse import csr_array

        return csr_array(rows)
    return rows


def random_state(who: str, seed):
    """A numpy random generator from None, an integer, a RandomState or a Generator, as scikit-learn takes them."""
    if seed is None:
        return np.random.mtrand._rand  # numpy's global one: numpy.random.seed works as with scikit-learn
    if hasattr(seed, "permutation"):
        return seed
    try:
        return np.random.RandomState(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"{who}: random_state must be None, an integer in 0..2**32 - 1, a numpy RandomState or Generator, got {seed!r}."
        ) from None
