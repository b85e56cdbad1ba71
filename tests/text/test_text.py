"""HashingVectorizer against scikit-learn's, bit for bit; FeatureNames against a dictionary."""

import collections
import contextlib
import io
import itertools
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer as Peer
from sklearn.preprocessing import normalize
from sklearn.utils import murmurhash3_32

from onlinecls import AROWClassifier
from onlinecls._hashing.hasher import RowHasher
from onlinecls.text import FeatureNames, HashingVectorizer

TEXTS = [
    "The quick brown fox jumps over the lazy dog; the dog sleeps.",
    "", " ", "a", "a b c", "ab", "x_1 __ _ a_ 0 00 3.14 don't e-mail", "été ÉTÉ naïve Ñandú œuvre Œ ß ẞ STRAẞE ﬁ ﬀ",
    "İstanbul ISPARTA ıspanak İ İİ xİ",
    "ΣΊΣΥΦΟΣ ΟΔΥΣΣΕΎΣ Σ ΑΣ ΑΣ. ΑΣ\u0301 ΑΣ\u00adΑ Σα ςσ",
    "Привет, МИР! ёЁ їЇ", "日本語のテキスト 中文字符 한국어 𠀀𠀁 〇 ㊀", "ｆｕｌｌ ＷＩＤＴＨ １２３",
    "emoji 😀😀 👩‍👩‍👧 e\u0301 fine\u0301 a\u20dd \u0301\u0301",
    "ǅ ǈ ǋ Ǆ ǆ Ⅷ ⅷ Ⓐ ⓐ ² ½ ٣٤ १२ ൘ \u0345 ª º", "Ⱥ Ⱦ K Å Ω ΐ ŉ ǰ Კ Ꭰ ꭰ 𐐀𐐨 𞤀 𝐀𝟘",
    "tab\there\nnew\r\nline\x0b\x0c\x1c\x1d\x85\xa0\u2003two\u2028\u3000\u200b\ufeff",
    "NUL\0in\0the middle",
    "x" * 19 + " " + "y" * 20 + " " + "z" * 21 + " " + "w" * 5000 + " " + "é" * 700,
    " ".join(f"word{i} the of" for i in range(900)), "  leading and trailing  ",
    "sixty-three and sixty-four bytes: " + "q" * 29 + "!" + "r" * 64 + "?" + "s" * 63,
]


