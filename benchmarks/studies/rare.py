"""Rank rows of a rare class, with and without class_weight="balanced", and decide by cost; into docs/rare_classes.md.

Every learner learns the first half of a set in one pass and ranks the second. The positives of real sets are thinned out to a
share; two more sets are made from a seed. Numbers are means of random orders, each with other positives.

    PYTHONPATH=benchmarks python -m studies.rare [--write] [--sets NAME ...] [--orders N]     (a minute)
"""

import corpora
import numpy as np
import scipy.sparse as sp
from pages import options, shown, table, write_between_if, write_csv

import onlinecls
from onlinecls.measures import ClassificationMeasures, threshold_for_cost

SHARES = {"sms-spam": 0.02, "a9a": 0.01, "rcv1-subset1": 0.02, "spamassassin": 0.01, "ecml-spam": 0.02}
MADE = {"payments": 0.002, "clicks": 0.05}  # from a seed
COLUMNS = ("set", "rows", "positives in per cent", "learner", "AUC", "average precision", "balanced: AUC",
           "balanced: average precision")
COSTS = (1.0, 50.0)  # of a false positive and of a false negative
LEARNERS = {
    "`AROWClassifier()`": lambda **given: onlinecls.AROWClassifier(**given),
    "`SCWClassifier()`": lambda **given: onlinecls.SCWClassifier(**given),
    "`PassiveAggressiveClassifier()`": lambda **given: onlinecls.PassiveAggressiveClassifier(**given),
    "`PassiveAggressiveClassifier(average=True)`": lambda **given: onlinecls.PassiveAggressiveClassifier(average=True, **given),
    '`DualAscentClassifier(loss="log_loss")`': lambda **given: onlinecls.DualAscentClassifier(loss="log_loss", **given),
    "`CommitteeClassifier()`": lambda **given: onlinecls.CommitteeClassifier(**given),
}


def payments(generator, n=100_000):
    """Make payments: amounts, times and balances, standardised, and who is paid; frauds are of a few kinds."""
    numbers, shop = generator.normal(size=(n, 8)), generator.zipf(1.5, n) % 200
    kind, risky = generator.integers(0, 3, n), generator.normal(size=200)
    signal = 1.2 * numbers[np.arange(n), kind] + 0.8 * risky[shop] - 0.6 * numbers[:, 3] * (numbers[:, 4] > 0)
    signal += generator.gumbel(size=n)
    y = signal > np.quantile(signal, 0.99)
    kinds = sp.eye(3, format="csr")[kind]
    return sp.hstack([numbers, kinds, sp.eye(200, format="csr")[shop]], format="csr"), y


def clicks(generator, n=40_000):
    """Make clicks on advertisements: three categories a row, of which most values are rare, and their pairs of two."""
    values = [generator.zipf(1.3, n) % size for size in (50, 500, 5000)]
    effects = [generator.normal(size=size) for size in (50, 500, 5000, 25_000)]
    pairs = values[0] * 500 + values[1]
    signal = sum(effect[each] for effect, each in zip(effects, (*values, pairs), strict=True))
    signal += generator.logistic(size=n)
    y = signal > np.quantile(signal, 0.92)
    columns = np.stack([values[0], 50 + values[1], 550 + values[2], 5550 + pairs], axis=1)
    return sp.csr_matrix((np.ones(4 * n), columns.ravel(), np.arange(0, 4 * n + 1, 4)), shape=(n, 30_550)), y


def problem(name, order):
    """Return the rows of a set in a random order, with as many positives as its share says, and whether they are positive."""
    generator = np.random.default_rng(order)
    if name in MADE:
        (X, y), share = {"payments": payments, "clicks": clicks}[name](generator), MADE[name]
    else:
        parts = [corpora.load(part) for part in (
            ("ecml-spam-a-u00", "ecml-spam-a-u00-tune") if name == "ecml-spam" else (name,))]
        X, y, share = sp.vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts]) > 0, SHARES[name]
    negative, positive = np.flatnonzero(~y), np.flatnonzero(y)
    kept = generator.permutation(positive)[: round(share / (1.0 - share) * len(negative))]
    chosen = generator.permutation(np.concatenate([negative, kept]))
    return X[chosen].astype(np.float32), y[chosen].astype(int)


