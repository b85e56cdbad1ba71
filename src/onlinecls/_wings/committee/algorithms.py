"""The row of the table of algorithms for the committee."""

from __future__ import annotations

from ..._algorithm import Algorithm

OTHERS = (
    Algorithm("committee", "", "", "CommitteeClassifier", {}, title="Committee",
              merge="its weights are those of one stream; merge the members of each kind instead",
              paper="scores of AROW, NAROW, FTRL-proximal and PA, weighted by their mistakes"),
)
