"""A compiled vectorizer that turns texts into rows of hashed features, and the names of their columns.

>>> from onlinecls import AROWClassifier
>>> from onlinecls.text import FeatureNames, HashingVectorizer
>>> names = FeatureNames(HashingVectorizer())
>>> X = names.transform(["cheap pills", "lunch at noon", "cheap lunch"])
>>> model = AROWClassifier().fit(X, ["spam", "ham", "ham"])
>>> [feature.name for feature in names.top_features(model, 1)["spam"]]
['pills']
"""

# (What `__all__` does not name is for streams, pipelines and the command line.)
from ._arrow import without_views  # noqa: F401
from ._names import Contribution, Feature, FeatureNames, compiled_hasher, contributions, top_columns  # noqa: F401
from ._parameters import parameters_of, vectorizer_of  # noqa: F401
from ._rows import lasting, n_rows_of, part_of, plain_rows  # noqa: F401
from ._vectorizer import HashingVectorizer

__all__ = ["Contribution", "Feature", "FeatureNames", "HashingVectorizer"]
