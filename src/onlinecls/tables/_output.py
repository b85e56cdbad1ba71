"""`WithOutput`: scikit-learn's `set_output` and names of features, for a transformer of tables."""

from __future__ import annotations

import sys
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.estimator import Estimator
from .._input.compat import issparse

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, Self

    from numpy.typing import NDArray

_KINDS = ("default", "pandas", "polars")


def framed(transform: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Decorate `transform` to return the frames that `set_output`, or scikit-learn's configuration, asks for."""

    @wraps(transform)
    def run(self: Any, X: Any) -> Any:
        return _framed(self, X, transform(self, X))

    return run


def rows_of(step: Any, X: Any) -> Any:
    """Return what `transform` of a step returns, whatever frames it is to make."""
    plain = getattr(type(step).transform, "__wrapped__", None) if isinstance(step, WithOutput) else None  # type: ignore[attr-defined]
    return step.transform(X) if plain is None or "transform" in step.__dict__ else plain(step, X)


class WithOutput(Estimator):
    """A transformer of tables that has scikit-learn's `set_output` and names of features."""

    _sklearn_output_config: dict[str, Any]  # (scikit-learn's `clone` copies what has this name)

    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Choose what `transform` and `fit_transform` return, as in scikit-learn; frames must have dense rows (bits=0).

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            "default": arrays, or CSR matrices. "pandas", "polars": data frames with the names of `get_feature_names_out`; of
            pandas with the index of X. None: no change.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If transform is another value. `transform` raises one if rows are sparse.
        """
        if transform is not None:
            _require_kind(type(self).__name__, transform)
            self._sklearn_output_config = {"transform": transform}
        return self

    @property
    def feature_names_in_(self: Any) -> NDArray[np.object_]:  # type: ignore[override]
        """The columns of the tables learnt, in the order in which they came; none of arrays, whose columns have no names."""
        names = list(self.schema_)
        if names == [f"x{k}" for k in range(len(names))]:
            raise AttributeError(f"{type(self).__name__}: feature_names_in_ must be of columns with names, got arrays.")
        return np.array(names, dtype=object)

    @property
    def n_features_in_(self: Any) -> int:  # type: ignore[override]
        """The number of columns of the tables learnt."""
        return len(self.schema_)


def _require_kind(who: str, kind: Any) -> None:
    if kind not in _KINDS:
        raise ValueError(f"{who}: transform must be one of {', '.join(map(repr, _KINDS))}, got transform={kind!r}.")


def _framed(step: Any, X: Any, rows: Any) -> Any:
    """Return rows as the frame that the step, or scikit-learn if it is loaded, has been told to make."""
    kind = step.__dict__.get("_sklearn_output_config", {}).get("transform")
    if kind is None:
        sklearn = sys.modules.get("sklearn")
        kind = sklearn.get_config()["transform_output"] if sklearn is not None else "default"
    if kind == "default":
        return rows
    who = type(step).__name__
    _require_kind(who, kind)
    if issparse(rows):
        raise ValueError(
            f"{who}: {kind} output must have dense rows, got a sparse matrix. Set bits=0, or set_output(transform='default')."
        )
    names = step.get_feature_names_out().tolist()
    try:
        if kind == "pandas":
            import pandas

            return pandas.DataFrame(rows, columns=names, index=X.index if isinstance(X, pandas.DataFrame) else None)
        import polars

        return polars.DataFrame(rows, schema=names, orient="row")
    except ImportError:
        raise ImportError(f"{who}: {kind} is needed for set_output(transform={kind!r}): pip install {kind}") from None
