"""The limits and timeouts of the daemon, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonLimits:
    """Timeouts of the daemon, and bounds on its work.

    Attributes:
        switch_s: Time for which a thread building widgets keeps the interpreter while calls
            wait. Python's default of 5 ms would double the time of a short call.
        stdio_drain_s: Time for the last answers to reach the pipe before stdin ends.
        webhook_drain_s: Time for the webhook to take its deliveries when the daemon ends.
        notify_s: Time for a message to enter the service manager's queue. The loop waits with it.
        watchdog_cpu_s: Processor time, of all threads, between two beats of the loop after which
            the process ends.
        watchdog_beat_s: Time between two beats. To take `watchdog_cpu_s` within a beat, five
            processors must be busy.
        proof_files_each: Files for each further process, as far as there are processors.
        proof_processes: Processes for proofs. Each takes memory of its own.
        proof_chunk_bytes: Size of a read of their proofs.
        measured_tools: Tools with a series of their own in the OpenTelemetry metric.
        rollback_poll_s: Period of looking for an operator's rollback.
        gc_objects: Objects between two collections of garbage. Python's default is a few hundred.
    """

    switch_s: float = 0.0005
    stdio_drain_s: float = 0.1
    webhook_drain_s: float = 3.0
    notify_s: float = 0.1
    watchdog_cpu_s: float = 5.0
    watchdog_beat_s: float = 1.0
    proof_files_each: int = 128
    proof_processes: int = 4
    proof_chunk_bytes: int = 1 << 20
    measured_tools: int = 1_000
    rollback_poll_s: float = 1.0
    gc_objects: int = 50_000


LIMITS: Final = DaemonLimits()
