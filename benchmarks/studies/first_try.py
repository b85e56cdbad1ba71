"""What many type first: accuracies of all defaults on scikit-learn's small tables, as they stand.

    PYTHONPATH=benchmarks python -m studies.first_try [--write]

Five-fold cross-validation (stratified, shuffled by seed 0) of `fit`, and of five `partial_fit` passes, each in another order.
"Not centred" has as intercept_scaling the number that "auto" would be if rows far from the origin were learnt as they stand. The
second table has the confidence-weighted learner's test accuracy on digits (a quarter held out) after passes over the rows.
``--write`` puts both into docs/defaults.md.
"""

import warnings

import numpy as np
from pages import options, table, write_between_if
from sklearn import datasets
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split

import onlinecls

SETS = ("iris", "wine", "breast_cancer", "digits")
LEARNERS = (
    "AROWClassifier", "NAROWClassifier", "SecondOrderPerceptron", "ConfidenceWeightedClassifier", "SCWClassifier",
    "AdaGradClassifier", "OGDClassifier", "DualAscentClassifier", "PassiveAggressiveClassifier", "Perceptron", "PNormPerceptron",
    "MultiplicativePassiveAggressiveClassifier", "CommitteeClassifier",
)
EPOCHS = (1, 2, 4, 6, 10)


def constant_of(X):
    """Return the power of two nearest to the median root mean square of the non-zeros of the first 16 rows."""
    sizes = sorted(2.0 ** np.round(np.log2(np.sqrt((row[row != 0.0] ** 2).mean()))) for row in X[:16])
    return float(sizes[(len(sizes) - 1) // 2])


def passes(learner, X, y, n, seed=0):
    """Yield the learner after each of n passes."""
    generator, classes = np.random.default_rng(seed), np.unique(y)
    for _ in range(n):
        order = generator.permutation(len(y))
        yield learner.partial_fit(X[order], y[order], classes=classes)


def accuracies(make, X, y):
    """Return the mean accuracies in per cent of `fit` and of five passes."""
    found = []
    for learn, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        fitted, (*_, passed) = make(X[learn]).fit(X[learn], y[learn]), passes(make(X[learn]), X[learn], y[learn], 5)
        found.append([100.0 * model.score(X[test], y[test]) for model in (fitted, passed)])
    return np.mean(found, axis=0)


def rows_of_table():
    tables = [getattr(datasets, f"load_{name}")(return_X_y=True) for name in SETS]
    for name in LEARNERS:
        cls = getattr(onlinecls, name)
        cells = []
        for X, y in tables:
            found = [accuracies(lambda _, cls=cls: cls(random_state=0), X, y)]
            if name != "CommitteeClassifier":  # (its members learn rows as they stand)
                found.append(accuracies(lambda X, cls=cls: cls(random_state=0, intercept_scaling=constant_of(X)), X, y))
            cells += [" / ".join(f"{each[at]:.1f}" for each in found) for at in (0, 1)]
        yield f"`{name}`", *cells
    yield "`SGDClassifier`", *(f"{x:.1f}" for X, y in tables for x in accuracies(lambda _: SGDClassifier(random_state=0), X, y))


def rows_of_epochs():
    X, y = datasets.load_digits(return_X_y=True)
    learn, test, learn_y, test_y = train_test_split(X, y, random_state=0, stratify=y)
    for settings in ({}, {"eta": 0.9}, {"variant": "variance"}):
        found = passes(onlinecls.ConfidenceWeightedClassifier(**settings), learn, learn_y, max(EPOCHS))
        scores = [100.0 * learner.score(test, test_y) for learner in found]
        shown = ", ".join(f"{name}={value}" for name, value in settings.items()) or "defaults"
        yield shown, *(f"{scores[n - 1]:.1f}" for n in EPOCHS)


def main():
    args = options(__doc__)
    head = ["accuracy, %; centred / not centred"]
    head += [cell for name in SETS for cell in (f"{name.replace('_', ' ')}, `fit`", "five passes")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, epochs = table(head, rows_of_table()), table(["accuracy, %, after passes", *map(str, EPOCHS)], rows_of_epochs())
    write_between_if(args.write, "defaults.md", "first_try", found)
    write_between_if(args.write, "defaults.md", "cw_epochs", epochs)


if __name__ == "__main__":
    main()
