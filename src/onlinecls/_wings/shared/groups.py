"""Models whose weights share numbers: those of one vector, or of all."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..._models import Array, State


class WithGroups(State):
    """A model whose weights share numbers: those of one vector, or of all (Crammer-Singer's joint learner).

    groups : a row for each such group; zeros until a pass, or a reader in a copy, computes them.
    """

    ARRAYS = {**State.ARRAYS, "groups": Array(("groups", "fields"), half=0.0)}
    KNOWN = ""  # the field that is above 0 from then on; "": readers need none
    groups: np.ndarray

    def _unknown(self, n: int) -> np.ndarray:
        return np.zeros((n, len(self.FIELDS)))

    def numbers(self, field: str) -> np.ndarray:
        """Return a number of each group."""
        return self.groups[:, self.FIELDS.index(field)]

    def known(self) -> Self:
        """Return this model for reading: a copy if groups are not known yet, as reading never writes."""
        if not self.KNOWN or self.numbers(self.KNOWN).all():
            return self
        copied: Any = self.copy()
        copied.start(copied.values)
        return copied

    def _merge_values(self, models: list[Self], shares: list[float]) -> None:
        """Merge θ, sums of rows; what follows from it is computed when the next row is learnt."""
        super()._merge_values(models, shares)
        self.groups = self._unknown(max(len(each.groups) for each in models))

    def _settle_halves(self, params: Any) -> None:
        self.groups = self._unknown(1)