def assert_same(ours, theirs):
    assert ours.format == "csr" and ours.shape == theirs.shape
    assert isinstance(ours, sparse.csr_matrix) == isinstance(theirs, sparse.csr_matrix)
    for name in ("indptr", "indices", "data"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.dtype == b.dtype, name
        assert a.tobytes() == b.tobytes(), name
    assert ours.has_sorted_indices and ours.has_canonical_format


def same(texts, **params):
    """Our rows are scikit-learn's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (kind(**params).transform(texts) for kind in (HashingVectorizer, Peer))
    assert_same(ours, theirs)


@pytest.mark.parametrize(
    "params", [{}, {"lowercase": False}, {"analyzer": "char", "ngram_range": (2, 2)}, {"analyzer": "char_wb"}])
def test_every_ascii_character_in_a_long_text_is_hashed_as_by_scikit_learn(params):
    # 32 bytes at a time are looked at where all are ASCII: each character at each place of such a stretch, and beside itself.
    same(
        [("".join(f"ab{c}cd{c}{c} " for c in map(chr, range(first, first + 16))) + "x" * first) for first in range(0, 128, 4)],
        **params)


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_ngrams_are_those_of_scikit_learn(analyzer):
    for ngram_range in ((1, 1), (1, 2), (2, 3), (1, 5), (0, 2), (3, 7)):
        same(TEXTS, analyzer=analyzer, ngram_range=ngram_range)
        same(TEXTS, analyzer=analyzer, ngram_range=ngram_range, dtype=np.float32)


def every_character():
    return [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]


@pytest.mark.parametrize("kind", [str, str.encode])
def test_words_and_lower_case_of_every_character_are_those_of_python(kind):
    # Between letters, where case and word borders show; the sigma has a test of its own. A text a plane's 256th.
    characters = every_character()
    texts = ["".join(f"a{c}b {c}{c}- " for c in characters[i : i + 4096]) for i in range(0, len(characters), 4096)]
    hasher = RowHasher(alternate_sign=False, norm=None, n_features=2**31 - 1)
    hasher.add_texts([kind(text) for text in texts])
    rows = hasher.take()
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    for i, text in enumerate(texts):
        tokens = collections.Counter(abs(murmurhash3_32(t)) % (2**31 - 1) for t in re.findall(r"\b\w\w+\b", text.lower()))
        row = slice(indptr[i], indptr[i + 1])
        assert dict(zip(indices[row].tolist(), data[row].tolist(), strict=True)) == tokens


def test_words_of_every_length_are_hashed_as_by_scikit_learn():
    words = [letter * n for n in range(1, 70) for letter in "abc"]
    for ngram_range in ((1, 1), (1, 2), (2, 3)):
        for texts in (words, [" ".join(words)], [" ".join(words[i::7]) for i in range(7)]):
            same(texts, ngram_range=ngram_range, dtype=np.float32)


def test_white_space_is_that_of_python():
    spaces = [c for c in every_character() if c.isspace()]
    assert len(spaces) > 20
    pairs = zip(spaces, spaces[1:] + spaces[:1], strict=True)
    texts = ["".join(f"a{c}b{c}{d}e " for c, d in pairs), "".join(spaces), "a\u200bb  "]
    for analyzer in ("char", "char_wb"):
        same(texts, analyzer=analyzer, ngram_range=(1, 3))


def test_capital_sigma_is_lower_cased_by_its_neighbours():
    for before in ("", "A", "1", ".", "A.", "\u0345", "ª", "A\u0301", "A\xad", "日"):
        for after in ("", "A", "1", ".", "\u0301", "\u0301A", "\xadA", " A", "ʰ", "日"):
            text = f"xy {before}Σ{after}bc ab{before}ΣΣ{after}"
            same([text, text + "Σ"])


@pytest.mark.parametrize("n_features", [1, 7, 2**20 - 1, 2**31 - 2])
def test_column_of_the_hash_minus_2_to_the_31_is_that_of_scikit_learn(n_features):
    word = "aivlts3m"
    assert murmurhash3_32(word) == -(2**31)
    same([f"{word} other"], n_features=n_features, norm=None)
    same(["any"], analyzer=lambda text: [word, b"other"], n_features=n_features, norm=None)


def test_words_of_neighbouring_columns_are_hashed_as_by_scikit_learn():
    """An adversary's texts: all their columns are neighbours, the first ones or the last ones."""
    n = 2**31 - 2
    columns = {word: abs(murmurhash3_32(word)) % n for word in (f"w{i:x}" for i in range(400_000))}
    for words in ([w for w, k in columns.items() if k < n // 700], [w for w, k in columns.items() if k >= n - n // 700]):
        assert len(words) > 400
        text = " ".join([*words, *reversed(words), *words])
        same([text, "and on", text + " more"], n_features=n)
        same([text], n_features=n, ngram_range=(1, 2))


def test_more_ngrams_than_a_table_has_room_for_are_hashed_as_by_scikit_learn():
    """Of long words there are more than are expected."""
    word = "".join(np.random.default_rng(0).choice([*"abcdefghijklmnopqrstuvwxyz"], 3000))
    same([word, "short", word * 2], analyzer="char_wb", ngram_range=(1, 40), norm=None)


# --- input -------------------------------------------------------------------------------------------------------------------


def kinds_of_input(texts):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    data = [text.encode() for text in texts]
    column = arrow.array(texts, arrow.string())
    yield from (list(texts), tuple(texts), data, [*data[:3], *texts[3:]], np.array(texts, object), np.array(data, object))
    yield from (iter(texts), (text for text in texts), collections.deque(texts), dict.fromkeys(texts))
    if hasattr(np.dtypes, "StringDType"):
        yield np.array(texts, np.dtypes.StringDType())
    yield from (pandas.Series(texts), pandas.Series(texts, dtype=object), pandas.Index(texts))
    yield from (pandas.Series(texts, dtype=f"string[{store}]") for store in ("python", "pyarrow"))
    yield pandas.Series(texts, dtype=pandas.ArrowDtype(arrow.string()))
    yield from (column, arrow.array(texts, arrow.large_string()), column.dictionary_encode(), arrow.array(data, arrow.binary()))
    yield arrow.concat_arrays([arrow.array(["before"]), column, arrow.array(["after"])])[1:-1]
    yield arrow.chunked_array([column[:5], column[5:5], column[5:]])
    if hasattr(arrow, "string_view"):
        view = arrow.array([*texts, "after"], arrow.string_view())
        yield view[:-1]
        yield arrow.concat_arrays([view[-1:], view[:-1]])[1:]


@pytest.mark.parametrize("params", [{}, {"ngram_range": (1, 2), "dtype": np.float32}, {"strip_accents": "unicode"}])
def test_all_kinds_of_input_give_the_same_rows(params):
    texts = list(dict.fromkeys(TEXTS))
    expected = Peer(**params).transform(texts)
    for X in kinds_of_input(texts):
        assert_same(HashingVectorizer(**params).transform(X), expected)


def test_texts_are_read_from_files_and_file_names(tmp_path):
    paths = []
    for i, text in enumerate(TEXTS[:6]):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_bytes(text.encode("utf-8"))
    same(paths, input="filename")
    for kind in (lambda text: io.BytesIO(text.encode()), io.StringIO):
        ours, theirs = (make(input="file").transform(map(kind, TEXTS[:9])) for make in (HashingVectorizer, Peer))
        assert_same(ours, theirs)


BROKEN = [
    b"fin\xe9 noir", b"\xff\xfe", b"ab\x80cd", b"trunc \xe6\x97", b"trunc\xf0\x9f", b"\xc0\xafoverlong", b"\xe0\x80\xafab",
    b"\xed\xa0\x80surrogate", b"\xf4\x90\x80\x80 beyond", b"\xf8\x88\x80\x80\x80", b"\xc3", b"abcdefg\xc3", b"\xc3\xa9t\xc3\xa9",
    b"\xc3\x28xx", b"\xe2\x28\xa1xx", b"\xf0\x28\x8c\xbcxx", b"\xf0\x90\x28\xbcxx", b"\xf0\x90\x8d\x28xx", b"\xf0\x80\x80\x80ab",
]


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
@pytest.mark.parametrize("decode_error", ["ignore", "replace"])
def test_bytes_that_are_not_utf8_are_decoded_as_by_scikit_learn(decode_error, analyzer):
    same(BROKEN, decode_error=decode_error, analyzer=analyzer)
    for data in BROKEN[:12]:
        with pytest.raises(UnicodeDecodeError):
            HashingVectorizer(analyzer=analyzer).transform([data])


def test_lone_surrogates_in_ngrams_are_refused_as_by_scikit_learn():
    for text in ("ab\ud800cd ef", "\udfff", "É\ud83d Σ\ud83dΣ", "\ud800  \t ", "İ\udfff", "x \ud83d"):
        for analyzer, low in itertools.product(("word", "char", "char_wb"), range(1, 5)):
            params, refused = {"analyzer": analyzer, "ngram_range": (low, low + 1)}, contextlib.nullcontext()
            try:
                Peer(**params).transform(["before", text])
            except UnicodeEncodeError:
                refused = pytest.raises(UnicodeEncodeError)
            with refused:
                found = HashingVectorizer(**params).transform(["before", text])
                assert_same(found, Peer(**params).transform(["before", text]))


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda pa: "text", ValueError, "string object received"), (lambda pa: b"text", ValueError, "bytes object received"),
    (lambda pa: [], ValueError, "at least one text, got none"), (lambda pa: ["ab", np.nan], ValueError, "got nan, a missing"),
    (lambda pa: iter(["ab", "c", None]), ValueError, "got None, a missing value, in row 2"),
    (lambda pa: ["ab", 3], TypeError, "got int in row 1"), (lambda pa: [["ab"]], TypeError, "got list in row 0"),
    (lambda pa: pa.array(["ab", None]), ValueError, "nulls, got one in row 1"),
    (lambda pa: pa.array([1]), TypeError, "got an Arrow column of int64"), (lambda pa: 3, TypeError, "an iterable of texts"),
    (lambda pa: np.array("one text"), TypeError, "an iterable of texts"),
])
def test_input_other_than_texts_is_refused(make, error, message):
    for params in ({}, {"token_pattern": "[a-z]+"})[: 1 + ("an iterable" in message)]:
        with pytest.raises(error, match=message):
            HashingVectorizer(**params).transform(make(pytest.importorskip("pyarrow")))


