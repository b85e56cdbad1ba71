"""Turn the JSON lines of `onlinecls train` into a file for the textfile collector of Prometheus' node exporter.

    onlinecls train mails.tsv --every 10s --json --alarm --quiet | python examples/prometheus.py onlinecls.prom

The file is replaced at each line, whole. Numbers by name become gauges: onlinecls_examples, onlinecls_progressive_error, ...;
onlinecls_alarms is the number of alarms so far.
"""

import json
import os
import sys


def gauges(point):
    """Return the text that Prometheus reads."""
    numbers = {name: len(value) if name == "alarms" else value for name, value in point.items()}
    return "".join(
        f"# TYPE onlinecls_{name} gauge\nonlinecls_{name} {float(value)!r}\n"
        for name, value in numbers.items() if isinstance(value, (int, float))
    )


def main(path):
    for line in sys.stdin:
        draft = f"{path}.draft"
        with open(draft, "w", encoding="ascii") as file:
            file.write(gauges(json.loads(line)))
        os.replace(draft, path)


if __name__ == "__main__":
    main(sys.argv[1])
