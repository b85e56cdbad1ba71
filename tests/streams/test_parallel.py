"""Streams in parts: the model depends on the parts and their order alone, whoever learns them."""

import importlib.util
import io
import json
from functools import partial, reduce

import joblib
import numpy as np
import pytest
from matrices import continuous_problem
from states import fingerprint

import onlinecls
from onlinecls import parallel
from onlinecls.tables import TableVectorizer

UNITS = {"scale": 1.0, "intercept_scaling": 1.0}


def problem(n=60, n_classes=3):
    return continuous_problem(n, 6, seed=5, n_classes=n_classes)


def make():
    return onlinecls.AROWClassifier(r=0.5, **UNITS)


def parts_of_arrays(n=5):
    X, y = problem()
    return [(X[part], y[part]) for part in np.array_split(np.arange(len(X)), n)]


def by_hand(parts, estimator=make):
    """Merge in one thread, part by part."""
    return reduce(lambda first, second: onlinecls.merge([first, second]), (estimator().partial_fit(*part) for part in parts))


@pytest.fixture(scope="module")
def expected():
    return fingerprint(by_hand(parts_of_arrays()))


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky", "multiprocessing"])
def test_every_parallel_engine_makes_the_same_model(expected, backend):
    with joblib.parallel_config(backend=backend, n_jobs=1 if backend == "sequential" else 2):
        assert fingerprint(parallel.fit(make(), parts_of_arrays())) == expected


@pytest.mark.parametrize("n_jobs, scale", [(1, "auto"), (2, 1.0)])
def test_parts_are_learnt_in_units_of_the_first(n_jobs, scale):
    parts = [(X * 8.0**k, y) for k, (X, y) in enumerate(parts_of_arrays())]
    (X, y), classes = parts[0], None if scale == "auto" else np.unique([y for _, y in parts])
    first = onlinecls.AROWClassifier(r=0.5, scale=scale).partial_fit(X, y)
    known = onlinecls.AROWClassifier(r=0.5, scale=first.scale_, intercept_scaling=first.intercept_scaling_)
    found = parallel.fit(onlinecls.AROWClassifier(r=0.5, scale=scale), [(X[:0], []), *parts], n_jobs=n_jobs, classes=classes)
    assert found.scale_ == first.scale_ and found.intercept_scaling_ == first.intercept_scaling_
    np.testing.assert_array_equal(found.coef_, parallel.fit(known, parts, classes=classes).coef_)


def write_parts(folder):
    for number, (X, y) in enumerate(parts_of_arrays(3)):
        lines = [f"{label}\t" + " ".join(f"w{j}" for j in np.flatnonzero(x)) for x, label in zip(X, y, strict=True)]
        (folder / f"part-{number}.tsv").write_text("\n".join(lines) + "\n")
    return sorted(folder.iterdir())


def test_files_and_patterns_are_parts(tmp_path, monkeypatch):
    paths, reading = write_parts(tmp_path), {"n_features": 64}
    expected = fingerprint(by_hand(
        [next(iter(stream))[:2] for stream in (onlinecls.streams.read(path, n_features=64) for path in paths)]))
    for parts in (str(tmp_path / "part-*.tsv"), paths, [str(paths[0]), tmp_path / "part-[12].tsv"]):
        assert fingerprint(parallel.fit(make(), parts, n_jobs=2, reading=reading)) == expected
    opened = [partial(onlinecls.streams.read, path, n_features=64) for path in paths]
    assert fingerprint(parallel.fit(make(), opened, reading=reading)) == expected
    monkeypatch.chdir(tmp_path)  # (workers stay in the folder in which they were begun)
    assert fingerprint(parallel.fit(make(), "part-*.tsv", n_jobs=2, reading=reading)) == expected