@pytest.mark.parametrize("params", [
    {"n_features": 0}, {"n_features": 2**31}, {"norm": "max"}, {"analyzer": "words"}, {"dtype": "(,)f4"}, {"ngram_range": 2},
    {"stop_words": "german"}, {"token_pattern": "(a)(b)"}, {"decode_error": "no"}, {"encoding": "no"}, {"binary": 1},
], ids=str)
def test_parameters_out_of_range_are_refused(params):
    ((name, value),) = params.items()
    with pytest.raises(ValueError, match=rf"^HashingVectorizer: {name} must be .*{re.escape(f'got {name}={value!r}.')}"):
        HashingVectorizer(**params).transform(["ab"])


def test_lengths_of_ngrams_that_no_text_has():
    for kind in (HashingVectorizer, Peer):
        with pytest.raises(ValueError, match="lower boundary larger than the upper boundary"):
            kind(ngram_range=(2, 1)).transform(["ab"])
    for length in (2**31, 2**32, 2**32 + 1, 2**64, 10**30):
        for analyzer in ("word", "char"):
            assert HashingVectorizer(ngram_range=(length, length), analyzer=analyzer).transform(["some words", ""]).nnz == 0


# --- what runs in Python -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [
    {"preprocessor": str.upper}, {"preprocessor": str.upper, "analyzer": "char", "ngram_range": (2, 3)},
    {"tokenizer": str.split}, {"tokenizer": str.split, "ngram_range": (1, 3), "stop_words": ["the"]},
    {"analyzer": str.split}, {"analyzer": lambda text: [word.encode() for word in text.split()]},
    {"token_pattern": r"(?i)[a-z]"}, {"token_pattern": r"(\w)\w*", "ngram_range": (1, 2)},
    {"strip_accents": "ascii"}, {"strip_accents": "unicode", "lowercase": False},
    {"strip_accents": lambda text: text.replace("é", "e")},
    {"strip_accents": "unicode", "analyzer": "char_wb", "ngram_range": (3, 5)},
    {"stop_words": "english"}, {"stop_words": "english", "ngram_range": (1, 2), "token_pattern": r"[a-z]+"},
])
def test_callables_and_other_patterns_make_the_tokens_of_scikit_learn(params):
    for binary in (False, True):
        same(TEXTS, binary=binary, **params)
        same([text.encode() for text in TEXTS], binary=binary, **params)


