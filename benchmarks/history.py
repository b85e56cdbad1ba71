"""The history of asv's benchmarks: measures a commit for benchmarks/results, or publishes what is there as asv's own pages.

    python benchmarks/history.py                       # the package as installed is this repository's HEAD
    python benchmarks/history.py --checkout ../before  # another commit, built in place in a checkout of its own
    python benchmarks/history.py --publish FOLDER

measures a short set in a minute or two, and keeps nothing that tells one machine from another but its cores. A point says little
alone: virtual machines are noisy.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
SCRIPTS = ROOT / "benchmarks" / "vendor"
KEPT = (  # what stands for the rest: calls, batches, passes, scores, matrices, texts, memory
    r"OneRow|Batches|Features\.track_ns_per_nnz|Predict|FullCovariance\.track|Hashing\.track_ns_per_byte\(|TextToModel|"
    r"Memory\.track|timeraw_import"
)
MACHINE = f"{os.cpu_count()}-cores-{platform.machine()}"


def git(*arguments, cwd=ROOT):
    return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def asv(folder, command, *arguments, **settings):
    """Run a command of asv with other settings than asv.conf.json's, in a folder that holds all that it keeps."""
    conf = json.loads((ROOT / "benchmarks" / "asv.conf.json").read_text(encoding="utf-8"))
    conf |= {"repo": str(ROOT), "benchmark_dir": str(ROOT / "benchmarks" / "benchmarks"), "matrix": {}, **settings}
    (folder / "asv.conf.json").write_text(json.dumps(conf), encoding="utf-8")
    about = {"machine": MACHINE, "os": platform.system(), "arch": platform.machine(), "num_cpu": str(os.cpu_count())}
    about |= {"cpu": "", "ram": ""}  # (asv would look for them)
    (folder / ".asv-machine.json").write_text(json.dumps({"version": 1, MACHINE: about}), encoding="utf-8")
    run = [sys.executable, "-m", "asv", command, "--config", str(folder / "asv.conf.json"), *arguments]
    return subprocess.run(run, cwd=folder, env={**os.environ, "HOME": str(folder)}, capture_output=True, text=True)


def measure(checkout):
    """Measure a commit, and keep what asv found without the paths that it keeps of the interpreter."""
    if changed := git("status", "--porcelain", "src", cwd=checkout or ROOT):
        sys.exit(f"A result belongs to a commit: commit what has changed, or put it aside.\n{changed}")
    commit = git("rev-parse", "HEAD", cwd=checkout or ROOT)
    if checkout:
        os.environ["ASV_PYTHONPATH"] = str(checkout.resolve() / "src")
    with tempfile.TemporaryDirectory() as name:
        folder, version = Path(name), ".".join(platform.python_version_tuple()[:2])
        done = asv(folder, "run", "--python=same", f"--machine={MACHINE}", f"--set-commit-hash={commit}", "--bench", KEPT,
                   results_dir=str(folder / "results"))
        print(done.stdout)
        found = next((folder / "results" / MACHINE).glob(f"{commit[:8]}-*.json"), None)
        if found is None:
            sys.exit(f"asv measured nothing: {done.stderr}")
        kept = json.loads(found.read_text(encoding="utf-8"))
        kept |= {"env_name": f"python{version}", "python": version, "params": {**kept["params"], "python": version}}
        known = json.loads((folder / "results" / "benchmarks.json").read_text(encoding="utf-8"))
        shutil.copytree(folder / "results" / MACHINE, RESULTS / MACHINE, dirs_exist_ok=True, ignore=lambda *_: [found.name])
    (RESULTS / MACHINE / f"{commit[:8]}.json").write_text(json.dumps(kept) + "\n", encoding="utf-8")
    known = {name: about for name, about in known.items() if name in kept["results"] or name == "version"}
    (RESULTS / "benchmarks.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def offline(page):
    """Let a page of asv load its scripts from beside it, not from elsewhere."""
    def local(found):
        name = re.sub(r"-[\d.]+\d|\.min", "", found[2])
        if not (SCRIPTS / name).exists():
            sys.exit(f"asv's pages load {found[2]}, which benchmarks/vendor has not: add {name} from its npm package.")
        shutil.copy(SCRIPTS / name, page.parent)
        return f'{found[1]}="{name}"'

    elsewhere = r'(src|href)="https://[^"]*/([^"/]+\.(?:js|css))" integrity="[^"]*"'
    text = re.sub(elsewhere, local, page.read_text(encoding="utf-8"))
    page.write_text(text.replace(' crossorigin="anonymous"', ""), encoding="utf-8")


def publish(target):
    """Write asv's pages of the stored results into a folder; return why not where there is no history to show them on."""
    stored = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*/*.json") if path.stem != "machine"]
    if not (ROOT / ".git").exists():
        return "asv shows results on the history of a repository, and here is none"
    try:
        there = git("rev-list", "HEAD").split()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"git does not read this repository ({error})"
    if absent := [each["commit_hash"][:8] for each in stored if each["commit_hash"] not in there]:
        return f"the history of this clone has no {', '.join(absent)} (after a shallow clone: git fetch --unshallow)"
    with tempfile.TemporaryDirectory() as name:
        done = asv(Path(name), "publish", results_dir=str(RESULTS), html_dir=str(target), branches=["HEAD"],
                   project_url="../history.html")
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    offline(target / "index.html")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, help="a checkout built in place, whose HEAD is the commit to measure")
    parser.add_argument("--publish", type=Path, metavar="FOLDER", help="write asv's pages of the stored results there")
    args = parser.parse_args()
    if args.publish:
        sys.exit(publish(args.publish.resolve()))
    measure(args.checkout)


if __name__ == "__main__":
    main()
