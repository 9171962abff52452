"""A writer that is killed or runs out of room: what was there before, or what was asked for, and nothing else."""

import contextlib
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

import pytest
from blake3 import blake3

from tests.program import BINARY, ask, environment, only_result, root_of, run, write

MIB = 1 << 20
SIGKILL_MOMENTS = 100


def tensors(key, n, size):
    return {f"layer.{i:03}.weight": ("U8", [size], blake3(f"{key}{i}".encode()).digest(length=size)) for i in range(n)}


def entries(folder):
    return sorted(p.name for p in pathlib.Path(folder).iterdir())


def command(*arguments):
    return [str(BINARY), *map(str, arguments)]


def killed_after(seconds, *arguments):
    """True if the program was still at work when the signal came."""
    process = subprocess.Popen(command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    time.sleep(seconds)
    process.kill()
    return process.wait(timeout=60) == -signal.SIGKILL


@pytest.mark.parametrize("overwrite", [False, True], ids=["new-folder", "over-an-old-set"])
def test_a_split_killed_at_any_moment_leaves_old_or_new(tmp_path, overwrite):
    source = write(tmp_path / "source.safetensors", tensors("new", 64, MIB))
    old_source = write(tmp_path / "old.safetensors", tensors("old", 4, MIB))
    new_root, old_root = root_of(source), root_of(old_source)
    home = tmp_path / "home"
    home.mkdir()
    target = home / "model"
    split = ["convert", source, target, "--max-shard-size", "5MB", *(["--overwrite"] if overwrite else [])]

    def fresh():
        for path in sorted(home.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        if overwrite:
            assert run("convert", old_source, target, "--max-shard-size", "2MB").status == 0

    fresh()
    began = time.monotonic()
    assert run(*split).status == 0
    whole = time.monotonic() - began
    rng, killed = random.Random(20240607), 0
    for _ in range(SIGKILL_MOMENTS // 2):
        fresh()
        killed += killed_after(rng.uniform(0, whole), *split)
        if target.exists():
            root = root_of(target)
            assert root in ({old_root, new_root} if overwrite else {new_root})
            assert run("check", target).status == 0
        else:
            assert not overwrite, "the old set is gone"
        # The next run works all the same, and what the dead one left is cleaned or named.
        assert run(*split, *([] if overwrite or not target.exists() else ["--overwrite"])).status == 0
        assert root_of(target) == new_root
        named = {f["slug"] for r in ask("check", home)["results"] for f in r.get("findings", [])}
        inside = [n for n in entries(target) if not n.startswith("model")]
        if entries(home) != ["model"] or inside:
            assert "interrupted-write" in named, (entries(home), inside)
    # How many runs end before their signal depends on the machine; some must not, or nothing was tried.
    assert killed >= SIGKILL_MOMENTS // 10, f"only {killed} runs were still at work when they were killed"


def no_large_files(limit):
    """In the child: a write past the limit fails with EFBIG in place of a signal."""
    def apply():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return apply


def complains(done, folder, before):
    assert done.status == 2
    error = json.loads(done.out)["error"] if done.out.startswith("{") else None
    assert error is None or error["kind"] == "io"
    assert done.err.strip() or error
    assert entries(folder) == before, "something was left behind"


@pytest.mark.parametrize("shards", [False, True], ids=["one-file", "shards"])
@pytest.mark.parametrize("overwrite", [False, True], ids=["new", "over-an-old-one"])
def test_a_file_size_limit_leaves_old_or_nothing(tmp_path, shards, overwrite):
    source = write(tmp_path / "source.safetensors", tensors("new", 8, MIB))
    home = tmp_path / "home"
    home.mkdir()
    target = home / ("model" if shards else "model.safetensors")
    arguments = ["--max-shard-size", "3MB"] if shards else []
    old_root = None
    if overwrite:
        old_source = write(tmp_path / "old.safetensors", tensors("old", 4, MIB))
        old_root = root_of(old_source)
        assert run("convert", old_source, target, *arguments).status == 0
    before = entries(home)
    done = run("convert", source, target, *arguments, *(["--overwrite"] if overwrite else []), preexec_fn=no_large_files(2 * MIB))
    complains(done, home, before)
    if overwrite:
        assert root_of(target) == old_root
        assert only_result(ask("check", target, status=0))["findings"] == []


@contextlib.contextmanager
def small_tmpfs(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def can_mount(folder):
    if os.geteuid() != 0:
        return False
    try:
        with small_tmpfs(folder, "64k"):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def test_a_full_disk_leaves_old_or_nothing(tmp_path):
    source = write(tmp_path / "source.safetensors", tensors("new", 8, MIB))
    old_source = write(tmp_path / "old.safetensors", tensors("old", 2, MIB))
    old_root = root_of(old_source)
    if not can_mount(tmp_path / "probe"):
        # Without the right to mount, the file size limit of the test above is the disk that is too small.
        done = run("convert", source, tmp_path / "out.safetensors", preexec_fn=no_large_files(MIB))
        assert done.status == 2 and not (tmp_path / "out.safetensors").exists()
        return
    with small_tmpfs(tmp_path / "disk", "6m") as disk:
        assert run("convert", old_source, disk / "model", "--max-shard-size", "1500KB").status == 0
        assert run("convert", old_source, disk / "one.safetensors").status == 0
        before = entries(disk)
        complains(run("convert", source, disk / "new.safetensors"), disk, before)
        complains(run("convert", source, disk / "one.safetensors", "--overwrite"), disk, before)
        complains(run("convert", source, disk / "new", "--max-shard-size", "1500KB"), disk, before)
        complains(run("convert", source, disk / "model", "--max-shard-size", "1500KB", "--overwrite"), disk, before)
        assert root_of(disk / "model") == root_of(disk / "one.safetensors") == old_root
        assert only_result(ask("check", disk / "model", status=0))["findings"] == []
