"""Tables of any kind as rows of numbers, while they stream.

>>> from onlinecls import AROWClassifier
>>> from onlinecls.tables import TableVectorizer
>>> rows = [{"price": 9.5, "color": "red"}, {"price": 900.0, "color": "blue"}] * 20
>>> vectorizer = TableVectorizer(bits=0)
>>> model = AROWClassifier().partial_fit(vectorizer.learn_transform(rows), ["no", "yes"] * 20, classes=["no", "yes"])
>>> model.predict(vectorizer.transform([{"price": 800.0, "color": None}])).tolist()
['yes']
"""

# (What `__all__` does not name is for pipelines and the command line.)
from ._vectorizer import TableVectorizer, described, rebuild, slot_names  # noqa: F401

__all__ = ["TableVectorizer"]
