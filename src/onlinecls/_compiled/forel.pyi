"""What Python sees of the compiled module."""

from collections.abc import Callable

SHARED: dict[str, int]

#: By the name of the numbers' type, "float" or "double".
learn: dict[str, Callable[..., None]]
decision: dict[str, Callable[..., None]]
