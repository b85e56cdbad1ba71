"""The rules' numbers for Python: `Rule`, `Trigger` and `Geometry`. The rules themselves are inline functions of _rules.pxd."""
