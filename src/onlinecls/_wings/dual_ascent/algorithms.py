"""The rows of the table of algorithms for dual ascent."""

from __future__ import annotations

from ..._algorithm import AUTO, BOOLEAN, NONE, NORM_BOUND, POSITIVE, ROW_MARGIN, Algorithm, Conflict, Either, Options

NO_GROWTH = Conflict(
    ("average",), "False with regularizer='entropic' and sigma='auto'", lambda v: bool(v["average"] and v["sigma"] in AUTO),
    "with a growing sigma, the weights are not one common number times the stored ones. Use a number for sigma, or "
    "regularizer='euclidean'.",
)
SIGMA = Either((NONE, AUTO, POSITIVE), hint="1/sigma is the largest step; 'auto' needs neither horizon nor scale.")
UPDATE = Options(("DA1", "DA2", "DA3"))
DUAL_ASCENT = {"sigma": SIGMA, "margin": ROW_MARGIN, "norm_bound": NORM_BOUND, "signed": BOOLEAN}
DUAL_REGRESSION = {"sigma": SIGMA, "update": UPDATE, "norm_bound": NORM_BOUND, "signed": BOOLEAN}
# What None stands for.
EUCLIDEAN, NUMBERS, LOGISTIC, ENTROPIC = ({"sigma": number} for number in (1.0, 3.0, 0.2, 1.0))

ALGORITHMS = (
    Algorithm("da1", "DA1", "additive", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA1", "loss": "hinge", "regularizer": "euclidean"}, defaults=EUCLIDEAN,
              trials=({"sigma": 0.7},),
              theorems=("dual_ascent", "fixed_rate"), title="Dual ascent, DA1", costs="margin",
              paper="ICML 2008 tutorial, II and III"),
    Algorithm("da2", "DA2", "additive", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA2", "loss": "hinge", "regularizer": "euclidean"}, defaults=EUCLIDEAN,
              trials=({"sigma": 1.3, "margin": 0.8}, {"sigma": "auto", "norm_bound": 2.0}), theorems=("dual_ascent",),
              title="Dual ascent, DA2", costs="margin", paper="ICML 2008 tutorial, II and III"),
    Algorithm("da3", "DA3", "additive", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA3", "loss": "hinge", "regularizer": "euclidean"}, defaults=EUCLIDEAN,
              trials=({"sigma": 0.7, "margin": 0.8},), theorems=("dual_ascent",), title="Dual ascent, DA3",
              costs="margin", paper="ICML 2008 tutorial, II and III"),
    Algorithm("entropic_da1", "DA1", "entropic", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA1", "loss": "hinge", "regularizer": "entropic"}, defaults=ENTROPIC,
              trials=({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent", "fixed_rate"), conflicts=(NO_GROWTH,),
              title="Dual ascent, DA1, entropic", paper="ICML 2008 tutorial, II to IV"),
    Algorithm("entropic_da2", "DA2", "entropic", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA2", "loss": "hinge", "regularizer": "entropic"}, defaults=ENTROPIC,
              trials=({"sigma": 0.7, "norm_bound": 3.0}, {"sigma": "auto", "norm_bound": 3.0, "margin": 0.8},
                      {"sigma": 0.7, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",), conflicts=(NO_GROWTH,),
              title="Dual ascent, DA2, entropic", paper="ICML 2008 tutorial, II to IV"),
    Algorithm("entropic_da3", "DA3", "entropic", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA3", "loss": "hinge", "regularizer": "entropic"}, defaults=ENTROPIC,
              trials=({"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8},
                      {"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8, "signed": False}),
              theorems=("dual_ascent",), conflicts=(NO_GROWTH,),
              title="Dual ascent, DA3, entropic", paper="ICML 2008 tutorial, II to IV"),
    Algorithm("logistic", "DA3", "additive", "DualAscentClassifier", {**DUAL_ASCENT, "update": UPDATE},
              selects={"loss": "log_loss", "regularizer": "euclidean"}, defaults=LOGISTIC,
              trials=({"sigma": 0.7, "update": "DA1"}, {"sigma": 0.3, "update": "DA3"}), theorems=("dual_ascent", "fixed_rate"),
              title="Online logistic regression (dual ascent)", paper="ICML 2008 tutorial, II and III (log loss)"),
    Algorithm("entropic_logistic", "DA3", "entropic", "DualAscentClassifier", {**DUAL_ASCENT, "update": UPDATE},
              selects={"loss": "log_loss", "regularizer": "entropic"}, defaults=ENTROPIC,
              trials=({"sigma": 0.7, "norm_bound": 3.0, "update": "DA2"}, {"sigma": 0.7, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent", "fixed_rate"), conflicts=(NO_GROWTH,), title="Online logistic regression, entropic",
              paper="ICML 2008 tutorial, II and III (log loss)"),
    Algorithm("da_regression", "DA3", "additive", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "absolute", "regularizer": "euclidean"}, tasks=("regression",), defaults=NUMBERS, level=True,
              trials=({"sigma": 2.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA2"}, {"sigma": "auto", "norm_bound": 2.0}),
              theorems=("dual_ascent",), title="Dual ascent regression, absolute loss",
              paper="ICML 2008 tutorial, II and III"),
    Algorithm("da_squared", "DA3", "additive", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "squared", "regularizer": "euclidean"}, tasks=("regression",), defaults=NUMBERS, level=True,
              trials=({"sigma": 20.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA3"}), theorems=("dual_ascent",),
              title="Dual ascent regression, squared loss", paper="ICML 2008 tutorial, I (Examples I and II)"),
    Algorithm("entropic_da_regression", "DA3", "entropic", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "absolute", "regularizer": "entropic"}, tasks=("regression",), defaults=ENTROPIC, level=True,
              trials=({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",),
              conflicts=(NO_GROWTH,),
              title="Dual ascent regression, entropic, absolute loss (committee of experts: signed=False)",
              paper="ICML 2008 tutorial, II and III"),
    Algorithm("entropic_da_squared", "DA3", "entropic", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "squared", "regularizer": "entropic"}, tasks=("regression",), defaults=ENTROPIC, level=True,
              trials=({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",),
              conflicts=(NO_GROWTH,), title="Dual ascent regression, entropic, squared loss (committee of experts: signed=False)",
              paper="ICML 2008 tutorial, I (Examples I and II)"),
)
