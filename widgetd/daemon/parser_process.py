"""A standing child process for the first drawing of content from outside.

Every first drawing (a file with its samples, a draft with its arguments) happens
here, within limits of the kernel: a process is the only thing whose memory and processor
time can be limited from outside. The daemon gets the proof, or does the same itself where there
is none, with its own errors. A content that ends a fresh child is refused.

The child starts with the first request, is kept until it is closed, and is started again by the
next request, whatever ended it. It takes 0.3 s to start and 26 MB. A fork of the daemon would be
quicker, but a process with threads must not fork, and its limit would have to count the daemon's
own memory. A start draws in forks instead, see `widgetd.daemon.parallel_proof`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from struct import Struct
from typing import IO, TYPE_CHECKING, Any, Final

import orjson

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.base.logs import get_logger
from widgetd.base.processes import PROCESSES, KindLimits, limit_resources
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.definition import compute_digest
from widgetd.core.widget.local_state import take_actions
from widgetd.core.widget.samples import filter_admitted, list_authored
from widgetd.server.catalog.proof_cache import ProofRecord, decode, encode

if TYPE_CHECKING:
    import subprocess

    from widgetd.core.widget.widget import Proof, Widget

_MODULE: Final = "widgetd.daemon.parser_process"

_log = get_logger()

_LENGTH: Final = Struct("<I")


LIMITS: Final = PROCESSES.limits["parser"]

REPLY_S: Final = 120.0
"""Wall time for one content. It judges no content: a process that uses no processor time is
stopped or starved."""


class ParserProcess:
    """The child process, seen from the daemon. Its methods block: call them in a worker thread."""

    def __init__(self, limits: KindLimits = LIMITS) -> None:
        self._limits = limits
        # A single content at a time, because the limits are those of the process.
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._replies: IO[bytes] | None = None
        self._place = ExitStack()
        self._has_failed = False

    def enforced_limits(self) -> tuple[str, ...]:
        """Return the limits of a first drawing, none where no process starts."""
        if self._has_failed:
            return ()
        # macOS accepts a limit of memory and ignores it.
        return ("processor time", "memory") if sys.platform == "linux" else ("processor time",)

    @property
    def pid(self) -> int | None:
        """Return the process id of the child, None if none was started yet."""
        return None if self._child is None else self._child.pid

    def check_jsx(self, text: str) -> None:
        """Return once `text` was parsed as JSX within the limits, with or without an error.

        Raises:
            WidgetError: It ended the process (W1013).
        """
        self._request({"jsx": text.encode("utf-8", "surrogatepass").hex()})

    def prove(
        self,
        source: Source,
        sidecar: Source | None,
        arguments: Mapping[str, Any] | None = None,
        actions: Sequence[Mapping[str, Any]] = (),
    ) -> Proof | None:
        """Return the proof of a file whose samples were drawn, None if it cannot be served.

        Its entry is for no list of tools. None also where no process starts.

        Args:
            source: The file.
            sidecar: The file's sidecar.
            arguments: Arguments to draw the file with as well.
            actions: Local actions before that drawing.

        Raises:
            WidgetError: It ended the process (W1013).
        """
        files = [source] if sidecar is None else [source, sidecar]
        contents = [[file.path, file.content.hex()] for file in files]
        call = None if arguments is None and not actions else [arguments, actions]
        try:
            reply = self._request({"files": contents, "call": call})
        except WidgetError as error:
            raise error.of(source.path) from None
        record = decode(reply.removesuffix(b"\n"))
        return None if record is None else record.proof

    def close(self) -> None:
        with self._lock:
            self._end()

    def _request(self, request: dict[str, Any]) -> bytes:
        """Return the reply of the child, empty where none starts."""
        body = to_json(request)
        with self._lock:
            is_fresh = False
            while (reply := self._ask(body)) is None:
                status = self._end()
                if is_fresh or status == -signal.SIGXCPU:
                    megabytes = self._limits.memory_bytes // 2**20
                    limit = f"{self._limits.cpu_s} s of processor time or {megabytes} MB of memory"
                    problem = f"drawing it takes more than {limit}"
                    advice = "make it shorter, and close every comment, string and tag"
                    raise WidgetError(Finding(code="W1013", problem=problem, advice=advice))
                # After successful work a process may have ended for another reason.
                is_fresh = True
                try:
                    self._start()
                    self._has_failed = False
                except OSError as error:
                    self._has_failed = True
                    # Not the content's fault: refusing it would stop every widget. The
                    # budgets and the limit of reads hold in this process as well.
                    _log.warning("parser.failed", problem=str(error))
                    return b""
            return reply

    def _ask(self, body: bytes) -> bytes | None:
        if self._socket is None or self._replies is None:
            return None
        try:
            self._socket.sendall(_LENGTH.pack(len(body)) + body)
            return _receive(self._replies)
        except OSError:
            return None

    def _start(self) -> None:
        import subprocess  # noqa: PLC0415 - few daemons start one, and every command imports this

        self._place.enter_context(PROCESSES.hold("parser"))
        ours, theirs = socket.socketpair()
        ours.settimeout(REPLY_S)
        with theirs:
            try:
                self._child = subprocess.Popen(  # noqa: S603 - our own program
                    # -P: the current folder may be the widgets folder.
                    [sys.executable, "-P", "-m", _MODULE, orjson.dumps(self._limits).decode()],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # Relative folders are not safe to pass on.
                    env={
                        **os.environ,
                        "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path)),
                    },
                    # Ctrl+C reaches the daemon, and the daemon ends the child.
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                self._place.close()
                raise
        self._socket, self._replies = ours, ours.makefile("rb")
        if _receive(self._replies) is None:
            raise OSError(f"it ended with status {self._end()} before it was ready")

    def _end(self) -> int | None:
        """End the child, and return its exit status, as `Popen` does."""
        if self._socket is not None and self._replies is not None:
            self._replies.close()
            self._socket.close()
            self._socket = self._replies = None
        self._place.close()
        if self._child is not None:
            self._child.kill()
            status = self._child.wait()
            self._child = None
            return status
        return None


def _receive(messages: IO[bytes]) -> bytes | None:
    """Return the next message, None at the end, also in the middle of a message."""
    head = messages.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(head)[0]
    body = messages.read(length)
    return body if len(body) == length else None


def main(limits: KindLimits) -> None:
    """Answer requests on standard input, a socket, until it is closed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _import_libraries()
    connection = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    connection.sendall(_LENGTH.pack(0))
    with connection, connection.makefile("rb") as requests:
        while (body := _receive(requests)) is not None:
            reply = _reply(body, limits)
            connection.sendall(_LENGTH.pack(len(reply)) + reply)


