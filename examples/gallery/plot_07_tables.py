"""
Tables as they come
===================

Numbers, names, dates and holes: ``TableVectorizer`` turns each row into numbers while the rows stream by,
with the means and deviations so far, and ``make_stream_pipeline`` puts a learner behind it. The bars are the weights that it
found, under names that one can read. The same AROW, given the numbers as they stand, hardly learns anything: years, which are
large and all alike, drown the rest. (It says so in a warning.)
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from onlinecls import AROWClassifier, make_stream_pipeline, progressive_validation
from onlinecls.tables import TableVectorizer

rng = np.random.default_rng(1)
n = 3000
age, price = rng.integers(18, 80, n), rng.gamma(4, 15, n).round()
plan, city = rng.choice(["monthly", "yearly", "free"], n), rng.choice(["Oslo", "Rome", "Lima", "Kyoto"], n)
since = pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.integers(0, 2500, n), unit="D")
leaves = 0.03 * (price - 60) - 0.02 * (age - 48) + 1.5 * (plan == "monthly") - (plan == "yearly") + (city == "Lima") - 0.5
leaves += 0.001 * (since - since.min()).days - 1.2 + rng.logistic(scale=0.5, size=n)
y = np.where(leaves > 0, "leaves", "stays")
table = pd.DataFrame({
    "age": np.where(rng.random(n) < 0.1, np.nan, age), "price": price, "plan": plan,
    "city": np.where(rng.random(n) < 0.1, None, city), "since": since,
})
print(table.head())

# %%
# The pipeline takes the data frame as it is.

pipeline = make_stream_pipeline(TableVectorizer(bits=0, max_values=16), AROWClassifier())
ours = progressive_validation(pipeline, (table, y), every=20)

# %%
# For comparison, the numbers alone: the year of the date, holes filled with 0.

numbers = np.column_stack([table["age"].fillna(0), price, since.year])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    plain = progressive_validation(AROWClassifier(), (numbers, y), classes=["leaves", "stays"], every=20)

# %%
# Positive weights speak for a customer who leaves.

BLUE, RED, GREY, INK = "#2b6cb0", "#c53030", "#a0aec0", "#1a202c"
names, weights = pipeline[0].get_feature_names_out(), -pipeline[-1].coef_[0]
order = np.argsort(weights)
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 5), width_ratios=[1.25, 1], layout="constrained")
left.barh(range(16), weights[order], color=np.where(weights[order] > 0, RED, BLUE), height=0.75)
for i, (name, weight) in enumerate(zip(names[order], weights[order], strict=True)):
    left.text(-0.03 if weight > 0 else 0.03, i, name, ha="right" if weight > 0 else "left", va="center", fontsize=10)
left.text(-0.95, 2.5, "stays", color=BLUE, weight="bold", fontsize=15, va="center")
left.text(0.95, 12.5, "leaves", color=RED, weight="bold", fontsize=15, va="center", ha="right")
left.set(title="weights after one pass", xticks=[-0.5, 0, 0.5], yticks=[], xlim=(-0.95, 0.95))
left.spines["left"].set_visible(False)
for result, colour, name, gap in ((plain, GREY, "numbers as they stand", 5), (ours, INK, "TableVectorizer", -4)):
    right.plot(result.examples, 100 * result.error, color=colour, linewidth=3)
    right.text(3000, 100 * result.error[-1] + gap, name, color=colour, weight="bold", ha="right")
right.set(title="mistakes so far, %", xlabel="rows seen", ylim=(0, 60), xlim=(0, 3000), xticks=[0, 1500, 3000])
plt.show()
