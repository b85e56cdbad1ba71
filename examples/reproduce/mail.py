"""The tutorial's part IV: mail into folders by DA1, DA2 and DA3, with two regularizers whose parameters one rule chooses.

What the tutorial says of the updates is that each raises the dual by at least as much as the one before, from the same model. Its
results are pictures without a number or a word, so that mistakes are told here, and are no statements of it.
"""

import copy
import sys
from pathlib import Path

import numpy as np
from common import SMOKE, keep, reading, sentence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import email_folders
from common import DATA

from onlinecls import DualAscentClassifier, progressive_validation

MESSAGES = 50 if SMOKE else 400  # from each of which all updates are tried


def rows_of(messages):
    return email_folders.WORDS.transform([text for _, text in messages]), np.array([folder for folder, _ in messages])


def learner(kind, update, sigma=1.0):
    own = email_folders.REGULARIZERS[kind]
    return DualAscentClassifier(update=update, scale=1.0, intercept_scaling=1.0, **{**own, "sigma": sigma * own["sigma"]})


def rises(kind, messages):
    """Return by how much each update raises the dual for each message, from the model of DA3; shape (n, 3)."""
    X, y = rows_of(messages)
    X, found = X[:, np.unique(X.indices)], []
    model = learner(kind, "DA3").partial_fit(X[:0], y[:0], classes=np.unique(y))
    for t in range(len(y)):
        tried, before = [copy.deepcopy(model).set_params(update=update) for update in email_folders.UPDATES], model.dual_value_
        found.append([one.partial_fit(X[t : t + 1], y[t : t + 1]).dual_value_ - before for one in tried])
        model = tried[-1]
    return np.array(found)


def mean_errors(kind, mail, sigma):
    """Return the mean over the users of each update's share of messages in a wrong folder, with so many times the sigma."""
    errors = {update: [] for update in email_folders.UPDATES}
    for messages in mail.values():
        X, y = rows_of(messages)
        for update, of in errors.items():
            result = progressive_validation(learner(kind, update, sigma), (X, y), classes=np.unique(y), every=len(y))
            of.append(100.0 * float(result.progressive_error))
    return ", ".join(f"{update} {np.mean(of):.1f} %" for update, of in errors.items())


def expected(messages):
    """Return the ratio of the two regularizers' bounds of a user, and √(r log(d)/s).

    w* is taken to be the last weights of DA3, for the best are not known.
    """
    X, y = rows_of(messages)
    weights = learner("Euclidean", "DA3").partial_fit(X, y, classes=np.unique(y)).coef_
    d = len(np.unique(X.indices)) * len(np.unique(y))
    longest = np.sqrt(np.bincount(np.repeat(np.arange(len(y)), np.diff(X.indptr)), X.data**2).max())
    ratio = np.abs(X.data).max() * np.abs(weights).sum() * np.sqrt(np.log(d)) / (longest * np.linalg.norm(weights))
    return float(ratio), float(np.sqrt(np.count_nonzero(weights) * np.log(d) / np.diff(X.indptr).max()))


def main():
    if not any(DATA.glob("enron-folders-*.tsv.gz")):
        keep("mail", "the tutorial, part IV", [], {}, "the mail of the users (enron-folders-USER.tsv.gz) is not there")
        return
    mail = {user: messages[:200] if SMOKE else messages for user, messages in email_folders.streams(DATA).items()}
    results = {user: email_folders.run(messages) for user, messages in mail.items()}
    errors = {user: {name: 100 * float(one.progressive_error) for name, one in found.items()} for user, found in results.items()}

    user = min(mail, key=lambda user: len({folder for folder, _ in mail[user]}))
    readings, remarks = [], []
    for kind in email_folders.REGULARIZERS:
        found = rises(kind, mail[user][:MESSAGES])
        within = 1e-9 * np.abs(found).sum()  # of rounding
        larger = np.mean(np.diff(found, axis=1) > within, axis=0)
        sums = ", ".join(f"{name} {rise:.1f}" for name, rise in zip(email_folders.UPDATES, found.sum(axis=0), strict=True))
        readings.append(reading(
            kind, f"for each of {len(found)} messages of {user}; larger for {larger[0]:.0%} (DA2), {larger[1]:.0%} (DA3); "
            f"sums {sums}",
            (np.diff(found, axis=1) >= -within).all()))
        remarks.append(f"{kind}, messages in a wrong folder, mean of the users, with the chosen σ: "
                       f"{mean_errors(kind, mail, 1.0)}; with a hundredth of it: {mean_errors(kind, mail, 0.01)}")
    ratios = {user: expected(messages) for user, messages in mail.items()}
    keep("mail", "the tutorial, parts III and IV (mail)", [
        sentence("Tutorial III", "Increase in dual [by the locally aggressive scheme, DA2] is at least as large as increase due "
                 "to gradient descent [DA1; and by DA3, which maximizes over all of λ_t, as by DA2; each from the same model].",
                 readings, kind="theorem"),
        sentence("Tutorial IV", "Let s be the length of the longest email, r the number of non-zero elements of w*. Then, "
                 "Entropic/Euclidean [the regret bounds] ≤ √(r log(d)/s).", [reading(
                     "w* the last weights of DA3, d words times folders", "; ".join(
                         f"{user} {ratio:.0f} of {most:.0f}" for user, (ratio, most) in ratios.items())
                     + ", so that it does not tell which regularizer is the better one",
                     all(ratio <= most for ratio, most in ratios.values()))], kind="theorem"),
    ], errors, remarks=[
        f"{len(errors)} users, whose mail is public in packages (the tutorial has seven, unnamed), in order of date; its results "
        "are pictures, without words",
        *remarks])


if __name__ == "__main__":
    sys.exit(main())
