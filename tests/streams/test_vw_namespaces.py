"""N-grams and products of the features of VW's namespaces, beside a slow twin and VW itself."""

import io
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlinecls.streams import MalformedLineError, options_of, read
from onlinecls.text import FeatureNames, HashingVectorizer

BITS = 18
LINE = "1 |u a:2 b c |v x:0.5 y | z 12 |u q |\u00e9 w |user k:-1\n"


def row(line, **options):
    """{column: value} of a line."""
    with read(io.BytesIO(line.encode()), "vw", n_features=2**BITS, dtype="float64", **options) as stream:
        ((X, _, _),) = stream
    return dict(zip(X.indices.tolist(), X.data.tolist(), strict=True))


def namespaces_of(line):
    """{letter: [(column, value)]} of a line, each feature read by itself."""
    found = {}
    for part in line.split("|")[1:]:
        name, *features = (part if part[0] != " " else " " + part).rstrip("\n").split(" ")
        for feature in features:
            if feature:
                found.setdefault(name[:1].encode()[:1].decode("latin1") or " ", []).extend(row(f"1 |{name} {feature}\n").items())
    return found


def grams(features, n, skips):
    """VW's n-grams: runs of 2 to n features, with at most so many left out inside."""
    for size in range(2, n + 1):
        for offsets in combinations(range(size + skips), size):
            for k in range(len(features) - offsets[-1] if offsets[0] == 0 else 0):
                column = 0
                for offset in offsets:
                    column = column * 27942141 + features[k + offset][0]
                yield column, 1.0


def letters_of(interaction, present):
    """Yield the letters of each product that an interaction asks for: two wildcards rise, three and more fall."""
    wild = interaction.count(":")
    printed = sorted(letter for letter in present if " " <= letter <= "~")
    for chosen in product(printed, repeat=wild):
        if list(chosen) == sorted(chosen, reverse=wild > 2):
            rest = iter(chosen)
            yield "".join(next(rest) if letter == ":" else letter for letter in interaction)


def twin(line, interactions=(), ngrams=1, skips=0, features=None, ignore=()):
    """The row of a line in VW's order: namespaces left out, n-grams, products."""
    spaces = {
        letter: them for letter, them in namespaces_of(line).items()
        if letter not in "".join(ignore) and (features is None or letter in "".join(features))
    }
    for letter, them in spaces.items():
        n, k = (each if isinstance(each, int) else each.get(letter, each.get(":", 0)) for each in (ngrams, skips))
        them += list(grams(list(them), n, k))
    made, done = [each for them in spaces.values() for each in them], set()
    interactions = sorted(each if len(set(each)) == len(each) else "".join(sorted(each)) for each in interactions)
    unlike = {"".join(sorted(each)): each for each in reversed(interactions)}
    for letters in sorted(letters for each in unlike.values() for letters in letters_of(each, spaces)):
        if "".join(sorted(letters)) in done or not set(letters) <= set(spaces):
            continue
        done.add("".join(sorted(letters)))
        ordered = "".join(sorted(letters)) if len(set(letters)) < len(letters) else letters
        for places in product(*(range(len(spaces[letter])) for letter in ordered)):
            if any(ordered[k] == ordered[k + 1] and places[k] > places[k + 1] for k in range(len(places) - 1)):
                continue
            column, value = 0, 1.0
            for letter, place in zip(ordered, places, strict=True):
                column, value = column * 16777619 ^ spaces[letter][place][0], value * spaces[letter][place][1]
            made.append((column, value))
    found = {}
    for column, value in made:
        found[column % 2**BITS] = found.get(column % 2**BITS, 0.0) + value
    return found


OPTIONS = [  # options of read, and of VW
    ({"interactions": ["uv"]}, "-q uv"),
    ({"interactions": ["vu", "uv", "u "]}, "-q vu -q uv -q u\\x20"),
    ({"interactions": ["uu"]}, "-q uu"),
    ({"interactions": ["vuv", "uv"]}, "--interactions vuv -q uv"),
    ({"interactions": ["uvv", "uuuu", "vuvu"]}, "--interactions uvv --interactions uuuu --interactions vuvu"),
    ({"interactions": ["::"]}, "-q ::"),
    ({"interactions": ["v:", ":u"]}, "-q v: -q :u"),
    ({"interactions": [":v:", "vu"]}, "--interactions :v: -q vu"),
    ({"ngrams": 2}, "--ngram 2"),
    ({"ngrams": {"u": 3}}, "--ngram u3"),
    ({"ngrams": 4, "skips": 2}, "--ngram 4 --skips 2"),
    ({"ngrams": {":": 2, "u": 3}, "skips": {"v": 1, "u": 3}}, "--ngram 2 --ngram u3 --skips v1 --skips u3"),
    ({"ngrams": {"u": 2}, "interactions": ["uv"]}, "--ngram u2 -q uv"),
    ({"interactions": [":::"]}, "--interactions :::"),
    ({"interactions": ["v:::", ":uv"], "ngrams": 3, "skips": 2}, "--interactions v::: --interactions :uv --ngram 3 --skips 2"),
    ({"features": ["u", " "], "interactions": ["::"]}, "--keep u --keep \\x20 -q ::"),
    ({"ignore": ["v"], "ngrams": 2}, "--ignore v --ngram 2"),
]


@pytest.mark.parametrize("options", [options for options, _ in OPTIONS])
def test_rows_are_those_of_the_slow_twin(options):
    for line in (LINE, "1 |v x x:2 |u a", "1 |u a", "1 |v", "1 |a 1 |b 2 |c 3\n"):
        found, expected = row(line, **options), twin(line, **options)
        assert sorted(found) == sorted(expected)
        np.testing.assert_allclose([found[k] for k in sorted(found)], [expected[k] for k in sorted(found)], rtol=1e-12)


