"""Models: how the arrays that learning changes start, grow, are read, checked, merged and saved."""
