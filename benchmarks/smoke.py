"""Run every benchmark once on little data, to see that it runs. Exits at the first failure.

python benchmarks/smoke.py
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# One benchmark of each kind: each parameter costs half a second of process start.
ASV_SUBSET = (
    "Algorithm.track_progressive_error|Regression.track_progressive|Features.track_ns_per_nnz|Storage.track_ns_per_example|"
    "Multiclass.track_progressive|Memory|Batches|import|FullCovariance.track|Digits.track|Hashing|OneClass.track_outliers|Experts.track|"
    "Predict|TextToModel"
)


def run(*command, **environment):
    print("+", *command, flush=True)
    subprocess.run(command, check=True, cwd=HERE.parent, env={**os.environ, **environment})


def study(name, *options):
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    run(sys.executable, "-m", f"studies.{name}", *options, PYTHONPATH=path)


def main():
    asv = [sys.executable, "-m", "asv"]
    config = ["--config", str(HERE / "asv.conf.json")]
    run(sys.executable, str(HERE / "peers.py"), "--quick")
    study("evaluation", "--rounds", "1")
    study("kernels", "--rows", "300", "--budgets", "50")
    study("cost", "--repeats", "1")
    with tempfile.TemporaryDirectory() as home:  # asv keeps its idea of the machine in the home directory
        run(*asv, "machine", "--yes", *config, HOME=home)
        run(
            *asv, "run", *config, "--python=same", "--quick", "--dry-run", "--show-stderr", "--bench", ASV_SUBSET,
            HOME=home, ONLINECLS_BENCH_NNZ="20000",
        )


if __name__ == "__main__":
    main()
