"""The rows of the table of algorithms for the committees."""

from __future__ import annotations

from ..._algorithm import POSITIVE, Algorithm, Options, Real

COMBINING = {"combine": Options(("arow", "hedge")), "r": POSITIVE,
             "forgetting": Real(0.0, 0.1, True, True, "The variances of the combiner grow by 1/(1 - forgetting) a row."),
             "share": Real(0.0, 1.0, True, False)}
FOLLOWING = "its members' weights depend on which rows came last; merge the members of each kind instead"

OTHERS = (
    Algorithm("committee", "", "", "CommitteeClassifier", COMBINING, merge=FOLLOWING, costs="margin",
              title="Committee", paper="ICML 2008 tutorial, I; AROW over the scores of learners"),
    Algorithm("committee_regression", "", "", "CommitteeRegressor", COMBINING, merge=FOLLOWING, tasks=("regression",),
              title="Committee of regressors", paper="ICML 2008 tutorial, I; least squares over the predictions of learners"),
)