def test_iterables_functions_and_weights_are_parts(expected):
    parts = parts_of_arrays()
    several = [[(X[:3], y[:3]), (X[3:], y[3:])] for X, y in parts]
    assert fingerprint(parallel.fit(make(), several)) == expected
    assert fingerprint(parallel.fit(make(), [partial(list, part) for part in several])) == expected
    weighted = [(np.vstack([X, X]), np.append(y, y), np.repeat([1.0, 0.0], len(y))) for X, y in parts]
    assert fingerprint(parallel.fit(make(), weighted)) == expected
    X = np.vstack([X for X, _ in parts])
    balls = parallel.fit(onlinecls.PassiveAggressiveOneClass(), [[(X[:30], None)], [(X[30:], None)]])
    assert balls.t_ == 60


def frames_of(parts):
    pandas = pytest.importorskip("pandas")
    return [(pandas.DataFrame(X, columns=list("abcdef")), pandas.Series(y)) for X, y in parts]


def numbers_of(model):
    return {name: part for name, part in fingerprint(model).items() if name != "feature_names_in_"}


def test_dataframes_are_parts_and_keep_their_names():
    frames = frames_of(parts_of_arrays())
    found = parallel.fit(make(), frames, n_jobs=2)
    assert found.feature_names_in_.tolist() == list("abcdef")
    assert numbers_of(found) == numbers_of(parallel.fit(make(), parts_of_arrays()))
    turned = [(X[X.columns[::-1]], y) for X, y in frames[2:3]]
    for parts in ([*frames[:2], *turned], [[frames[0]], [frames[1], *turned]]):
        with pytest.raises(ValueError, match=r"feature names|columns of the first call"):
            parallel.fit(make(), parts)


def tables():
    """Four parts of a table, whose numbers grow from part to part."""
    draw, parts = np.random.default_rng(0), []
    for k in range(4):
        numbers, colors = draw.normal(loc=10 * k, size=50).round(3), draw.choice(["red", "blue", f"only {k}"], 50)
        parts.append((
            [{"size": float(x), "color": str(color)} for x, color in zip(numbers, colors, strict=True)],
            np.where(numbers + 9 * (colors == "red") > 15, "yes", "no")))
    return parts


def pipeline(bits=0, **options):
    learner = onlinecls.AROWClassifier(r=0.5, **UNITS, **options)
    return onlinecls.make_stream_pipeline(TableVectorizer(bits=bits, max_values=8), learner)


@pytest.mark.parametrize("bits", [0, 4])
def test_learners_of_parts_of_a_table_merge_behind_the_statistics_of_all(bits, tmp_path):
    given, steps = pipeline(bits), [TableVectorizer(bits=bits, max_values=8) for _ in range(5)]
    step = steps[4].merge(*(each.fit(X) for each, (X, _) in zip(steps, tables(), strict=False)))
    classes = ["no", "yes"]
    expected = fingerprint(by_hand([(step.transform(X), y, classes) for X, y in tables()]))
    rows = [row for X, _ in tables() for row in X]
    for n_jobs in (1, 2):
        found = parallel.fit(given, tables(), n_jobs=n_jobs, classes=classes)
        assert type(found) is onlinecls.StreamPipeline and not given.__sklearn_is_fitted__()
        assert fingerprint(found[1]) == expected and found[0].statistics_ == step.statistics_
        assert found.predict_one(rows[0]) == found.predict(rows)[0]
    paths = []
    for number, (X, y) in enumerate(tables()):
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_text("".join(json.dumps({"label": label, **row}) + "\n" for row, label in zip(X, y, strict=True)))
    assert fingerprint(parallel.fit(given, str(tmp_path / "*.jsonl"), n_jobs=2, classes=classes)[1]) == expected
    with pytest.raises(ValueError, match=r"part 2 \(.*missing.jsonl\) must be learnt, got FileNotFoundError"):
        parallel.fit(given, [paths[0], tmp_path / "missing.jsonl", *paths[1:]], classes=classes)


def test_a_part_that_fails_or_does_not_merge_is_named(tmp_path):
    parts, bad = parts_of_arrays(), (np.full((2, 6), np.nan), [0, 1])
    for at, part, said in (
        (0, bad, r"part 1 \(a tuple\) must be learnt, got ValueError"), (2, bad, r"part 3 \(a tuple\) must be learnt"),
        (5, tmp_path / "missing.tsv", r"part 6 \(.*missing.tsv\) must be learnt, got FileNotFoundError"),
        (1, (np.ones((4, 7)), [0, 1, 2, 0]), r"part 2 \(a tuple\) must merge with those before it, got AROW"),
    ):
        for n_jobs in (1, 2)[: 2 if "learnt" in said else 1]:
            with pytest.raises(ValueError, match=r"^parallel\.fit: " + said):
                parallel.fit(make(), [*parts[:at], part, *parts[at:]], n_jobs=n_jobs)


