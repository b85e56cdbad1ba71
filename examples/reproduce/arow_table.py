"""AROW paper, Table 1 and Fig. 3: mean rank and test accuracy of PA, SOP, CW and AROW over text and digit tasks, by label noise.

Parameters and the number of passes, 1 to 10, are chosen by one randomised run of each task, as in the paper, on 2,000 rows of it;
where several do equally well there, an accuracy is the mean over them. Labels are turned in what is learnt, and accuracies are
those of the right labels, in that run too. Rows are the paper's: counts of words and of pairs of words in reviews, words that
occur in newsgroups, counts of words in mail, news stories of unit length, pixels of digits. Means are weighted as the paper's 130
tasks are. USPS is read from usps.npz, with the arrays of mnist.npz, if there is one. All tasks that there are data for are always
run; --full has all ten folds of texts, without it there are three.
"""

import sys
from functools import partial
from itertools import combinations, product

import numpy as np
from common import DATA, FULL, SMOKE, flipped, keep, read_tsv, reading, sentence
from scipy.sparse import csr_matrix, vstack

from onlinecls import AROWClassifier, ConfidenceWeightedClassifier, PassiveAggressiveClassifier, SecondOrderPerceptron
from onlinecls.streams import read
from onlinecls.text import HashingVectorizer

NOISE = (0.0, 0.1, 0.3) if SMOKE else (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
ROWS = 200 if SMOKE else 2000
PASSES = 2 if SMOKE else 10
N_FOLDS = 10 if FULL else 1 if SMOKE else 3  # of texts
PAPER = {"text": 30, "pair of digits": 90, "digit against the rest": 10}  # tasks
NO = {"scale": 1.0, "fit_intercept": False}
EVIDENCE = [10.0**k for k in range(-2, 7)]
ETA = [0.51, 0.55, 0.7, 0.8, 0.9]
C = [10.0**k for k in range(-6, 2)]
KINDS = {
    "PA": (lambda C: PassiveAggressiveClassifier(C=C, **NO), [np.inf]),
    "PA-I": (lambda C: PassiveAggressiveClassifier(C=C, **NO), C),
    "PA-II": (lambda C: PassiveAggressiveClassifier(C=C, loss="squared_hinge", **NO), C),
    "SOP": (lambda r: SecondOrderPerceptron(r=r, initial_variance=1.0, **NO), EVIDENCE),
    "CW stdev": (lambda eta: ConfidenceWeightedClassifier(eta=eta, initial_variance=1.0, **NO), ETA),
    "CW variance": (lambda eta: ConfidenceWeightedClassifier(eta=eta, variant="variance", initial_variance=1.0, **NO), ETA),
    "AROW": (lambda r: AROWClassifier(r=r, **NO), EVIDENCE),
}
PAS, FORMS = ("PA", "PA-I", "PA-II"), ("CW stdev", "CW variance")
WAYS = {"each": "parameters chosen at each level", "once": "chosen once, without noise"}
SHOWN = (0.0, 0.1, 0.3)  # levels of noise in Fig. 3
MIX = "the paper's mix of tasks"
SOURCE = "AROW paper, section 5, Table 1 and Fig. 3"
WORDS = partial(HashingVectorizer, n_features=2**18, alternate_sign=False)
REVIEWS = HashingVectorizer(n_features=2**20, alternate_sign=False, norm=None, ngram_range=(1, 2))
NEWSGROUPS = WORDS(norm=None, ngram_range=(1, 1), binary=True)
NEWS, MAIL = WORDS(ngram_range=(1, 1)), WORDS(norm=None, ngram_range=(1, 1))
GROUPS = [("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"), ("sci.electronics", "sci.med"),
          ("talk.politics.guns", "talk.politics.mideast")]


def lines_of(*names):
    """Return the lines of label and text of these files, of those that are there."""
    return [line for name in names if (DATA / f"{name}.tsv.gz").exists() for line in read_tsv(f"{name}.tsv.gz")]


def texts():
    """Yield (name, vectorizer, lines of label and text) of the text tasks that there are data for."""
    reviews, posts = lines_of("amazon-domains"), lines_of("20news-train", "20news-test")
    stories = lines_of("reuters21578-single-train")
    labels, counts = np.unique([label for label, _ in stories], return_counts=True)
    common = [str(label) for label in labels[np.argsort(-counts)][:4]]
    for vectorizer, lines, pairs in ((REVIEWS, reviews, combinations(sorted({label for label, _ in reviews}), 2)),
                                     (NEWSGROUPS, posts, GROUPS), (NEWS, stories, list(combinations(common, 2))[:3])):
        for pair in pairs if lines else ():
            yield f"{pair[0]} or {pair[1]}", vectorizer, [line for line in lines if line[0] in pair]
    for name in ("amazon-books", "amazon-dvd", "imdb-train", "spamassassin", "sms-spam"):
        if lines := lines_of(name):
            yield name, MAIL if "spam" in name else REVIEWS, lines


def words():
    """Yield (name, X, signs) of the text tasks that there are data for."""
    for name, vectorizer, lines in texts():
        lines = [lines[i] for i in np.random.default_rng(0).permutation(len(lines))[:ROWS]]
        labels = np.array([label for label, _ in lines])
        yield name, vectorizer.transform([text for _, text in lines]), np.where(labels == np.unique(labels)[-1], 1, -1)
    for name in ("ecml-spam-a-u00", "ecml-spam-a-u00-tune", "rcv1-vw-small"):
        if (DATA / f"{name}.svm.gz").exists():
            with read(DATA / f"{name}.svm.gz", n_features=2**17) as batches:
                matrices, labels = zip(*((X, y) for X, y, *_ in batches), strict=True)
            y = np.concatenate(labels).astype(float)
            at = np.random.default_rng(0).permutation(len(y))[:ROWS]
            X = vstack(matrices).tocsr()[at]
            if name.startswith("rcv1"):
                X = X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))).tocsr()
            yield name, X, np.where(y[at] > 0.0, 1, -1)