def _import_libraries() -> None:
    """Import what the limits are to leave out, and the first content not to wait for."""
    from widgetd.core.checks import renders, rules  # noqa: F401, PLC0415 - the daemon may need none
    from widgetd.core.template.jsx import View  # noqa: PLC0415

    View("<Card/>", Limits())


def _reply(body: bytes, limits: KindLimits) -> bytes:
    try:
        limit_resources(limits)
        match json.loads(body):  # orjson refuses integers beyond 64 bits
            case {"jsx": text}:
                _parse_jsx(bytes.fromhex(text).decode("utf-8", "surrogatepass"))
            case {"files": files, "call": call}:
                sources = [Source.of(path, bytes.fromhex(text)) for path, text in files]
                return _prove(sources, call, limits)
    except MemoryError:
        os._exit(1)
    except Exception:  # noqa: BLE001, S110 - the daemon meets the same error, and reports it
        pass
    return b""


def _parse_jsx(text: str) -> None:
    from widgetd.core.studio.exporter import ExporterBuilder  # noqa: PLC0415 - as it is needed
    from widgetd.core.template.jsx import View  # noqa: PLC0415
    from widgetd.core.template.jsx.build import Builder  # noqa: PLC0415

    for builder in (Builder, ExporterBuilder):
        View(text, Limits(), builder=builder)


def _prove(files: Sequence[Source], call: Sequence[Any] | None, limits: KindLimits) -> bytes:
    """Return the proof of a file as a line, once it was drawn.

    Args:
        files: The file, and its sidecar if there is one.
        call: Arguments or None, and local actions; None for the samples alone.
        limits: Of each drawing.

    Raises:
        WidgetError: It cannot be served.
        CallError: It cannot be drawn as in `call`.
    """
    from widgetd.server.catalog.loader import Loader  # noqa: PLC0415 - as it is needed

    source, sidecar = files[0], files[1] if len(files) > 1 else None
    widget = Loader(_make_entry, keeps_parts=True).load(source, sidecar)
    draw_samples(widget, limits)
    if call is not None:
        limit_resources(limits)
        arguments = widget.example if call[0] is None else call[0]
        state = take_actions(widget, arguments, call[1])
        widget.draw(widget.check(arguments), state=state)
    content = compute_digest(source, sidecar)
    record = ProofRecord(version="", path=source.path, digest=content, proof=widget.prove())
    return encode(record)


def _make_entry(widget: Widget) -> bytes:
    """Return a stub, because the daemon makes entries by its settings."""
    return orjson.dumps({"name": widget.tool, "inputSchema": {}})


def draw_samples(widget: Widget, limits: KindLimits = LIMITS) -> None:
    """Draw the author's samples behind the first, which the loader drew; limit each drawing."""
    samples = filter_admitted(widget, list_authored(widget.definition))
    for sample in islice(samples, 1, None):
        limit_resources(limits)
        with suppress(CallError):
            widget.call(sample.arguments)


if __name__ == "__main__":
    main(KindLimits(**orjson.loads(sys.argv[1])))
