"""Hashing of names and of texts to columns, compiled: what the vectorizer and the streams share."""
