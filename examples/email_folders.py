"""Which folder does this message go to? The tutorial's case study: three dual updates, two regularizers, mail in order of date.

    python examples/email_folders.py [FOLDER]

Every message is put into a folder, then its right folder is learnt: rows are bags of words (1 where a word occurs), classes
are the folders of one user, and there is one vector of weights a folder. FOLDER (else what ONLINECLS_DATA names, else
../shared/data) has enron-folders-USER.tsv.gz, lines of FOLDER<TAB>TEXT in order of date, for each user (the tutorial's Enron
data). The table printed is that of docs/dual_ascent.md. (A script called email.py would hide the standard library's module.)
"""

import gzip
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

from onlinecls import DualAscentClassifier, progressive_validation
from onlinecls.text import HashingVectorizer

DATA = Path(os.environ.get("ONLINECLS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
# Both by one rule: of all powers of ten, those with the fewest mistakes of the three updates together on the mail of lokay-m.
REGULARIZERS = {
    "Euclidean": {"sigma": 100.0},
    "entropic": {"regularizer": "entropic", "sigma": 1e6, "norm_bound": 1e5},
}
UPDATES = ("DA1", "DA2", "DA3")
NAMES = [f"{kind} {update}" for kind in REGULARIZERS for update in UPDATES]
WORDS = HashingVectorizer(n_features=2**16, binary=True, norm=None, alternate_sign=False)


def learner(kind, update):
    return DualAscentClassifier(update=update, scale=1.0, intercept_scaling=1.0, **REGULARIZERS[kind])


def streams(data):
    """Return {user: (rows, folders)}, each in order of date."""
    mail = {}
    for path in sorted(data.glob("enron-folders-*.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            mail[path.name[len("enron-folders-") : -len(".tsv.gz")]] = [line.rstrip("\n").split("\t", 1) for line in lines]
    if not mail:
        sys.exit(f"no mail in {data}: the example needs enron-folders-USER.tsv.gz, lines of FOLDER<TAB>TEXT. Name the folder "
                 "that has it, or set ONLINECLS_DATA to it.")
    return {user: (WORDS.transform([text for _, text in messages]), np.array([folder for folder, _ in messages]))
            for user, messages in mail.items()}


def run(X, y):
    """Return the percentage of messages that each learner puts into a wrong folder in one pass."""
    return {name: 100.0 * float(progressive_validation(learner(*name.split()), (X, y), classes=np.unique(y)).progressive_error)
            for name in NAMES}


def main():
    mail = streams(Path(sys.argv[1]) if sys.argv[1:] else DATA)
    print(f"| mistakes, % of messages | messages | folders | {' | '.join(NAMES)} |\n|---|" + "---:|" * (len(NAMES) + 2))
    for user, (X, y) in mail.items():
        print(f"| {user} | {len(y):,} | {len(np.unique(y))} | {' | '.join(f'{error:.1f}' for error in run(X, y).values())} |")


if __name__ == "__main__":
    main()
