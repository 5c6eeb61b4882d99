"""One standing child process that parses unproven content first.

tree-sitter is the only library that a file can keep busy outside our budgets, and a
process is the only thing whose memory and processor time can be limited from outside.
So the child goes first: it parses JSX, or proves a whole file of an untrusted writer,
within limits of the kernel. The daemon then does the same itself, with its own errors;
all it learns here is that the content fits. A content that ends a fresh child is refused.

The child starts with the first request, ends after a while without one, and is started
again by the next request, whatever ended it. It takes 0.2 s to start and 26 MB; a fork of
the daemon would be quicker, but a process with threads must not fork, and its limit would
have to count the daemon's own memory.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import socket
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import orjson

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.base.logs import get_logger

if TYPE_CHECKING:
    import subprocess

_MODULE: Final = "widgetd.daemon.parser_process"

_log = get_logger()

_LENGTH: Final = Struct("<I")
_READY: Final = b"!"
_DONE: Final = b"."


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserProcessLimits:
    """Limits of the child process.

    Attributes:
        cpu_s: Processor time for one content; the kernel counts whole seconds, so one more
            may pass before it ends the process.
        memory_bytes: Memory for one content, above what the process takes before it (Linux;
            macOS does not enforce such a limit).
        reply_s: Wall time for one content, on a machine that is busy with other work.
        idle_s: Time without a request after which the process ends.
    """

    cpu_s: int = 1
    memory_bytes: int = 64 * 2**20
    reply_s: float = 30.0
    idle_s: float = 300.0


LIMITS: Final = ParserProcessLimits()


class ParserProcess:
    """The child process, seen from the daemon. Its methods block; call them in a worker thread."""

    def __init__(self, limits: ParserProcessLimits = LIMITS) -> None:
        self._limits = limits
        # One content at a time, because the limits are those of the process.
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id of the child; None if none was started yet."""
        return None if self._child is None else self._child.pid

    def check_jsx(self, text: str) -> None:
        """Return once `text` was parsed as JSX within the limits, with or without an error.

        Raises:
            WidgetError: It ended the process (W1013).
        """
        self._check({"jsx": text.encode("utf-8", "surrogatepass").hex()})

    def check_file(self, source: Source, sidecar: Source | None) -> None:
        """Return once a file was proven and its samples were rendered, with or without an error.

        Raises:
            WidgetError: It ended the process (W1013).
        """
        both = [source] if sidecar is None else [source, sidecar]
        try:
            self._check({"files": [[each.path, each.content.hex()] for each in both]})
        except WidgetError as error:
            raise error.of(source.path) from None

    def close(self) -> None:
        """End the child process."""
        with self._lock:
            self._end()

    def _check(self, request: dict[str, Any]) -> None:
        body = orjson.dumps(request)
        with self._lock:
            is_fresh = False
            while not self._is_answered(body):
                status = self._end()
                if is_fresh or status == -signal.SIGXCPU:
                    megabytes = self._limits.memory_bytes // 2**20
                    limit = f"{self._limits.cpu_s} s of processor time or {megabytes} MB of memory"
                    problem = f"parsing it takes more than {limit}"
                    advice = "make it shorter, and close every comment, string and tag"
                    raise WidgetError(Finding(code="W1013", problem=problem, advice=advice))
                # A process that had worked before may have ended for another reason.
                is_fresh = True
                try:
                    self._start()
                except OSError as error:
                    # Not the content's fault: refusing it would stop every JSX widget. The
                    # budgets and the limit of reads hold in this process as well.
                    _log.warning("parser.failed", problem=str(error))
                    return

    def _is_answered(self, body: bytes) -> bool:
        if self._socket is None:
            return False
        try:
            self._socket.sendall(_LENGTH.pack(len(body)) + body)
            return self._socket.recv(1) == _DONE
        except OSError:
            return False

    def _start(self) -> None:
        import subprocess  # noqa: PLC0415 - few daemons start one, and every command imports this

        ours, theirs = socket.socketpair()
        ours.settimeout(self._limits.reply_s)
        with theirs:
            try:
                self._child = subprocess.Popen(  # noqa: S603 - our own program
                    # -P: the current folder may be the one that files are dropped into.
                    [sys.executable, "-P", "-m", _MODULE, orjson.dumps(self._limits).decode()],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # Relative folders are not safe to pass on.
                    env={
                        **os.environ,
                        "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path)),
                    },
                    # Ctrl+C reaches the daemon, which ends the child with itself.
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
        self._socket = ours
        if ours.recv(1) != _READY:
            raise OSError(f"it ended with status {self._end()} before it was ready")

    def _end(self) -> int | None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._child is not None:
            self._child.kill()
            status = self._child.wait()
            self._child = None
            return status
        return None


def main(limits: ParserProcessLimits) -> None:
    """Answer requests on standard input, which is a socket, until it is closed or idle."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    connection.settimeout(limits.idle_s)
    connection.sendall(_READY)
    with connection, connection.makefile("rb") as requests, suppress(TimeoutError):
        while head := requests.read(_LENGTH.size):
            _parse(orjson.loads(requests.read(_LENGTH.unpack(head)[0])), limits)
            connection.sendall(_DONE)


def _parse(request: dict[str, Any], limits: ParserProcessLimits) -> None:
    try:
        match request:
            case {"jsx": text}:
                _parse_jsx(bytes.fromhex(text).decode("utf-8", "surrogatepass"), limits)
            case {"files": files}:
                _prove([Source.of(path, bytes.fromhex(content)) for path, content in files], limits)
    except MemoryError:
        os._exit(1)
    except Exception:  # noqa: BLE001 - the daemon meets the same error, and reports it
        return


def _parse_jsx(text: str, limits: ParserProcessLimits) -> None:
    from widgetd.core.studio.exporter import ExporterBuilder  # noqa: PLC0415 - as it is needed
    from widgetd.core.template.jsx import View  # noqa: PLC0415
    from widgetd.core.template.jsx.build import Builder  # noqa: PLC0415

    View("<Card/>", Limits())  # imports the library, which the limit is to leave out
    limit_resources(limits)
    for builder in (Builder, ExporterBuilder):
        View(text, Limits(), builder=builder)


def _prove(files: list[Source], limits: ParserProcessLimits) -> None:
    from widgetd.core.template.jsx import View  # noqa: PLC0415
    from widgetd.server.catalog.loader import Loader  # noqa: PLC0415 - as it is needed

    View("<Card/>", Limits())
    limit_resources(limits)
    source, *sidecars = files
    loader = Loader(lambda _widget: b"{}", keeps_parts=True)
    widget = loader.load(source, sidecars[0] if sidecars else None)
    for arguments in widget.examples:
        with suppress(CallError):
            widget.call(arguments)


def limit_resources(limits: ParserProcessLimits = LIMITS) -> None:
    """Limit what this process may use from now on, until it is called again."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until_s = math.ceil(used.ru_utime + used.ru_stime) + limits.cpu_s
    _limit(resource.RLIMIT_CPU, until_s)
    if sys.platform == "linux":
        with open("/proc/self/statm", "rb") as statm:  # noqa: PTH123 - a file of the kernel
            pages = int(statm.read().split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + limits.memory_bytes)


def _limit(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (soft, hard))


if __name__ == "__main__":
    main(ParserProcessLimits(**orjson.loads(sys.argv[1])))
