"""Which folder does this message go to? The tutorial's case study: three dual updates, two regularizers, mail in order of date.

    python examples/email_folders.py [FOLDER] [--picture onlinecls-email.png] [--write] [--choose]

Every message is put into a folder, then its right folder is learnt: rows are bags of words (1 where a word occurs), classes
are the folders of one user, and there is one vector of weights a folder. FOLDER (else what ONLINECLS_DATA names, else
../shared/data) has

    enron-folders-USER.tsv.gz    lines of FOLDER<TAB>TEXT in order of date, for each user (the tutorial's Enron data), or else
    20news-train.tsv.gz          the same of 20 newsgroups, or else
    any sub-folders of mail      a file a message, as mail programs and the original Enron data have it: try your own.

(The name is not email.py, for that would be the standard library's module to everything that this script imports.)
"""

import argparse
import email
import email.policy
import gzip
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

from onlinecls import DualAscentClassifier, progressive_validation
from onlinecls.text import HashingVectorizer

ROOT = Path(__file__).resolve().parents[1]
DATA = os.environ.get("ONLINECLS_DATA", ROOT / ".." / "shared" / "data")
# Chosen by --choose, both by one rule: of all powers of ten the fewest mistakes of DA1, DA2 and DA3 together on the mail of one
# user, lokay-m. A step multiplies entropic weights by e^(norm_bound/sigma) or less.
REGULARIZERS = {
    "Euclidean": {"sigma": 100.0},
    "entropic": {"regularizer": "entropic", "sigma": 1e6, "norm_bound": 1e5},
}
UPDATES = ("DA1", "DA2", "DA3")
CHOICES = {
    "Euclidean": [{"sigma": 10.0**i} for i in range(-3, 5)],
    "entropic": [
        {"regularizer": "entropic", "sigma": 10.0**i, "norm_bound": 10.0**j} for j in range(1, 8) for i in range(j - 2, j + 3)
    ],
}
LEARNERS = {
    f"{kind} {update}": DualAscentClassifier(update=update, scale=1.0, intercept_scaling=1.0, **own)
    for kind, own in REGULARIZERS.items() for update in UPDATES
}
WORDS = HashingVectorizer(n_features=2**16, binary=True, norm=None, alternate_sign=False)


def read_lines(path):
    """Return (folder, text) of each line."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]


def read_mail(folder):
    """Return (folder, text) of each message in the folders of a directory, by date."""
    messages = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.parent != folder):
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        body = message.get_body(("plain", "html"))
        try:
            when, text = message["date"].datetime.timestamp(), body.get_content()
        except (AttributeError, LookupError, ValueError):
            continue  # no mail
        messages.append((when, str(path.parent.relative_to(folder)), f"{message['from']} {message['subject']} {text}"))
    return [message[1:] for message in sorted(messages)]


def streams(data):
    """Return {user: (folder, text) of each message in order}."""
    found = {path.name[len("enron-folders-") : -len(".tsv.gz")]: path for path in sorted(data.glob("enron-folders-*.tsv.gz"))}
    if not found and (data / "20news-train.tsv.gz").exists():
        found = {"20 newsgroups": data / "20news-train.tsv.gz"}
    if found:
        return {name: read_lines(path) for name, path in found.items()}
    mail = {data.name: read_mail(data)} if data.is_dir() else {}
    if len({folder for messages in mail.values() for folder, _ in messages}) < 2:
        sys.exit(
            f"no mail in {data}: the example needs enron-folders-USER.tsv.gz, 20news-train.tsv.gz (lines of FOLDER<TAB>TEXT), or "
            "two sub-folders or more with a file a message. Name the folder that has one of these, or set ONLINECLS_DATA to it."
        )
    return mail


def run(messages):
    y, X = np.array([folder for folder, _ in messages]), WORDS.transform([text for _, text in messages])
    every = max(len(y) // 200, 1)
    return {
        name: progressive_validation(type(learner)(**learner.get_params()), (X, y), classes=np.unique(y), every=every)
        for name, learner in LEARNERS.items()
    }


def choose(messages):
    """Print the errors of the candidates of each regularizer, and the chosen parameters."""
    y, X = np.array([folder for folder, _ in messages]), WORDS.transform([text for _, text in messages])
    for kind, choices in CHOICES.items():
        mistakes = []
        for own in choices:
            learners = [DualAscentClassifier(update=update, scale=1.0, intercept_scaling=1.0, **own) for update in UPDATES]
            found = [progressive_validation(learner, (X, y), classes=np.unique(y)).progressive_error for learner in learners]
            mistakes.append(sum(found))
            print(f"{kind}: {own}", *(f"{update} {100 * error:.1f} %" for update, error in zip(UPDATES, found, strict=True)))
        print(f"{kind}: chosen {choices[int(np.argmin(mistakes))]}\n")


def table(results, sizes):
    """Format the percentage of messages in a wrong folder."""
    lines = [
        f"| mistakes, % of messages | messages | folders | {' | '.join(LEARNERS)} |",
        "|---|" + "---:|" * (len(LEARNERS) + 2),
    ]
    for user, found in results.items():
        shown = [f"{100 * found[name].progressive_error:.1f}" for name in LEARNERS]
        lines.append(f"| {user} | {sizes[user][0]:,} | {sizes[user][1]} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def draw(results, path):
    """Draw the mistakes so far, a panel for each user."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from onlinecls.plotting import ProgressiveDisplay

    n_columns = min(len(results), 3)
    n_lines = -(-len(results) // n_columns)
    figure, axes = plt.subplots(n_lines, n_columns, figsize=(6 * n_columns, 4.5 * n_lines), layout="constrained", squeeze=False)
    for ax, (user, found) in zip(axes.flat, results.items(), strict=False):
        display = ProgressiveDisplay.from_results(found, ax=ax)
        for name, line in display.lines_.items():  # a colour for each update, a style for each regularizer, in all panels
            regularizer, update = name.split()
            line.set(color={"DA1": "tab:red", "DA2": "tab:orange", "DA3": "tab:blue"}[update])
            line.set(linestyle="-" if regularizer == "Euclidean" else "--")
        ax.set(title=user, xlabel="messages seen")
        ax.legend(fontsize="small", loc="best")
    for ax in axes.flat[len(results) :]:
        ax.remove()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path(DATA), metavar="FOLDER")
    parser.add_argument("--picture", default="onlinecls-email.png", help="where to draw the mistakes so far")
    parser.add_argument("--write", action="store_true", help="put the table into docs/dual_ascent.md")
    parser.add_argument("--choose", action="store_true", help="choose the parameters on the mail of lokay-m (or the first user)")
    arguments = parser.parse_args()

    mail = streams(arguments.data)
    if arguments.choose:
        choose(mail.get("lokay-m") or next(iter(mail.values())))
        return
    sizes = {user: (len(messages), len({folder for folder, _ in messages})) for user, messages in mail.items()}
    results = {user: run(messages) for user, messages in mail.items()}
    found = table(results, sizes)
    print(found)
    if arguments.write:
        sys.path.insert(0, str(ROOT))
        from benchmarks.pages import write_between

        write_between(ROOT / "docs" / "dual_ascent.md", "email", found)
    try:
        draw(results, arguments.picture)
    except ImportError:
        print("\nNo picture: matplotlib is not installed (pip install 'onlinecls[demo]').")
    else:
        print(f"\n{arguments.picture}: mistakes so far.")


if __name__ == "__main__":
    main()
