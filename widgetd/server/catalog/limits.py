"""Limits and times of the catalog."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogLimits:
    """Limits and times of the catalog.

    Attributes:
        settling_s: Time that a start waits for files that are being written.
        swap_gap_s: Time between a swap and the next scan, in which clients are notified;
            what is saved meanwhile becomes one swap.
        deletion_grace_s: Time after which a missing file counts as deleted; longer than the gap
            of any editor between removing a file and renaming the new one.
        vanished_files: Number of files whose absence in one scan counts as no deletion, unless an
            event reported one.
        empty_grace_s: Time for which those, and the files of a folder that was mounted again or
            replaced by an empty one, are served on.
        upload_rate_per_s: Widgets of one uploader per second, in the long run.
        upload_burst: Widgets of one uploader at once, so that a whole folder can be uploaded.
        upload_wait_s: Time that an upload waits until it is served; a scan takes far less.
        logged_tools: Changed tools that the event of a swap names.
        folder_files: Widgets of a folder to which uploads add no more.
        proofs_bytes: Size of the file of proofs; several times that of 10,000 widgets.
        proof_lines: Lines of the file of proofs, besides three for each proof in it, above which it
            is compacted.
        versions: Generations that are kept to go back to.
        versions_bytes: Size of their contents.
        version_log_bytes: Size of their list; many times that of 10,000 widgets.
        unsaved_generations: Those that wait for the disk; the oldest makes room.
        synced_files: Files that are synced one by one; for more, the machine syncs everything.
        state_lock_s: Time for which another process may keep this one from writing a generation.
        state_lock_poll_s: Time between two attempts to write it.
        rollback_bytes: Size of the file that asks for a rollback.
        journal_slots: Renders at the same time that the crash journal records.
        crash_render_s: A render that began less than this before the next start cannot have kept
            the interpreter long enough to end the process.
        quarantine_s: Time for which arguments are refused that were rendered at a crash.
        quarantine_bytes: Size of the quarantine file, which is some 15,000 entries.
    """

    settling_s: float = 1.0
    swap_gap_s: float = 0.02
    deletion_grace_s: float = 0.25
    vanished_files: int = 3
    empty_grace_s: float = 60.0
    upload_rate_per_s: float = 1.0
    upload_burst: int = 100
    upload_wait_s: float = 5.0
    logged_tools: int = 20
    folder_files: int = 10_000
    proofs_bytes: int = 1 << 28
    proof_lines: int = 1_000
    versions: int = 50
    versions_bytes: int = 1 << 28
    version_log_bytes: int = 1 << 28
    unsaved_generations: int = 16
    synced_files: int = 64
    state_lock_s: float = 1.0
    state_lock_poll_s: float = 0.005
    rollback_bytes: int = 1 << 10
    journal_slots: int = 64
    crash_render_s: float = 1.0
    quarantine_s: float = 3600.0
    quarantine_bytes: int = 1 << 20


LIMITS = CatalogLimits()
