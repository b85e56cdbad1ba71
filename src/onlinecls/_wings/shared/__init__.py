"""Code that several wings share: powers, norms, simplexes, searches along a line, and models whose weights share numbers."""
