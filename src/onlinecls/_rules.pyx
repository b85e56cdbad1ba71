"""The numbers of `Rule`, `Trigger`, `Geometry` and `Costs` for Python. The rules themselves are inline functions of _rules.pxd."""
