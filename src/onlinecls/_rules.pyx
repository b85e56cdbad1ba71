"""The rules' numbers for Python: `Rule` and `Trigger`. The rules themselves are inline functions of _rules.pxd."""
