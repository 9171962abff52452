#!/usr/bin/env python3
"""Measures the ratios of docs/benchmarks.md and prints its tables.

usage: run.py [ROW...]     all rows, or those named

Each row is one thing of ours against one peer in the same run: A B A B, medians, and a ratio of speeds (above 1: ours is faster).
A figure of one machine on one day says little; the ratio is what is promised.

environment: TENSORCASK_BIN (default target/release/tensorcask), BENCH_DIR for the files (default target/bench, about 4 GB, 9 GB with
the memory rows), B3SUM (default: the one in PATH), EXAMPLES and PEERS (folders of built binaries), THREADS (default 2)
"""
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import gen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
TENSORCASK = Path(os.environ.get("TENSORCASK_BIN", TARGET / "release/tensorcask"))
EXAMPLES = Path(os.environ.get("EXAMPLES", TARGET / "release/examples"))
PEERS = Path(os.environ.get("PEERS", TARGET / "peer-rs/release"))
B3SUM = os.environ.get("B3SUM") or shutil.which("b3sum") or "b3sum"
THREADS = os.environ.get("THREADS", "2")
OUT = gen.FOLDER / "out"
MIB = 1 << 20


@dataclass
class Ratio:
    """Ours against a peer. `printed`: each prints the seconds of a library call first; else whole processes are timed.
    `target`: the least ratio of speeds. `syncs`: it writes, so the disk is quiet before each round and the output gone."""
    key: str
    work: str
    files: list
    ours: list
    peer: list
    target: float
    rounds: int = 7
    printed: bool = False
    syncs: bool = False


@dataclass
class Memory:
    """The peak of anonymous memory for a small and a large input: below `target` bytes, and the same."""
    key: str
    work: str
    files: list
    commands: list
    target: int = 64 * MIB


@dataclass
class Short:
    """One command on one file: milliseconds and bytes read."""
    key: str
    work: str
    files: list
    command: list
    target_ms: float
    spare_bytes: int


def path(name):
    return str(gen.FOLDER / name)


LLAMA, LLAMA4, SINGLE = path("llama57.safetensors"), path("llama57x4.safetensors"), path("single.safetensors")
FLAT, HDR, SPARSE = path("flat300.safetensors"), path("hdr100k.safetensors"), path("sparse700g.safetensors")
SHARDS, SPLIT = path("shards200"), path("flat300-split")
A, B = str(OUT / "a.safetensors"), str(OUT / "b.safetensors")
PYTHON = sys.executable


def b3sum(file):
    return [B3SUM, "--num-threads", THREADS, file]


def copy(*files):
    """`cp` of the same bytes to OUT, and their sync."""
    return ["sh", "-c", 'for f; do cp "$f" "$0" || exit 1; done; sync "$0"/*', str(OUT), *files]


def convert(source, target, *more):
    return [TENSORCASK, "convert", source, target, "--quiet", *more]


