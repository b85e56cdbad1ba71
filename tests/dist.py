"""Check what goes out: python tests/dist.py FOLDER_OF_THE_WHEEL DIST, of `make dist`.

The sdist has every file of the repository; the wheel has none that only a compiler reads, is small, and is moved to DIST with the
tag of the oldest Linux that its symbols allow.
"""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

NOT_SENT = (".git", ".pre-commit")  # what only the repository needs
MOST_BYTES = 5_000_000


def main(wheels: Path, dist: Path) -> None:
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), wheels.glob("*.whl")
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    with tarfile.open(sdist) as archive:
        sent = {name.partition("/")[2] for name in archive.getnames()}
    if missing := sorted(name for name in tracked if name not in sent and not name.startswith(NOT_SENT)):
        sys.exit(f"{sdist.name} must have every file of the repository, has no {', '.join(missing)}. See MANIFEST.in.")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    strays = [name for name in names if name.endswith((".pyx", ".pxd", ".c", ".h")) or "tests/" in name]
    if strays or wheel.stat().st_size > MOST_BYTES:
        size = f"{wheel.stat().st_size:,} bytes"
        sys.exit(f"{wheel.name} must have only what runs, in {MOST_BYTES:,} bytes; got {strays}, {size}.")
    if sys.platform == "linux":
        subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", dist, wheel], check=True)
    else:
        shutil.copy(wheel, dist)
    for path in sorted(dist.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
