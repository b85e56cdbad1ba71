"""Tables of any kind as rows of numbers, while they stream.

>>> from onlinecls import AROWClassifier
>>> from onlinecls.tables import TableVectorizer
>>> rows = [{"price": 9.5, "color": "red"}, {"price": 900.0, "color": "blue"}] * 20
>>> vectorizer = TableVectorizer(bits=0)
>>> model = AROWClassifier().partial_fit(vectorizer.learn_transform(rows), ["no", "yes"] * 20, classes=["no", "yes"])
>>> model.predict(vectorizer.transform([{"price": 800.0, "color": None}])).tolist()
['yes']
"""

from ._columns import TextTable  # noqa: F401 (for streams)
from ._vectorizer import (
    TableVectorizer,
    described,  # noqa: F401 (this and the next three are for pipelines)
    planned,  # noqa: F401
    planned_progressively,  # noqa: F401
    rebuild,  # noqa: F401
    units_of,  # noqa: F401 (for the command line)
)

__all__ = ["TableVectorizer"]
