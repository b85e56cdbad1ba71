"""The compiled hashing of names and texts to columns, which the vectorizer and the streams share."""
