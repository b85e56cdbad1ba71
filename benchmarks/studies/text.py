"""Hashing of texts against scikit-learn's HashingVectorizer, in turns, on one thread: nanoseconds a byte of UTF-8, and ratios.

    PYTHONPATH=benchmarks python -m studies.text [--rounds 7] [--write]

English is imdb-train as ASCII. There is no set of other scripts in ../shared/data, so the other texts are the same reviews
transliterated, letter for letter and digraph for digraph, into Cyrillic, accented Latin and Chinese characters: their lengths of
words, repetitions and punctuation stay those of real text. --write puts the table into docs/text.md.
"""

import argparse
import time
import warnings

import numpy as np
from corpora import _read_text, _require
from pages import DOCS, write_between
from sklearn.feature_extraction.text import HashingVectorizer as Peer

from onlinecls.text import FeatureNames, HashingVectorizer

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ACCENTED = str.maketrans("aeioucnyAEIOUCNY", "áéîöùçñýÁÉÎÖÙÇÑÝ")
CYRILLIC = str.maketrans(LETTERS + LETTERS.upper(), "абцдефгхижклмнопярстувшыьз" + "АБЦДЕФГХИЖКЛМНОПЯРСТУВШЫЬЗ")
CHINESE = str.maketrans({**{c: chr(0x4E00 + 37 * i) for i, c in enumerate(LETTERS)}, " ": "", ",": "，", ".": "。"})


def texts():
    _, rows = _read_text(_require("imdb-train"))
    english = [row.encode("ascii", "ignore").decode() for row in rows[:3000]]
    return {
        "ASCII English": english,
        "accented Latin": [row.translate(ACCENTED) for row in english],
        "Cyrillic": [row.translate(CYRILLIC) for row in english],
        "Chinese": [row.lower()[::2].translate(CHINESE) for row in english],
    }


CASES = {
    "unigrams": {},
    "unigrams, float32": {"dtype": np.float32},
    "uni- and bigrams": {"ngram_range": (1, 2)},
    "characters 3-5 in words": {"analyzer": "char_wb", "ngram_range": (3, 5)},
    "unigrams, 300 stop words": {"stop_words": "english"},
    "unigrams, names kept": {"feature_names": True},
    "another token pattern": {"token_pattern": r"[^\W_]+"},
}


def seconds(vectorizer, rows):
    """Measure this thread's CPU time, without other work of the machine."""
    start = time.thread_time()
    vectorizer.transform(rows)
    return time.thread_time() - start


def table(rounds):
    lines = ["| text | tokens | scikit-learn, ns/byte | onlinecls, ns/byte | ratio |", "|---|---|---:|---:|---:|"]
    for kind, rows in texts().items():
        few = rows[: len(rows) // 10]
        sizes = [sum(len(row.encode()) for row in some) for some in (few, rows)]
        for case, params in CASES.items():
            if kind != "ASCII English" and case not in ("unigrams", "uni- and bigrams"):
                continue
            peer = Peer(**{name: value for name, value in params.items() if name != "feature_names"})
            times = []
            for _ in range(rounds):
                ours = HashingVectorizer(**({"feature_names": FeatureNames()} if "feature_names" in params else params))
                times.append((seconds(peer, few), seconds(ours, rows)))
            theirs, mine = (np.array(column) * 1e9 / size for column, size in zip(zip(*times, strict=True), sizes, strict=True))
            row = f"{np.median(theirs):.1f} | {np.median(mine):.2f} | {np.median(theirs / mine):.1f}"
            lines.append(f"| {kind} | {case} | {row} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="put the table into docs/text.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = table(options.rounds)
    if options.write:
        write_between(DOCS / "text.md", "speed", found)


if __name__ == "__main__":
    main()
