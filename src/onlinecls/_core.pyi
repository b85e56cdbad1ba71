"""The compiled module as Python sees it. Fused functions are called by signature: ``binary["float|int32_t"](...)``."""

from typing import Any

RULES: dict[str, int]
GEOMETRIES: dict[str, int]
TALLY: dict[str, int]
TALLY_SIZE: int
TASKS: dict[str, int]
FORESIGHT: dict[str, int]

class _Fused:
    __signatures__: dict[str, Any]
    def __getitem__(self, signature: str) -> Any: ...
    def __call__(self, *args: Any) -> Any: ...

binary: _Fused
"""One pass of a two-class learner over rows; what predict would have said of each comes to the last argument, if not empty."""
crammer_singer: _Fused
"""One pass of a joint multiclass learner over rows."""
ovr: _Fused
"""One pass of a learner of each class against the rest."""
regression: _Fused
"""One pass of a regressor over rows."""
full: _Fused
"""One pass of any of these with a full covariance."""
decision: _Fused
"""The scores of rows."""
deviation: _Fused
"""The standard deviations of scores."""