def folds():
    """Yield (name, kind, [(rows to learn, signs, rows to test, signs), ...]) of every task."""
    for name, X, y in words():
        X, number = X[:, np.unique(X.indices)], np.arange(len(y)) % 10  # columns without a word change nothing
        yield name, "text", [(X[number != k], y[number != k], X[number == k], y[number == k]) for k in range(N_FOLDS)]
    for source in ("mnist", "usps"):
        if not (DATA / f"{source}.npz").exists():
            continue
        with np.load(DATA / f"{source}.npz") as data:
            arrays = {name: data[name] for name in ("X_train", "y_train", "X_test", "y_test")}
        tasks = [(f"{a} or {b}", "pair of digits", (a, b), b) for a, b in combinations(range(10), 2)]
        if source == "mnist":
            tasks += [(f"{digit} or another", "digit against the rest", range(10), digit) for digit in range(10)]
        for name, kind, digits, positive in tasks[::9] if SMOKE else tasks:
            parts = []
            for which, most in (("train", ROWS), ("test", None)):
                y = arrays[f"y_{which}"].astype(int)
                at = np.random.default_rng(0).permutation(np.flatnonzero(np.isin(y, list(digits))))[:most]
                rows = arrays[f"X_{which}"].reshape(len(y), -1)[at] / float(arrays["X_train"].max())
                parts += [csr_matrix(rows), np.where(y[at] == positive, 1, -1)]
            yield f"{source} {name}", kind, [tuple(parts)]


def passes(X, seen):
    """Return the rows and labels of each pass, in orders of their own."""
    orders = [np.random.default_rng(number).permutation(len(seen)) for number in range(1, PASSES)]
    return [(X, seen), *((X[order], seen[order]) for order in orders)]


def accuracies(learner, rounds, T, z):
    return [np.mean(learner.partial_fit(X, seen, classes=[-1, 1]).predict(T) == z) for X, seen in rounds]


