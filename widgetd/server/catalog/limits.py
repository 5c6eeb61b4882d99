"""Limits and times of the catalog."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogLimits:
    """Limits and times of the catalog.

    Attributes:
        settling_s: Time of a start to wait for unfinished files.
        swap_gap_s: Time between a swap and the next scan, to notify clients. All saves in between
            become a single swap.
        deletion_grace_s: Time after which a missing file counts as deleted. Editors take less
            between removing a file and renaming the new file.
        vanished_files: Number of files whose absence in a scan counts as no deletion, unless an
            event reported a deletion.
        empty_grace_s: Time for which those are served on, and the files of a folder mounted again
            or replaced by an empty folder.
        upload_rate_per_s: Widgets of an uploader per second, in the long run.
        upload_burst: Widgets of an uploader at once, enough for a whole folder.
        upload_wait_s: Time of an upload to wait until it is served. A scan takes far less.
        logged_tools: Changed tools in the event of a swap.
        folder_files: Widgets of a folder beyond which uploads are refused.
        proofs_bytes: Size of the file of proofs. 10,000 widgets need a fraction.
        proof_lines: Lines of the file of proofs, besides three for each proof, above which it is
            compacted.
        versions: Generations to go back to.
        versions_bytes: Size of their contents.
        version_log_bytes: Size of their list. 10,000 widgets need a fraction.
        unsaved_generations: Generations waiting for the disk. The oldest makes room.
        synced_files: Files to sync singly. For more, the machine syncs everything.
        state_lock_s: Time to wait for another process before a generation is not written.
        state_lock_poll_s: Time between two attempts to write it.
        rollback_bytes: Size of the file of a rollback request.
        journal_slots: Concurrent renders in the crash journal.
        crash_render_s: Age of a render at the next start from which it may have ended the process.
        quarantine_s: Time for which the arguments of a crash are refused.
        quarantine_bytes: Size of the quarantine file, some 15,000 entries.
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