def test_an_engine_of_ones_own_exchanges_bytes(expected, tmp_path):
    parts = [*parts_of_arrays(), []]
    models = [parallel.learn_part(make(), part) for part in parts]
    assert models[-1] == b"" and all(b"pickle" not in model and type(model) is bytes for model in models)
    found = parallel.merge_bytes([parallel.merge_bytes(models[:2]), *models[2:]])
    assert fingerprint(onlinecls.load(io.BytesIO(found))) == expected
    assert parallel.merge_bytes([b"", b""]) == b""
    reading, (path, *_) = {"n_features": 64}, write_parts(tmp_path)
    one = parallel.learn_part(make(), path, classes=["0", "1", "2", "7"], reading=reading)
    assert onlinecls.load(io.BytesIO(one)).classes_.tolist() == ["0", "1", "2", "7"]
    with pytest.raises(ValueError, match="its model consists of rows"):
        parallel.learn_part(onlinecls.KernelOnlineClassifier(), parts[0])
    with pytest.raises(ValueError, match="must be a model that onlinecls could have saved"):
        parallel.merge_bytes([b"not a model"])


@pytest.mark.parametrize(("learner", "parts", "message"), [
    (make(), [], "at least one"), (make(), 7, "got int"), (make(), [7], "as part 1"), (make(), [[], []], "have rows"),
    (make(), "nowhere-*.tsv", "name files"), (onlinecls.AROWClassifier(forgetting=0.01), parts_of_arrays(), "forget nothing"),
    (pipeline(forgetting=0.1), tables(), "forget"), (pipeline(), [iter(tables())], "read twice"),
    (onlinecls.make_stream_pipeline(TableVectorizer(), TableVectorizer(), make()), tables(), "one step"),
    (TableVectorizer(), tables(), "a learner of this library"), (onlinecls.AROWClassifier, tables(), "a learner of this library"),
])
def test_what_cannot_be_learnt_in_parts_is_refused(learner, parts, message):
    with pytest.raises(ValueError, match=message):
        parallel.fit(learner, parts)


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="dask.distributed is not installed")
@pytest.mark.filterwarnings("ignore")
def test_dask_workers_learn_the_partitions_that_they_hold(expected):
    import dask.array as da
    import dask.bag as db
    from dask.distributed import Client, LocalCluster

    parts = parts_of_arrays()
    X, y = np.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster):
        arrays = da.from_array(X, chunks=(12, 3)), da.from_array(y, chunks=12)
        assert fingerprint(parallel.fit(make(), arrays)) == expected
        bag = db.from_sequence(parts, npartitions=5)
        assert fingerprint(parallel.fit(make(), bag)) == expected
        pandas, dataframes, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe"), frames_of(parts)
        named = [dataframes.from_pandas(pandas.concat(each), npartitions=5, sort=False) for each in zip(*frames, strict=True)]
        found = parallel.fit(make(), tuple(named))
        assert found.feature_names_in_.tolist() == list("abcdef")
        assert numbers_of(found) == numbers_of(parallel.fit(make(), frames))
        with joblib.parallel_config(backend="dask"):
            assert fingerprint(parallel.fit(make(), parts)) == expected
        found = parallel.fit(pipeline(), db.from_sequence(tables(), npartitions=4))
        again = parallel.fit(pipeline(), tables())
        assert fingerprint(found[1]) == fingerprint(again[1]) and found[0].statistics_ == again[0].statistics_
        bad = db.from_sequence([*parts, (np.full((2, 6), np.nan), [0, 1])], npartitions=6)
        with pytest.raises(ValueError, match=r"part 6 \(a partition\) must be learnt"):
            parallel.fit(make(), bad)
