"""The one-class learners: the centre of a ball around the rows."""
