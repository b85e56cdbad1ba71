"""From text to hashed features: scikit-learn's `HashingVectorizer`, compiled; and names for its columns."""
