"""The numbers of `Rule`, `Trigger`, `Geometry` and `Costs` for Python. The rules are inline functions of _rules.pxd."""
