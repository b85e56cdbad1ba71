"""What a model keeps of a feature, and how a step moves it: the only code whose cost grows with the non-zeros of a row."""
