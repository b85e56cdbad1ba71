"""HashingVectorizer and scikit-learn's: the same rows to the bit, or the same kind of error."""

import warnings

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer as Peer

from fuzz.mutation import chance, one_of
from onlinecls.text import HashingVectorizer

ALPHABETS = [
    "ab c", "aAbB  \t\n", "aé ß İ\u0307ıǰ", "0123 _-.,;", "\x00\x1c\x85\xa0\u2028\u3000 a", "日本語 ab", "\U0001f600\u200d a",
    "\ud800\udfff ab", "ΣσςAΣ a", "the and of a not", "\u0345\u1fbc ﬁ ŉ", "'\"&<> b", "٣४ a b", "e\u0301 \u0300 a",
    "İ ıI\ud83d", "Ⱥ Ⱦ K Å Ω ΐ ǰ Კ 𐐀𐐨", "ñÑœŒẞ",
]
PATTERNS = [r"(?u)\b\w\w+\b", r"\w\w+", r"\b\w+\b", r"(?u)\w+", r"[a-z]+", r"(\w)\w*", r"\S+", r"(?i)[A-C]+", r"", r"\b"]


def text(draw):
    alphabet = one_of(draw, ALPHABETS) + (one_of(draw, ALPHABETS) if chance(draw, 0.3) else "")
    found = "".join(alphabet[i] for i in draw.integers(len(alphabet), size=int(draw.choice([0, 1, 3, 20, 200]))))
    if chance(draw, 0.15):
        return one_of(
            draw, [found.encode("utf-8", "surrogatepass"), found.encode("utf-16", "surrogatepass"), bytes(draw.bytes(12))])
    return found


def make(draw):
    low = int(draw.integers(0, 4))
    params = {
        "analyzer": one_of(draw, ["word", "word", "char", "char_wb"]),
        "ngram_range": (low, max(low, 1) + int(draw.integers(0, 5))),
        "n_features": one_of(draw, [1, 2, 7, 64, 2**10, 2**20, 2**31 - 1]),
        "norm": one_of(draw, [None, "l1", "l2"]), "alternate_sign": chance(draw, 0.6), "binary": chance(draw, 0.2),
        "lowercase": chance(draw, 0.7),
        "dtype": one_of(draw, [np.float64, np.float64, np.float32]),
        "strip_accents": one_of(draw, [None, None, None, "ascii", "unicode"]),
        "stop_words": one_of(draw, [None, None, "english", ["the", "ab", "a"]]),
        "token_pattern": one_of(draw, PATTERNS[:4] * 2 + PATTERNS),
        "encoding": one_of(draw, ["utf-8", "utf-8", "latin-1", "utf-16", "ascii", "utf-8-sig", "cp1252"]),
        "decode_error": one_of(draw, ["strict", "ignore", "replace"]),
    }
    if params["norm"] is None and chance(draw, 0.1):
        params["dtype"] = np.int64
    return params, [text(draw) for _ in range(int(draw.integers(0, 7)))]


def came(cls, params, texts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X = cls(**params).transform(texts)
        except Exception as error:
            return type(error)
    return X.shape, X.dtype.str, X.indptr.tolist(), X.indices.tolist(), X.data.tobytes()


def check(case):
    params, texts = case
    ours, theirs = came(HashingVectorizer, params, texts), came(Peer, params, texts)
    if isinstance(theirs, type):
        assert isinstance(ours, type), f"none, and {theirs} theirs"
        alike = (
            issubclass(ours, theirs)
            or issubclass(theirs, ours)
            or (issubclass(ours, UnicodeError) and issubclass(theirs, UnicodeError)))
        assert alike or (ours, theirs) == (ValueError, StopIteration), f"{ours}, and {theirs} theirs"
        return "refused"
    if not texts:
        return "none"
    assert not isinstance(ours, type), ours
    assert ours[:4] == theirs[:4], f"{ours[:4]}\n{theirs[:4]}"
    if params["norm"] is None:
        assert ours[4] == theirs[4]
    else:
        a, b = (np.frombuffer(each[4], each[1]) for each in (ours, theirs))
        assert (a == b).all(), (a, b)
    return "equal"