LETTERS = st.sampled_from("ab: ")
LINES = st.lists(
    st.tuples(st.sampled_from([*"a b c ab".split(), ""]), st.lists(st.sampled_from("x y:2 z:-0.5 7".split()), max_size=4)),
    min_size=1, max_size=4)


@given(LINES, st.lists(st.text(LETTERS, min_size=2, max_size=4), max_size=3), st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_any_interactions_are_those_of_the_slow_twin(spaces, interactions, n, skips):
    line = "1 " + " ".join(f"|{name} {' '.join(features)}" for name, features in spaces)
    options = {"interactions": interactions, "ngrams": n, "skips": skips if n > 1 else 0}
    found, expected = row(line, **options), twin(line, **options)
    assert sorted(found) == sorted(expected)
    np.testing.assert_allclose([found[k] for k in sorted(found)], [expected[k] for k in sorted(found)], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("options", "theirs"), OPTIONS)
def test_rows_are_those_of_vw(options, theirs, capfd):
    vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="the real VW is not installed")
    workspace = vowpalwabbit.Workspace(f"-b {BITS} --quiet --noconstant --audit {theirs}")
    workspace.learn(LINE.rstrip())
    workspace.finish()
    expected = {}
    for each in capfd.readouterr().out.splitlines()[1].split("\t")[1:]:
        column, value = each.rsplit(":", 3)[1:3]
        expected[int(column)] = expected.get(int(column), 0.0) + float(value)
    found = row(LINE, **options)
    assert sorted(found) == sorted(expected)
    np.testing.assert_allclose([found[k] for k in sorted(found)], [expected[k] for k in sorted(found)], rtol=1e-5)


def test_names_of_ngrams_and_products():
    names = FeatureNames(100)
    vectorizer = HashingVectorizer(n_features=2**BITS, feature_names=names)
    options = {"interactions": ["ab"], "ngrams": {"a": 2}, "ignore": ["c"]}
    lines = io.BytesIO(b"1 |a x y:2 |b z |c w\n")
    with read(lines, "vw", n_features=2**BITS, vectorizer=vectorizer, **options) as stream:
        (X, _, _), = stream
    found = sorted(names.look_up(column)[0] for column in X.indices)
    assert found == sorted(["a^x", "a^y", "b^z", "a^x^y", "a^x*b^z", "a^y*b^z", "a^x^y*b^z"]) and len(names) == 7


def test_threads_blocks_and_metadata_give_the_same_rows(tmp_path):
    path, options = tmp_path / "a.vw", {"interactions": ["uv", "::"], "ngrams": {"u": 2}, "features": ["uv", " "]}
    path.write_text("".join(f"{k % 2} |u a{k % 7} b{k % 5} |v c{k % 3}:{k} | d |w e\n" for k in range(500)))
    rows = []
    for more in ({"block_bytes": 99}, {"threads": 3, "block_bytes": 999}, None):
        more = options_of(stream.metadata) if more is None else {**options, **more}  # noqa: F821
        with read(path, **more) as stream:
            rows.append([(X.toarray() if X.shape[1] < 10 else X.sorted_indices(), y) for X, y, _ in stream])
        rows[-1] = np.concatenate([np.column_stack([np.repeat(y, np.diff(X.indptr)), X.indices, X.data]) for X, y in rows[-1]])
    assert np.array_equal(rows[0], rows[1]) and np.array_equal(rows[0], rows[2])


@pytest.mark.parametrize(("options", "message"), [
    ({"interactions": ["a"]}, "read: interactions must be texts of 2..16 letters"),
    ({"interactions": "ab"}, "read: interactions must be a list of texts of 2..16 letters"),
    ({"interactions": ["\u00e9a"]}, "read: interactions must be texts of 2..16 letters"),
    ({"ngrams": 0}, "read: ngrams must be an int in 1..16"), ({"ngrams": {"ab": 2}}, "read: ngrams must be an int in 1..16"),
    ({"ngrams": 2, "skips": True}, "read: skips must be an int in 0..16"),
    ({"skips": 1}, "read: skips must be left out without ngrams, got 1"),
    ({"ignore": [":"]}, "read: ignore must be the first letters of namespaces"),
    ({"features": [3]}, "read: features must be a list of the first letters of namespaces"),
])
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message.replace("..", r"\.\.")):
        row(LINE, **options)


def test_options_of_namespaces_are_refused_for_other_formats():
    with pytest.raises(ValueError, match="read: ngrams must be left out for format 'tsv', as only VW's files have namespaces"):
        read(io.BytesIO(b"a\tb c\n"), "tsv", ngrams=2)


@pytest.mark.parametrize(
    "namespaces", [{}, [], {"interactions": ["a"], "ngrams": {}, "skips": {}, "features": None, "ignore": ""}])
def test_metadata_that_no_stream_writes_are_refused(namespaces):
    with read(io.BytesIO(LINE.encode()), "vw", interactions=["uv"]) as stream:
        metadata = stream.metadata
    metadata["input"]["namespaces"] = namespaces
    with pytest.raises(ValueError, match="options_of: metadata must describe how rows were read"):
        options_of(metadata)


def test_rows_with_too_many_or_too_large_products_are_malformed():
    many = "1 |a " + " ".join(f"x{k}" for k in range(3000))
    with pytest.raises(MalformedLineError, match=r"expected at most 2\^22 n-grams and products of the features of a row"):
        row(many, interactions=["aa", "aaa"])
    with pytest.raises(MalformedLineError, match="expected values with finite products"):
        row("1 |a x:1e200 y:1e200", interactions=["aa"])
    assert len(row("1 |a x:1e-200 y:1e-200", interactions=["aa"])) == 2