def test_the_beginning_of_a_stop_word_is_not_a_stop_word():
    """Words meet stop words of the same hash, which is no more than two bits here."""
    word = "donaudampfschifffahrt"
    same([" ".join(word[:n] for n in range(2, len(word) + 1))], stop_words=[word])


def test_an_analyzer_that_returns_anything_but_tokens_is_refused():
    with pytest.raises(ValueError, match="the analyzer must make an iterable of tokens of a text, got a single string"):
        HashingVectorizer(analyzer=str.lower).transform(["ab"])
    with pytest.raises(TypeError, match="tokens must be str or bytes, got int"):
        HashingVectorizer(analyzer=lambda text: [1]).transform(["ab"])


# --- an estimator ------------------------------------------------------------------------------------------------------------


def test_the_vectorizer_has_scikit_learns_parameters_and_tags_and_can_be_cloned_and_pickled():
    assert HashingVectorizer().get_params() == Peer().get_params() and not hasattr(HashingVectorizer(), "get_feature_names_out")
    ours = HashingVectorizer(n_features=2**10, ngram_range=(1, 2))
    assert ours.__sklearn_tags__() == Peer().__sklearn_tags__()
    for twin in (clone(ours), pickle.loads(pickle.dumps(ours)), HashingVectorizer().set_params(**ours.get_params())):
        assert repr(twin) == "HashingVectorizer(ngram_range=(1, 2), n_features=1024)"
        assert_same(twin.transform(TEXTS), ours.transform(TEXTS))


