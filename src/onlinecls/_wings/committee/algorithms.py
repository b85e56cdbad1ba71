"""The rows of the table of algorithms for the committees."""

from __future__ import annotations

from ..._algorithm import POSITIVE, Algorithm, Conflict, Options, Real

COMBINING = {"combine": Options(("arow", "hedge")), "r": POSITIVE,
             "forgetting": Real(0.0, 0.1, True, True, "The variances of the combiner grow by 1/(1 - forgetting) a row."),
             "share": Real(0.0, 1.0, True, False)}
NO_SHARE = Conflict(("share", "combine"), "0 for combine='arow'", lambda v: bool(v["share"] and v["combine"] != "hedge"),
                    "shares are of exponential weights. Give combine='hedge', or leave share out.")
FOLLOWING = "its members' weights depend on which rows came last; merge the members of each kind instead"

OTHERS = (
    Algorithm("committee", "", "", "CommitteeClassifier", COMBINING, merge=FOLLOWING, conflicts=(NO_SHARE,),
              costs="margin", title="Committee", paper="ICML 2008 tutorial, I; AROW over the scores of learners"),
    Algorithm("committee_regression", "", "", "CommitteeRegressor", COMBINING, merge=FOLLOWING, conflicts=(NO_SHARE,),
              tasks=("regression",), title="Committee of regressors",
              paper="ICML 2008 tutorial, I; least squares over the predictions of learners"),
)
