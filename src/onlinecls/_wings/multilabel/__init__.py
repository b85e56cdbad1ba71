"""Several labels a row."""
