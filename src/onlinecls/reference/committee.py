"""A committee in plain NumPy: learners whose scores are added, weighted by their mistakes.

>>> from onlinecls.reference import RULES, Additive, Committee, Gaussian, Model
>>> makes = [lambda d: Gaussian(d, RULES["arow"].step, r=0.1), lambda d: Additive(d, RULES["pa1"].step, C=1.0)]
>>> committee = Committee([Model(make, 2, 2) for make in makes])
>>> for x, y in [([1.0, 0.0], 1), ([0.0, 1.0], 0), ([1.0, 0.2], 1)]:
...     committee.consume(x, y)
>>> committee.mistakes.tolist(), committee.n_mistakes
([1, 1], 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .learners import margin, predicted


class Committee:
    """Models of two or more classes, with the score  Σ_k a_k s_k,  a_k = (m_0 / m_k)^16 / rms_k.

    m_k : 1 + mistakes of model k, m_0 the least of them; a mistake is a row whose class has not the highest score alone.
    rms_k : root mean square of its scores before each row, of all classes, 1 while they are 0.
    """

    def __init__(self, members: list[Any]) -> None:
        self.members = members
        self.mistakes, self.squares = np.zeros(len(members), int), np.zeros(len(members))
        self.n_scores, self.n_mistakes, self.t = 0, 0, 0

    @property
    def a(self) -> np.ndarray:
        """The weights of the members' scores."""
        rms = np.sqrt(self.squares / max(self.n_scores, 1))
        return ((1 + self.mistakes.min()) / (1 + self.mistakes)) ** 16 / np.where(rms > 0.0, rms, 1.0)

    def scores(self, x: Any) -> np.ndarray:
        """Return each member's scores of a row, (members, vectors)."""
        return np.array([member.W @ np.asarray(x, float) for member in self.members])

    def predict(self, x: Any) -> int:
        """Return the code of the class of the highest score, the first of equals; of two classes 1 above 0."""
        return predicted(self.a @ self.scores(x))

    def consume(self, x: Any, y: int, c: float = 1.0) -> None:
        """Run one round: predict, count, let all members learn."""
        x, scores = np.asarray(x, float), self.scores(x)
        self.n_mistakes += self.predict(x) != y
        self.mistakes += [margin(own, y) <= 0.0 for own in scores]
        self.squares += (scores**2).sum(axis=1)
        self.n_scores, self.t = self.n_scores + scores.shape[1], self.t + 1
        for member in self.members:
            member.consume(x, y, c)