def test_a_vectorizer_can_be_used_by_several_threads():
    texts, vectorizer = TEXTS * 100, HashingVectorizer(ngram_range=(1, 2))
    expected = vectorizer.transform(texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(vectorizer.transform, [texts] * 4):
            assert_same(found, expected)
        for found in pool.map(lambda _: sparse.vstack([vectorizer.transform([text]) for text in texts], "csr"), range(4)):
            assert (found.data == expected.data).all() and (found.indices == expected.indices).all()


def test_a_parameter_changed_after_a_call_is_used_by_the_next():
    text, words, one = ["The cat and the dog"], ["cat"], HashingVectorizer(n_features=64)
    for name, value in (("binary", True), ("n_features", 32), ("ngram_range", (1, 2)), ("stop_words", words)):
        one.set_params(**{name: value}).transform(text)
        assert_same(one.transform(text), HashingVectorizer(**one.get_params()).transform(text))
    words.append("dog")
    assert_same(one.transform(text), HashingVectorizer(**one.get_params()).transform(text))


def test_a_hasher_can_be_used_after_a_text_that_failed():
    hasher, expected = RowHasher(), Peer().transform(["ab cd", "ef"])
    hasher.add_texts(["ab cd"])
    for _ in range(2):
        with pytest.raises(UnicodeDecodeError):
            hasher.add_texts([b"fin\xe9"])
        with pytest.raises(TypeError):
            hasher.add_tokens(["w1", "w2", 3])
    hasher.add_texts(["ef"])
    rows = hasher.take()
    assert (rows.data == expected.data).all() and (rows.indices == expected.indices).all() and rows.indptr.tolist() == [0, 2, 3]
    rows = hasher.take()
    assert len(rows.data) == len(rows.indices) == 0 and rows.indptr.tolist() == [0]


# --- names -------------------------------------------------------------------------------------------------------------------


def named(texts, max_names=100_000, **params):
    names = FeatureNames(HashingVectorizer(**params), max_names)
    return names, names.transform(texts)


def is_shared(names, column):
    return names.look_up(column)[1]


@pytest.mark.parametrize("params", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 4)},
                                    {"strip_accents": "unicode"}])
def test_feature_names_are_the_tokens(params):
    params = {"n_features": 2**31 - 2, **params}
    names, X = named(TEXTS, **params)
    assert_same(X, Peer(**params).transform(TEXTS))
    tokens = {token for text in TEXTS for token in Peer(**params).build_analyzer()(text)}
    assert names.columns().tolist() == np.unique(X.indices).tolist() and len(names) == len(tokens)
    found = {names[column] for column in names.columns()}
    short = {token for token in tokens if len(token.encode()) <= 42}
    assert short <= found and (len(short) < len(tokens)) == (params.get("analyzer") != "char_wb")
    for name in found - short:
        assert name.endswith("…") and any(token.startswith(name[:-1]) for token in tokens - short)
    assert not any(is_shared(names, column) for column in names.columns())


def test_a_shared_column_has_its_most_frequent_name():
    tokens = [f"w{i}" for i in range(100)]
    texts = [" ".join(tokens)] + [" ".join(tokens[:3])] * 60
    names, by_column = named(texts, n_features=16)[0], collections.defaultdict(collections.Counter)
    for token in " ".join(texts).split():
        by_column[abs(murmurhash3_32(token)) % 16][token] += 1
    assert names.columns().tolist() == sorted(by_column) and names[99999] is None and not is_shared(names, 99999)
    for column, counts in by_column.items():
        name, count = counts.most_common(1)[0]
        assert is_shared(names, column) == (len(counts) > 1) and names[column] in counts
        assert 2 * count <= counts.total() or names[column] == name


