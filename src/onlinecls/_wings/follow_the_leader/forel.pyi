from collections.abc import Callable

SHARED: dict[str, int]

#: Keys: the names of the numbers' types, "float" and "double".
learn: dict[str, Callable[..., None]]
decision: dict[str, Callable[..., None]]
