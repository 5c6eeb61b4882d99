"""A start draws what nobody has proven in forks, and depends on none of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile

import anyio
import pytest

from tests.support.forked_daemons import forked_daemon
from tests.support.widgets import source, widget_file
from widgetd.base.limits import Limits
from widgetd.core.widget.widget import Proof
from widgetd.daemon.assembly import build_server, build_store, prepare
from widgetd.daemon.loading import build_loader
from widgetd.daemon.parallel_proof import ParallelProofs, ProvingFork
from widgetd.server.catalog.loader import Loader, load
from widgetd.server.catalog.proof_cache import ProofRecord, encode
from widgetd.server.observe.log_ring import LogRing
from widgetd.server.render.entry import tool_entry
from widgetd.settings import Settings

TEXT = widget_file()

needs_forks = pytest.mark.skipif(sys.platform != "linux", reason="only Linux proves in forks")

HELPED = """
import sys
from pathlib import Path

from widgetd.server.catalog.loader import Loader
from widgetd.daemon.parallel_proof import proving_in_parallel
from widgetd.server.render.entry import tool_entry

root, path, digest = Path(sys.argv[1]), *sys.argv[2:]
with proving_in_parallel(root, Loader(tool_entry).prove, proof_count=0) as proofs:
    if proofs is None:
        print("alone")
    else:
        proof = proofs.take(path, digest)
        print(proof and proof.names.tool)
"""

MANY = 8


def prove_in_parallel(root: Path, path: str) -> str:
    """Prove the folder `root` in forks and return the tool of `path`."""
    return run_helped(root, path, source(path, (root / path).read_text(encoding="utf-8")).digest)


def run_helped(root: Path, path: str, digest: str) -> str:
    command = [sys.executable, "-W", "error", "-c", HELPED, str(root), path, digest]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert not done.stderr
    return done.stdout.strip()


def proof(path: str = "Greeting.widget") -> Proof:
    return Loader(tool_entry).prove(source(path, TEXT), None).prove()


def write_numbered(root: Path, count: int) -> None:
    for number in range(count):
        (root / f"w{number:03}.widget").write_text(widget_file(f"Widget {number}"))


@needs_forks
def test_unserved_file_is_skipped(tmp_path: Path) -> None:
    write_numbered(tmp_path, MANY)
    (tmp_path / "a.widget").write_text("no JSON")
    (tmp_path / "b.widget").mkdir()

    assert prove_in_parallel(tmp_path, f"w{MANY - 1:03}.widget") == f"widget_{MANY - 1}"
    assert prove_in_parallel(tmp_path, "a.widget") == "None"


def test_empty_folder_needs_no_fork(tmp_path: Path) -> None:
    assert run_helped(tmp_path, "w000.widget", "") == "alone"


@needs_forks
async def test_proving_process_ends_after_all_files(tmp_path: Path) -> None:
    write_numbered(tmp_path, MANY)

    async with forked_daemon(tmp_path) as served:
        pid = served.process.pid
        assert f"{MANY} widgets" in served.greeting
        assert await anyio.Path(f"/proc/{pid}/task/{pid}/children").read_text() == ""


def test_proof_is_used_for_the_same_content_alone() -> None:
    reader, writer = os.pipe()
    child = os.posix_spawnp("sleep", ["sleep", "60"], os.environ)
    with TemporaryFile(buffering=0) as file:
        fork = ProvingFork(pid=child, file=os.dup(file.fileno()), written=reader)
        proofs, known = ParallelProofs([fork]), proof()
        proven = ProofRecord(version="", path="Greeting.widget", digest="d1", proof=known)
        text = encode(proven)

        file.write(text[:20])
        os.write(writer, b".")
        file.write(text[20:] + text + b"cut short")
        assert proofs.take("Greeting.widget", "d1") == known
        file.write(b"\n" + text)
        assert proofs.take("Greeting.widget", "d2") is None
        os.close(writer)
        assert proofs.take("Greeting.widget", "d1") is None
        assert proofs.take("Other.widget", "d1") is None
        proofs.end()
        assert proofs.take("Greeting.widget", "d1") is None


@needs_forks
def test_each_of_several_processes_proves_its_share(tmp_path: Path) -> None:
    write_numbered(tmp_path, MANY)
    script = f"""
import os, sys, time
from dataclasses import replace
from pathlib import Path

from widgetd.server.catalog.loader import Loader
from widgetd.daemon import parallel_proof
from widgetd.server.render.entry import tool_entry

os.sched_getaffinity = lambda _: range(4)
parallel_proof.LIMITS = replace(parallel_proof.LIMITS, proof_files_each=2)
loader = Loader(tool_entry)

def prove(source, sidecar):
    proof = loader.prove(source, sidecar)
    os.write(1, " ".join([str(os.getpid()), source.path, os.linesep]).encode())
    while True:
        time.sleep(1)

with parallel_proof.proving_in_parallel(Path({str(tmp_path)!r}), prove, proof_count=0) as proofs:
    assert proofs is not None
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        words = [process.stdout.readline().split() for _ in range(4)]
        process.communicate(timeout=60)

    assert process.returncode == 0
    assert sorted(path for _, path in words) == [f"w{n:03}.widget" for n in range(4)]
    assert len({pid for pid, _ in words}) == 4


@needs_forks
def test_child_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    write_numbered(tmp_path, MANY)
    script = f"""
import os, sys, time
from pathlib import Path

from widgetd.daemon.parallel_proof import proving_in_parallel
from widgetd.base.files.source import Unsettled

def prove(source, sidecar):
    os.write(1, b"proving\\n")
    time.sleep(0.05)
    raise Unsettled(0)

with proving_in_parallel(Path({str(tmp_path)!r}), prove, proof_count=0):
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.kill()
        # Its end of the pipe is closed by the last process that has it.
        output = process.stdout.read()

    assert output.count("\n") < MANY


async def test_entries_proven_ahead_equal_the_servers(tmp_path: Path) -> None:
    settings = Settings(dir=tmp_path, port=0)
    loading = build_loader(settings, tmp_path, ())
    runtime = prepare(settings, tmp_path, loading, anyio.Event(), LogRing())
    widget = load(source("Greeting.widget", TEXT), None, limits=Limits())

    async with build_store(settings) as store:
        listed = build_server(runtime, store, ()).admit(widget)

    assert loading.loader.prove(source("Greeting.widget", TEXT), None).entry == listed
