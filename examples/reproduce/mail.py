"""The tutorial's part IV: mail into folders by DA1, DA2 and DA3, with two regularizers whose parameters one rule chooses.

The tutorial says of the updates that each raises the dual by at least as much as the one before, from the same model. Its results
are pictures without a number: mistakes are in the numbers of this script, and are no statements of it.
"""

import copy
import sys
from pathlib import Path

import numpy as np
from common import DATA, SMOKE, keep, reading, sentence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from email_folders import REGULARIZERS, UPDATES, learner, run, streams

MESSAGES = 50 if SMOKE else 400  # from each of which all updates are tried


def rises(kind, X, y):
    """Return by how much each update raises the dual for each message, from the model of DA3; shape (n, 3)."""
    X, found = X[:, np.unique(X.indices)], []
    model = learner(kind, "DA3").partial_fit(X[:0], y[:0], classes=np.unique(y))
    for t in range(len(y)):
        tried, before = [copy.deepcopy(model).set_params(update=update) for update in UPDATES], model.dual_value_
        found.append([one.partial_fit(X[t : t + 1], y[t : t + 1]).dual_value_ - before for one in tried])
        model = tried[-1]
    return np.array(found)


def expected(X, y):
    """Return the ratio of the two regularizers' bounds of a user, and √(r log(d)/s); w*: the last weights of DA3."""
    weights = learner("Euclidean", "DA3").partial_fit(X, y, classes=np.unique(y)).coef_
    d = len(np.unique(X.indices)) * len(np.unique(y))
    longest = np.sqrt(np.bincount(np.repeat(np.arange(len(y)), np.diff(X.indptr)), X.data**2).max())
    ratio = np.abs(X.data).max() * np.abs(weights).sum() * np.sqrt(np.log(d)) / (longest * np.linalg.norm(weights))
    return float(ratio), float(np.sqrt(np.count_nonzero(weights) * np.log(d) / np.diff(X.indptr).max()))


def main():
    source = "the tutorial, parts III and IV (mail)"
    if not any(DATA.glob("enron-folders-*.tsv.gz")):
        keep("mail", source, [], {}, "the mail of the users (enron-folders-USER.tsv.gz) is not there")
        return
    mail = {user: (X[:200], y[:200]) if SMOKE else (X, y) for user, (X, y) in streams(DATA).items()}
    errors = {user: run(*rows) for user, rows in mail.items()}
    user, readings = min(mail, key=lambda user: len(np.unique(mail[user][1]))), []
    for kind in REGULARIZERS:
        found = rises(kind, *(part[:MESSAGES] for part in mail[user]))
        within = 1e-9 * np.abs(found).sum()  # of rounding
        more = np.mean(np.diff(found, axis=1) > within, axis=0)
        readings.append(reading(
            kind, f"for each of {len(found)} messages of {user}; larger for {more[0]:.0%} (DA2), {more[1]:.0%} (DA3)",
            (np.diff(found, axis=1) >= -within).all()))
    ratios = {user: expected(*rows) for user, rows in mail.items()}
    keep("mail", source, [
        sentence("Tutorial III", "[DA2's] increase in dual is at least as large as increase due to gradient descent [DA1's; and "
                 "DA3's as DA2's; from the same model].", readings, kind="theorem"),
        sentence("Tutorial IV", "Let s be the length of the longest email, r the number of non-zero elements of w*. Then, "
                 "Entropic/Euclidean [the regret bounds] ≤ √(r log(d)/s).", [reading(
                     "", "; ".join(f"{user} {ratio:.0f} of {most:.0f}" for user, (ratio, most) in ratios.items()),
                     all(ratio <= most for ratio, most in ratios.values()))], kind="theorem"),
    ], errors, remarks=[
        f"{len(mail)} users, whose mail is public in packages (the tutorial has seven, unnamed), in order of date, as presumably "
        "there; its results are pictures; w*: the last weights of DA3"])


if __name__ == "__main__":
    sys.exit(main())
