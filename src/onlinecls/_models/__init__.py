"""What learning changes: how a model's arrays start, grow, are read, checked, merged and saved."""