def chosen(X, clean, seen, order):
    """Return the (parameter, passes) of each algorithm that do best on a fifth of the rows, after one run on the others."""
    middle, best = len(seen) * 4 // 5, {}
    learn, judge = order[:middle], order[middle:]
    rounds = passes(X[learn], seen[learn])
    for name, (make, grid) in KINDS.items():
        scores = np.array([accuracies(make(value), rounds, X[judge], clean[judge]) for value in grid])
        best[name] = [(grid[value], int(number) + 1) for value, number in np.argwhere(scores == scores.max())]
    return best


def results():
    """Return the kind of each task, and its accuracy by (way of choosing parameters, noise) and algorithm."""
    kinds, found = [], {(way, noise): [] for way in WAYS for noise in NOISE}
    for name, kind, parts in folds():
        X, y = parts[0][:2]
        first = None
        for noise in NOISE:
            rng = np.random.default_rng(7)
            order, seen = rng.permutation(len(y)), flipped(y, noise, rng)
            best = chosen(X, y, seen, order)
            first = first or best
            longest = {}
            for algorithm, settings in (*best.items(), *first.items()):
                for value, number in settings:
                    longest[algorithm, value] = max(number, longest.get((algorithm, value), 0))
            scores = {run: np.zeros(number) for run, number in longest.items()}
            for A, b, B, clean in parts:
                rounds = passes(A, flipped(b, noise, np.random.default_rng(8)))
                for (algorithm, value), number in longest.items():
                    of = accuracies(KINDS[algorithm][0](value), rounds[:number], B, clean)
                    scores[algorithm, value] += np.divide(of, len(parts))
            for way, settings in zip(WAYS, (best, first), strict=True):
                found[way, noise].append([np.mean([scores[algorithm, value][number - 1] for value, number in tied])
                                          for algorithm, tied in settings.items()])
        kinds.append(kind)
        print(f"arow_table: {name}", flush=True)
    return np.array(kinds), {key: dict(zip(KINDS, np.transpose(rows), strict=True)) for key, rows in found.items() if kinds}


class Tasks:
    """Accuracies of the tasks, their ranks, and means of them over the tasks of a mix."""

    def __init__(self, kinds, found):
        self.kinds, self.found = kinds, found
        paper = {kind: n for kind, n in PAPER.items() if kind in kinds}
        rows = {"text": {kind: n for kind, n in paper.items() if kind == "text"},
                "digits": {kind: n for kind, n in paper.items() if kind != "text"}}
        self.parts = [row for row, of in rows.items() if of]  # the rows of Fig. 3
        self.mixes = {MIX: paper} | {row: rows[row] for row in self.parts}

    def mean(self, values, mix=MIX):
        """Return the mean, each kind of task as often as in the mix, and its standard error, by the spread within each kind."""
        shares = [(n / sum(self.mixes[mix].values()), values[self.kinds == kind]) for kind, n in self.mixes[mix].items()]
        error = sum(share**2 * part.var(ddof=min(1, len(part) - 1)) / len(part) for share, part in shares)
        return float(sum(share * part.mean() for share, part in shares)), float(np.sqrt(error))

    def accuracies(self, way, name, mix=MIX):
        """Return the mean accuracy, in percent, by noise."""
        return [100 * self.mean(self.found[way, noise][name], mix)[0] for noise in SHOWN]

    def won(self, way, other, mix=MIX):
        """Return the share of tasks in which AROW is the better one, half of those in which both are the same, in percent."""
        gaps = [self.found[way, noise]["AROW"] - self.found[way, noise][other] for noise in SHOWN]
        return [100 * self.mean((1 + np.sign(gap)) / 2, mix)[0] for gap in gaps]

    def ranks(self, way, noise, pa, cw):
        """Return the ranks of four algorithms, and halves where accuracies are the same."""
        names = pa, "SOP", cw, "AROW"
        of = np.array([self.found[way, noise][name] for name in names])
        return dict(zip(names, 0.5 + sum((other > of) + (other == of) / 2 for other in of), strict=True))

    def mean_ranks(self, way, noise, pa, cw, mix=MIX):
        return {name: self.mean(ranks, mix)[0] for name, ranks in self.ranks(way, noise, pa, cw).items()}

    def lead(self, way, noise, pa, mix=MIX):
        """Return AROW's lead in mean rank over the best baseline, its error, that baseline; the smaller of CW's two forms."""
        leads = []
        for cw in FORMS:
            ranks, means = self.ranks(way, noise, pa, cw), self.mean_ranks(way, noise, pa, cw, mix)
            other = min((name for name in means if name != "AROW"), key=means.get)
            leads.append((*self.mean(ranks[other] - ranks["AROW"], mix), other))
        return min(leads)


