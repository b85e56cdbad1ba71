"""The rules' numbers for Python: `Rule`, `Trigger` and `Geometry`. The rules themselves are inline functions of _rules.pxd."""

RULES = {rule.name.lower(): int(rule) for rule in Rule}
TRIGGERS = {trigger.name.lower(): int(trigger) for trigger in Trigger}
GEOMETRIES = {geometry.name.lower(): int(geometry) for geometry in Geometry}
