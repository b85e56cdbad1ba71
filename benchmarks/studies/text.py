"""Hashing of texts against scikit-learn's HashingVectorizer, in turns, on one thread: nanoseconds a byte of UTF-8, and ratios.

    PYTHONPATH=benchmarks python -m studies.text [--rounds 7] [--write]

English is imdb-train as ASCII. There is no set of other scripts in ../shared/data, so the other texts are the same reviews
transliterated, letter for letter and digraph for digraph, into Cyrillic, accented Latin and Chinese characters: their lengths of
words, repetitions and punctuation stay those of real text. --write puts the table into docs/text.md.
"""

import warnings

import numpy as np
from corpora import _read_text, _require
from pages import options, shown, table, write_between_if
from sklearn.feature_extraction.text import HashingVectorizer as Peer

from onlinecls.text import FeatureNames, HashingVectorizer

from . import seconds

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
    "unigrams, names learnt": {},
    "another token pattern": {"token_pattern": r"[^\W_]+"},
}


def rows(rounds):
    for kind, rows in texts().items():
        few = rows[: len(rows) // 10]
        sizes = [sum(len(row.encode()) for row in some) for some in (few, rows)]
        for case, params in CASES.items():
            if kind != "ASCII English" and case not in ("unigrams", "uni- and bigrams"):
                continue
            peer = Peer(**params)
            times = []
            for _ in range(rounds):
                ours = HashingVectorizer(**params)
                ours = FeatureNames(ours) if case.endswith("learnt") else ours
                times.append([seconds(lambda each=each, texts=texts: each.transform(texts))
                              for each, texts in ((peer, few), (ours, rows))])
            theirs, mine = (np.array(column) * 1e9 / size for column, size in zip(zip(*times, strict=True), sizes, strict=True))
            yield kind, case, f"{np.median(theirs):.1f}", f"{np.median(mine):.2f}", f"{np.median(theirs / mine):.1f}"


def main():
    args = options(__doc__, rounds=7)
    warnings.simplefilter("ignore")
    head = "text", "tokens", "scikit-learn, ns/byte", "onlinecls, ns/byte", "ratio"
    write_between_if(args.write, "text.md", "speed", table(head, shown(rows(args.rounds)), left=2))


if __name__ == "__main__":
    main()