def ranked(learner, X, y):
    """Return AUC and average precision of the second half of the rows, after learning the first."""
    half = len(y) // 2
    learner.partial_fit(X[:half], y[:half], classes=[0, 1])
    rows = X[half:]
    found = ClassificationMeasures([0, 1]).update(y[half:], learner.predict(rows), learner.decision_function(rows))
    return found.auc, found.average_precision


def costs_of(X, y):
    """Return costs a thousand rows, of the second half, of ways to decide with AROW; `COSTS` of a mistake."""
    half, (false_positive, false_negative) = len(y) // 2, COSTS

    def learnt(**given):
        return onlinecls.AROWClassifier(**given).partial_fit(X[:half], y[:half], classes=[0, 1])

    def cost(predicted):
        wrong = np.where(y[half:] == 1, false_negative * (predicted == 0), false_positive * (predicted == 1))
        return 1000.0 * wrong.mean()

    calibrated, seen = learnt(probability=True), ClassificationMeasures([0, 1])
    onlinecls.progressive_validation(
        onlinecls.AROWClassifier(), (X[:half], y[:half]), classes=[0, 1], measures=seen, scores=True)
    rows = X[half:]
    return {
        "`predict`": cost(calibrated.predict(rows)),
        "`predict_proba` and `threshold_for_cost`": cost(calibrated.predict_proba(rows)[:, 1] >= threshold_for_cost(*COSTS)),
        "`decision_function` and `measures.threshold(cost=...)`":
            cost(calibrated.decision_function(rows) >= seen.threshold(cost=COSTS)),
        '`class_weight="balanced"`': cost(learnt(class_weight="balanced").predict(rows)),
        "`class_weight={0: 1, 1: 50}`": cost(learnt(class_weight={0: false_positive, 1: false_negative}).predict(rows)),
        "none is positive": cost(np.zeros(len(y) - half)),
    }


def measured(sets, orders, ranking, deciding):
    """Yield the line of each set and learner, and put numbers by title into `ranking` and `deciding`."""
    for name in sets:
        problems = [problem(name, order) for order in range(orders)]
        n_rows, share = len(problems[0][1]), 100.0 * problems[0][1].mean()
        for title, make in LEARNERS.items():
            numbers = np.concatenate([np.mean([ranked(make(class_weight=weight), X, y) for X, y in problems], axis=0)
                                      for weight in (None, "balanced")])
            ranking.setdefault(title, []).append(numbers)
            yield name, str(n_rows), f"{share:.2g}", title.replace("`", ""), *(f"{each:.3f}" for each in numbers)
        found = [costs_of(X, y) for X, y in problems]
        for way in found[0]:
            deciding.setdefault(way, []).append(np.mean([each[way] for each in found]))


def main():
    args, ranking, deciding = options(__doc__, sets=[*SHARES, *MADE], orders=5), {}, {}
    lines = list(shown(measured(args.sets, args.orders, ranking, deciding)))
    rows = []
    for title, found in ranking.items():
        numbers = np.array(found)
        worse = np.count_nonzero(numbers[:, 3] < numbers[:, 1])
        rows.append([title, *(f"{each:.3f}" for each in numbers.mean(axis=0)), f"{worse} of {len(found)}"])
    head = "learner", "AUC", "average precision", "`balanced`: AUC", "average precision", "worse on"
    write_between_if(args.write, "rare_classes.md", "ranking", table(head, rows))
    rows = ([way, *(f"{each:.0f}" for each in found)] for way, found in deciding.items())
    write_between_if(args.write, "rare_classes.md", "deciding", table(["AROW, by", *args.sets], rows))
    if args.write:
        write_csv("rare_classes.csv", [dict(zip(COLUMNS, line, strict=True)) for line in lines])


if __name__ == "__main__":
    main()