def listed(ranks):
    return ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items())


def row(values):
    return " / ".join(f"{value:.1f}" for value in values)


def order(gap, error, other):
    """Say which is first and by how much; the order is open below two standard errors."""
    return f"{'AROW' if gap > 0 else other} by {abs(gap):.2f} ± {error:.2f}" + ("" if abs(gap) > 2 * error else " (open)")


def readings(choices, found):
    """Return a reading for each combination of choices, of which `found` says what was found, and whether it held."""
    return [reading(", ".join(WAYS.get(part, part) for part in parts), *found(*parts)) for parts in product(*choices)]


def table_1(tasks):
    """Return the paper's sentences about Table 1."""

    def first(pa, way):
        leads = {noise: tasks.lead(way, noise, pa) for noise in NOISE}
        return "; ".join(f"{noise:.0%} {order(*one)}" for noise, one in leads.items()), all(gap > 0 for gap, *_ in leads.values())

    def grows(pa, way):
        clean, noisy = tasks.lead(way, 0.0, pa), tasks.lead(way, 0.3, pa)
        return f"at 0% {order(*clean)}; at 30% {order(*noisy)}", noisy[0] > clean[0]

    def easily(pa, cw):
        ranks, means = tasks.ranks("each", 0.0, pa, cw), tasks.mean_ranks("each", 0.0, pa, cw)
        other = min(pa, "SOP", key=means.get)
        gap, error = tasks.mean(ranks[other] - ranks[cw])
        return f"{cw} {means[cw]:.2f}, {other} {means[other]:.2f}: {gap:.2f} ± {error:.2f}", gap > 2 * error

    def suffers(cw, way):
        ranks = [(pa, *(tasks.mean_ranks(way, noise, pa, cw)[cw] for noise in (0.0, 0.3))) for pa in PAS]
        return (f"mean accuracy {row(tasks.accuracies(way, cw))} % at 0, 10, 30 %; mean rank at 0 and 30 % "
                + ", ".join(f"{a:.2f} and {b:.2f} with {pa}" for pa, a, b in ranks), all(b > a for _, a, b in ranks))

    def best(pa, cw):
        means = {way: {name: np.mean([tasks.mean_ranks(way, noise, pa, cw)[name] for noise in NOISE]) for name in (pa, "SOP", cw)}
                 for way in WAYS}
        return ("mean of the mean ranks at all levels: " + "; ".join(f"{WAYS[way]}: {listed(of)}" for way, of in means.items()),
                all(min(of, key=of.get) == cw for of in means.values()))

    return [
        sentence("A5", "AROW outperforms the baselines at all noise levels [by mean rank] ...",
                 readings((PAS, WAYS), first)),
        sentence("A6", "... but does especially well as noise increases [its lead over the best baseline at 0 and 30 %].",
                 readings((PAS, WAYS), grows)),
        sentence("A14", "CW easily outperforms the other baselines [when label noise is low: at 0 %, by two standard errors].",
                 readings((PAS, FORMS), easily)),
        sentence("A15", "As noise increases, the separability assumption inherent in CW appears to reduce its performance "
                 "considerably [mean rank; accuracy].", readings((FORMS, WAYS), suffers)),
        sentence("A16", "CW [is] the overall best performing baseline.", readings((PAS, FORMS), best)),
    ]