def test_frequent_names_stay_when_memory_is_full():
    rare = [f"rare{i}" for i in range(5000)]
    names, _ = named([" ".join(["often", "usual", "common", *rare[i : i + 50]]) for i in range(0, 5000, 50)], max_names=64)
    assert 32 <= len(names) <= 64
    assert {"often", "usual", "common"} <= {names[column] for column in names.columns()}


def test_feature_names_are_collected_over_calls_and_pickled():
    names, (once, _) = FeatureNames(HashingVectorizer()), named(TEXTS)
    names.transform(TEXTS[:5]), names.transform(TEXTS[5:])
    for twin in (names, pickle.loads(pickle.dumps(names))):
        assert [(c, twin.look_up(c)) for c in twin.columns()] == [(c, once.look_up(c)) for c in once.columns()]


TRAINING = ["cheap pills now", "lunch at noon", "cheap lunch", "pills pills", "see you at noon", "cheap now"]
LABELS = ["spam", "ham", "ham", "spam", "ham", "spam"]


@pytest.mark.parametrize("alternate_sign", [False, True])
def test_top_features_have_the_largest_weights_of_a_class(alternate_sign):
    names, X = named(TRAINING, alternate_sign=alternate_sign)
    model = AROWClassifier(random_state=0).fit(X, LABELS)
    plain, top = HashingVectorizer(alternate_sign=False, norm=None), names.top_features(model, 4)
    for label, sign in (("ham", -1), ("spam", 1)):
        assert 0 < len(top[label]) <= 4 and top[label] == sorted(top[label], key=lambda feature: -feature.weight)
        for feature in top[label]:
            column = plain.transform([feature.name]).indices[0]
            orientation = -1 if alternate_sign and murmurhash3_32(feature.name) < 0 else 1
            assert feature.column == column and feature.std == np.sqrt(model.covariance_[0, column]) and not feature.shared
            assert feature.weight == sign * orientation * model.coef_[0, column] > 0
    assert top["spam"][0].name in ("pills", "now") and top["ham"][0].name in ("lunch", "noon", "see", "you")
    with pytest.raises(ValueError, match="FeatureNames: model must be a fitted classifier of 1048576 columns, "):
        names.top_features(AROWClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]))


# --- dicts of words ----------------------------------------------------------------------------------------------------------

WORDS = [{"pills": 2, "cheap": 1.5, "é": -3}, {}, {"colour": "red", b"pills": 1, "none": 0}, {f"w{i}": i for i in range(300)}]


@pytest.mark.parametrize("norm", [None, "l1", "l2"])
@pytest.mark.parametrize("params", [{}, {"n_features": 7, "alternate_sign": False}, {"n_features": 64, "dtype": np.float32}])
def test_dicts_of_words_are_hashed_as_by_scikit_learn(params, norm):
    expected = FeatureHasher(**{"n_features": 2**20, **params}).transform(WORDS)
    expected = expected if norm is None else normalize(expected, norm=norm)
    for rows in (WORDS, iter(WORDS), tuple(WORDS), np.array(WORDS, object), [*map(collections.OrderedDict, WORDS)]):
        assert_same(HashingVectorizer(norm=norm, **params).transform(rows), expected)
    # Between texts, in a long list, and where tokens are made in Python.
    both = [row for each in WORDS * 30 for row in ("some words", each)]
    for more in ({}, {"strip_accents": "unicode"}):
        found = HashingVectorizer(norm=norm, **params, **more).transform(both)
        assert_same(found[1:8:2], expected)
        assert_same(found[::2][:1], HashingVectorizer(norm=norm, **params).transform(["some words"]))
    assert set(HashingVectorizer(norm=None, binary=True, **params).transform(WORDS).data) == {1.0}


def test_names_of_dicts_are_learnt_and_values_that_are_none_refused():
    names, X = named(WORDS[:3])
    assert {names[column] for column in X.indices} == {"pills", "cheap", "é", "colour=red"}
    for value in (None, np.nan, 10**400, [1.0]):
        for rows in ([{"a": value}], [{"a": 1}] * 100 + [{"a": value}]):
            with pytest.raises(ValueError, match=rf"must be finite numbers or texts, got .*in row {len(rows) - 1}\.$"):
                HashingVectorizer().transform(rows)
