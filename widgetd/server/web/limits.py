"""The limits and timeouts of the room `web`, in two tables: an operator's, and fixed limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from widgetd.base.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Limits of a port, from the settings of the same names.

    Attributes:
        header_s: Time from the connection, or a request's first byte, to the end of its header.
        body_s: Time from there to the end of its body.
        linger_s: Time for the client of a refused request to read the answer.
        connections: Open connections.
        probe_connections: Further connections for probes only. The oldest makes room.
    """

    header_s: float = 10.0
    body_s: float = 60.0
    linger_s: float = 2.0
    connections: int = 10_000
    probe_connections: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLimits:
    """Limits without a setting.

    Attributes:
        overhead_bytes: Bytes in a row outside a complete header and a body: a long
            header, trailers, extensions of chunks.
        copied_bytes: A longer write goes out by itself, as copying it costs more than a packet.
        warning_interval_s: Between two log lines about a persistent condition.
        backlog: Connections waiting in the kernel.
        accepted_at_once: Connections accepted before the first of them gets its slot.
        tick_s: Interval between renewals of the `Date` of responses.
        shutdown_s: Time for requests in flight once the daemon ends.
        waits: Streams and waiting calls of a named principal, or half of `connections`, if fewer.
        spare_descriptors: Kept for files, the store and probes, however many clients connect.
        arguments_bytes: The body of `/render`: four times the text of the largest widget.
        upload_bytes: A body of the gallery: a widget and its sidecar in base64.
        drafts_at_once: Threads to try drafts in editors.
        version_digits: Digits of a version's number in an address.
        results_bytes: The results of a run of tests, or a picture in them, read for a page.
        tiles_bytes: Tiles of the index in memory. After more were drawn, all are dropped.
        heartbeat_s: Between two events of a silent stream: proxies and laptops drop a connection
            after a silence of a minute.
        missed_after_s: A save found sooner by the timer merely preceded its event.
        saved_within_s: A file written longer ago was moved or mounted into the folder.
    """

    overhead_bytes: int = 64 * 1024
    copied_bytes: int = 16 * 1024
    warning_interval_s: float = 60.0
    backlog: int = 2048
    accepted_at_once: int = 16
    tick_s: float = 1.0
    shutdown_s: int = 10
    waits: int = 1_000
    spare_descriptors: int = 128
    arguments_bytes: int = 4 * 1024 * 1024
    upload_bytes: int = 4 * Limits().file_bytes
    drafts_at_once: int = 2
    version_digits: int = 9
    results_bytes: int = 4 * 1024 * 1024
    tiles_bytes: int = 32 * 1024 * 1024
    heartbeat_s: float = 15.0
    missed_after_s: float = 1.0
    saved_within_s: float = 60.0


LIMITS: Final = WebLimits()