def figure_3(tasks):
    """Return the paper's sentences about Fig. 3, at 0, 10 and 30 % noise."""

    def comparable(cw):
        ours, theirs = tasks.accuracies("each", "AROW")[0], tasks.accuracies("each", cw)[0]
        return f"mean accuracy of AROW {ours:.2f} %, of {cw} {theirs:.2f} %", abs(ours - theirs) < 0.5

    def majority(cw):
        share = tasks.won("each", cw)[0]
        return f"in {share:.1f} % of the tasks", share > 50

    def improves(cw, measure, steps):
        if measure == "% of tasks won":
            found = {mix: tasks.won("each", cw, mix) for mix in tasks.parts}
        else:
            found = {mix: np.subtract(*(tasks.accuracies("each", name, mix) for name in ("AROW", cw))) for mix in tasks.parts}
        step = 1 if steps == "at each step" else 2
        return ("; ".join(f"{mix} {row(values)}" for mix, values in found.items()),
                all((np.diff(values[::step]) > 0).all() for values in found.values()))

    def almost_every(way, *others):
        shares = {other: tasks.won(way, other)[-1] for other in others}
        return "; ".join(f"{other} in {share:.1f} % of the tasks" for other, share in shares.items()), min(shares.values()) >= 90

    def matches(cw, way):
        ours, theirs = tasks.accuracies(way, "AROW"), tasks.accuracies(way, cw)
        return (f"mean accuracy of AROW {row(ours)} %, of {cw} {row(theirs)} %",
                ours[0] > theirs[0] - 0.5 and ours[0] - ours[-1] < theirs[0] - theirs[-1])

    return [
        sentence("A7", "AROW and CW are comparable when there is no added noise [mean accuracies within half a point] ...",
                 readings((FORMS,), comparable)),
        sentence("A8", "... with AROW winning the majority of the time.", readings((FORMS,), majority)),
        sentence("A9", "AROW improves relative to CW as noise increases [in texts and in digits].",
                 readings((FORMS, ("% of tasks won", "points of accuracy"), ("from 0 to 30 %", "at each step")), improves)),
        sentence("A10", "In almost every high noise evaluation, AROW improves over CW [at 30 %, in nine of ten tasks] ...",
                 readings((WAYS, FORMS), almost_every)),
        sentence("A11", "... (as well as the other baselines, not shown).",
                 readings((WAYS, PAS, ("SOP",)), almost_every)),
        sentence("A17", "AROW ... matches CW's performance in general [without noise at most half a point below] while avoiding "
                 "degradation under noise [it loses less from 0 to 30 %].", readings((FORMS, WAYS), matches)),
    ]


def main():
    kinds, found = results()
    if not found:
        keep("arow_table", SOURCE, [], {}, "no data sets")
        return
    tasks = Tasks(kinds, found)
    numbers = {f"{WAYS[way]}, {pa}, {cw}, {mix}": {f"{noise:.0%}": tasks.mean_ranks(way, noise, pa, cw, mix) for noise in NOISE}
               for way, pa, cw, mix in product(WAYS, PAS, FORMS, tasks.mixes)}
    keep("arow_table", SOURCE, sorted(table_1(tasks) + figure_3(tasks), key=lambda one: int(one["number"][1:])),
         {"mean rank": numbers},
         remarks=[
             f"{len(kinds)} tasks, and the paper's {sum(PAPER.values())}: " + ", ".join(
                 f"{int(np.sum(kinds == kind))} and {n} of the kind {kind!r}" for kind, n in PAPER.items())
             + "; means give each kind its number in the paper" + ("" if (DATA / "usps.npz").exists() else "; no USPS here"),
             "the paper does not say which of the three forms in its reference [3] its PA is, nor which of two its CW; where a "
             "row names no form of CW, it is the one that leaves AROW the smaller lead",
             "± is one standard error over the tasks, as if they shared no digits; a difference below two is called open",
             f"{N_FOLDS} folds of each text, 1 to {PASSES} passes; where several settings do equally well in the run that "
             "chooses them, accuracies are means over these; a row of numbers a / b / c is at 0, 10 and 30 % noise",
         ])


if __name__ == "__main__":
    sys.exit(main())
