"""From texts to rows of hashed features, compiled; and names for their columns.

>>> from onlinecls import AROWClassifier
>>> from onlinecls.text import FeatureNames, HashingVectorizer
>>> names = FeatureNames()
>>> X = HashingVectorizer(feature_names=names).transform(["cheap pills", "lunch at noon", "cheap lunch"])
>>> model = AROWClassifier().fit(X, ["spam", "ham", "ham"])
>>> [feature.name for feature in names.top_features(model, 1)["spam"]]
['pills']
"""

from ._names import (
    Contribution,
    Feature,
    FeatureNames,
    contributions,  # noqa: F401 (this and the next: for the command line)
    packed_names,  # noqa: F401
    top_columns,  # noqa: F401
    unpacked_names,  # noqa: F401
    weights_towards,  # noqa: F401
)
from ._told import told_parameters, vectorizer_of  # noqa: F401 (for the streams)
from ._vectorizer import (
    HashingVectorizer,
    compiled_hasher,  # noqa: F401 (for the streams)
    sketch_of,  # noqa: F401 (the same)
)

__all__ = ["Contribution", "Feature", "FeatureNames", "HashingVectorizer"]