ROWS = [
    Ratio("hash57", "`hash`, 1 GiB in 57 tensors, warm, against `b3sum`", ["llama57"], [TENSORCASK, "hash", LLAMA], b3sum(LLAMA), 0.9, 11),
    Ratio("hash1", "`hash`, 1 GiB in one tensor, warm, against `b3sum`", ["single"], [TENSORCASK, "hash", SINGLE], b3sum(SINGLE), 0.9, 11),
    Ratio("names-python", "open and list 100,000 names, against Python safetensors", ["hdr100k"],
          [EXAMPLES / "list_names", HDR, "5"], [PYTHON, HERE / "peer_list_names.py", HDR, "5"], 10, 5, printed=True),
    Ratio("names-rust", "open and list 100,000 names, against the safetensors crate", ["hdr100k"],
          [EXAMPLES / "list_names", HDR, "5"], [PEERS / "peer_list_names", HDR, "5"], 3, 5, printed=True),
    Ratio("save300", "save 1 GiB in 300 tensors, synced, against one plain write", [],
          [EXAMPLES / "save_tensors", A, "300", str(gen.GIB // 300)], [PEERS / "plain_write", B, str(gen.GIB // 300 * 300)], 0.95, 7, True, True),
    Ratio("save50k", "save 0.8 GB in 50,000 tensors, synced, against one plain write", [],
          [EXAMPLES / "save_tensors", A, "50000", str(16 << 10)], [PEERS / "plain_write", B, str(50_000 * (16 << 10))], 0.8, 7, True, True),
    Ratio("split", "split 1 GiB into 8 shards with the proof, against `cp` and `sync`", ["flat300"],
          convert(FLAT, OUT / "split", "--max-shard-size", "150MB"), copy(FLAT), 1 / 1.6, 7, syncs=True),
    Ratio("merge", "merge 8 shards of 1 GiB with the proof, against `cp` and `sync`", ["flat300", "flat300-split"],
          convert(SPLIT, A), ["sh", "-c", f'exec sh -c "$1" "$0" {SPLIT}/*.safetensors', str(OUT), copy()[2]], 1 / 1.6, 7, syncs=True),
    Ratio("structure200", "`verify --structure` of 200 shards, against a Python script", ["shards200"],
          [TENSORCASK, "verify", "--structure", SHARDS], [PYTHON, "-I", HERE / "verify_shards.py", SHARDS], 5, 11),
    Memory("memory-hash", "`hash`", ["llama57", "llama57x4"], [[TENSORCASK, "hash", file] for file in (LLAMA, LLAMA4)]),
    Memory("memory-verify", "`verify`", ["llama57", "llama57x4"], [[TENSORCASK, "verify", file] for file in (LLAMA, LLAMA4)]),
    Memory("memory-diff", "`diff`", ["llama57", "llama57x4"], [[TENSORCASK, "diff", file, file] for file in (LLAMA, LLAMA4)]),
    Memory("memory-convert", "`convert`", ["llama57", "llama57x4"], [convert(file, A) for file in (LLAMA, LLAMA4)]),
    Short("inspect700g", "`inspect` of a 700 GB sparse file", ["sparse700g"], [TENSORCASK, "inspect", SPARSE], 50, 2 * MIB),
]


def environment():
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")}
    return kept | {"LC_ALL": "C.UTF-8", "RAYON_NUM_THREADS": THREADS, "OPENBLAS_NUM_THREADS": "1"}


def launch(command, **more):
    return subprocess.Popen([str(word) for word in command], env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)


def finish(process, command):
    out, err = process.communicate()
    if process.returncode:
        raise RuntimeError(f"`{' '.join(map(str, command))}` ended with {process.returncode}: {err.decode().strip()[-300:]}")
    return out


def seconds(command, printed):
    start = time.perf_counter()
    out = finish(launch(command, stdout=subprocess.PIPE if printed else subprocess.DEVNULL), command)
    return float(out.split()[0]) if printed else time.perf_counter() - start


def empty_out():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)


def anonymous_peak(command):
    """Peak of RssAnon, looked at each millisecond, in bytes. A spike between two looks is not seen."""
    empty_out()
    process, peak = launch(command, stdout=subprocess.DEVNULL), 0
    drained = threading.Thread(target=process.stderr.read)
    drained.start()
    while process.poll() is None:
        try:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    peak = max(peak, int(line.split()[1]) * 1024)
        except OSError:
            break
        time.sleep(0.001)
    process.wait()
    drained.join()
    if process.returncode:
        raise RuntimeError(f"`{' '.join(map(str, command))}` ended with {process.returncode}")
    return peak


def bytes_read(command):
    """Bytes that the process asked of the system by read calls (`rchar`), its libraries and start included."""
    process = launch(command, stdout=subprocess.DEVNULL)
    threading.Thread(target=process.stderr.read).start()
    # Left as a zombie, whose account can still be read.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    account = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
    if process.wait():
        raise RuntimeError(f"`{' '.join(map(str, command))}` ended with {process.returncode}")
    return int(account["rchar"])


def measure_ratio(row):
    times = ([], [])
    for number in range(row.rounds + 1):
        for side, command in enumerate((row.ours, row.peer)):
            if row.syncs:
                empty_out()
                os.sync()
            taken = seconds(command, row.printed)
            # The first round warms the page cache and does not count.
            if number:
                times[side].append(taken)
    ours, peer = map(statistics.median, times)
    spread = [theirs / mine for mine, theirs in zip(*times)]
    ratio = peer / ours
    cells = [f"{ours:.3f} s", f"{peer:.3f} s", f"{ratio:.2f} ({min(spread):.2f} to {max(spread):.2f})", f"{row.target:.2f}"]
    return cells, ratio >= row.target


def measure_memory(row):
    peaks = []
    for command in row.commands:
        empty_out()
        peaks.append(max(anonymous_peak(command) for _ in range(3)))
    small, large = peaks
    # The same: pages of an allocator and of thread stacks come and go.
    holds = large <= row.target and large - small <= 8 * MIB
    return [f"{small / MIB:.1f} MiB", f"{large / MIB:.1f} MiB", f"{row.target // MIB} MiB"], holds


def measure_short(row):
    taken = [seconds(row.command, printed=False) for _ in range(8)][1:]
    with open(SPARSE, "rb") as file:
        header = 8 + int.from_bytes(file.read(8), "little")
    n, ms = bytes_read(row.command), statistics.median(taken) * 1000
    cells = [f"{ms:.1f} ms", f"{n:,} (header {header:,})", f"{row.target_ms:.0f} ms, header + {row.spare_bytes:,}"]
    return cells, ms < row.target_ms and n <= header + row.spare_bytes


KINDS = {
    Ratio: (measure_ratio, ["work", "ours", "peer", "ratio (least to most)", "at least", "holds"]),
    Memory: (measure_memory, ["peak anonymous memory", "1 GiB", "4 GiB", "at most", "holds"]),
    Short: (measure_short, ["work", "time", "bytes read", "at most", "holds"]),
}


def prepare(name):
    if name != "flat300-split":
        return gen.make(name)
    if not Path(SPLIT).exists():
        finish(launch(convert(FLAT, SPLIT, "--max-shard-size", "150MB")), ["convert"])
    return SPLIT


def main(keys):
    unknown = set(keys) - {row.key for row in ROWS}
    if unknown:
        sys.exit(f"{__doc__}\nrows: {', '.join(row.key for row in ROWS)}")
    failed = False
    for kind, (measure, head) in KINDS.items():
        rows = [row for row in ROWS if isinstance(row, kind) and (not keys or row.key in keys)]
        if not rows:
            continue
        print("|", " | ".join(head), "|\n|", " | ".join(["---"] * len(head)), "|", flush=True)
        for row in rows:
            try:
                for name in row.files:
                    prepare(name)
                cells, holds = measure(row)
                verdict = "yes" if holds else "**no**"
            except (OSError, RuntimeError) as error:
                cells, holds = ["–"] * (len(head) - 2), False
                verdict = f"not measured: {error}"
            failed |= not holds
            print("|", " | ".join([row.work, *cells, verdict]), "|", flush=True)
        print()
    shutil.rmtree(OUT, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
