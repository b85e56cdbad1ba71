"""scikit-learn's metadata routing and HTML diagram, which its classes inherit from `BaseEstimator`, without importing it.

Requests are made, kept and copied (by `clone`) like scikit-learn's own, with its public functions; nothing here decides where an
argument is passed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest

# scikit-learn's methods that take metadata (transformers here take none), and their arguments that are not metadata.
METHODS = ("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score")
NO_METADATA = ("self", "X", "y")
_UNCHANGED = "$UNCHANGED$"  # scikit-learn's marker of a request that does not change


class Routing:
    """Base of estimators with metadata requests: `set_fit_request` and so on, for each method that has metadata."""

    _metadata_request: MetadataRequest

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for method in METHODS:
            if method in cls.__dict__ and (names := _metadata_of(cls, method)):
                setattr(cls, f"set_{method}_request", _request_method(method, names))

    if TYPE_CHECKING:  # (made above)

        def set_fit_request(self, **requests: bool | str | None) -> Any: ...
        def set_partial_fit_request(self, **requests: bool | str | None) -> Any: ...
        def set_predict_request(self, **requests: bool | str | None) -> Any: ...
        def set_decision_function_request(self, **requests: bool | str | None) -> Any: ...
        def set_score_request(self, **requests: bool | str | None) -> Any: ...

    def get_metadata_routing(self) -> MetadataRequest:
        """Return which arguments scikit-learn's meta-estimators pass on to which method.

        Returns
        -------
        routing : sklearn.utils.metadata_routing.MetadataRequest
            A copy. A request that was not set is None: the meta-estimator raises if it is given that argument.
        """
        from sklearn.base import clone
        from sklearn.utils.metadata_routing import MetadataRequest

        if "_metadata_request" in self.__dict__:
            return clone(self._metadata_request, safe=False)
        requests = MetadataRequest(owner=type(self).__name__)
        for method in METHODS:
            for name in _metadata_of(type(self), method):
                getattr(requests, method).add_request(param=name, alias=None)
        return requests

    def _repr_html_(self) -> str | None:
        """Return scikit-learn's diagram, for notebooks; None where it is not installed or set to show text."""
        try:
            from sklearn import get_config
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return None
        return estimator_html_repr(self) if get_config()["display"] == "diagram" else None

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        html = self._repr_html_()
        return {"text/plain": repr(self)} if html is None else {"text/plain": repr(self), "text/html": html}


def _metadata_of(cls: type, method: str) -> tuple[str, ...]:
    """Return the arguments of a method besides X and y, sorted."""
    if not callable(found := getattr(cls, method, None)):
        return ()
    code = inspect.unwrap(found).__code__
    return tuple(sorted(set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]).difference(NO_METADATA)))


@cache
def _request_method(method: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """Make `set_fit_request` and methods like it."""

    def set_request(self: Routing, /, **requests: Any) -> Any:
        module = sys.modules.get("sklearn")  # (only its own function enables routing)
        if module is None or not module.get_config().get("enable_metadata_routing", False):
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable it using "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        if unknown := requests.keys() - set(names):
            raise TypeError(f"Unexpected args: {unknown} in {method}. Accepted arguments are: {set(names)}")
        routing = self.get_metadata_routing()
        for name, alias in requests.items():
            if alias != _UNCHANGED:
                getattr(routing, method).add_request(param=name, alias=alias)
        self._metadata_request = routing
        return self

    set_request.__name__ = f"set_{method}_request"
    set_request.__qualname__ = f"Routing.set_{method}_request"
    set_request.__doc__ = f"""Set whether scikit-learn's meta-estimators pass arguments on to `{method}`.

    Only with ``sklearn.set_config(enable_metadata_routing=True)``.

    Parameters
    ----------
    {", ".join(names)} : bool, str or None
        True: pass it on if it is given. False: do not. None, the default: an error if it is given.
        A text: pass on the argument of that name.

    Returns
    -------
    self : object
    """
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_UNCHANGED) for name in names]
    set_request.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return set_request
