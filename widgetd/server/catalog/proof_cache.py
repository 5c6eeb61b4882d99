"""The proofs of earlier processes. With them a start need not prove the same files again.

The file has a sealed line for each proven file and may be deleted at any time. A proof counts only
for the same path, digest and version of widgetd, and damaged lines are skipped. With a proof, the
widget file is not even parsed: its widget compiles its parts at first use.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import get_args

import orjson

from widgetd.core.widget.definition import WidgetNames
from widgetd.core.widget.sources import Source
from widgetd.core.widget.widget import Proof
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.state import StateFolder, seal, unseal

FILE = "proofs.jsonl"

_SOURCES: tuple[list[str], ...] = ([], *([source] for source in get_args(Source)))
"""The field of a line for the source that is rendered, empty for files without JSX."""

_SEPARATOR = b"\t"
"""Separates the fields: JSON has tabs only between tokens, where orjson writes none."""


class ProofCache:
    """The proofs by path, each in memory until it is taken."""

    def __init__(self, state: StateFolder, version: str) -> None:
        self._state = state
        self._version = version
        self._known, lines = self._read()
        # The file also grows over many starts, by a few lines each.
        self._lines_left = LIMITS.proof_lines + 3 * len(self._known) - lines

    def __len__(self) -> int:
        return len(self._known)

    def take(self, path: str, digest: str) -> Proof | None:
        record = self._known.pop(path, None)
        return record.proof if record is not None and record.digest == digest else None

    def add(self, path: str, digest: str, proof: Proof) -> None:
        record = ProofRecord(version=self._version, path=path, digest=digest, proof=proof)
        # A full disk costs the next start time, and nothing else.
        if self._state.append(FILE, encode(record)):
            self._state.report_recovery(FILE)
            self._lines_left -= 1
        if self._lines_left <= 0:
            records, _ = self._read()
            self._state.write(FILE, b"".join(map(encode, records.values())))
            self._lines_left = LIMITS.proof_lines + 2 * len(records)

    def _read(self) -> tuple[dict[str, ProofRecord], int]:
        lines = (self._state.read(FILE, most_bytes=LIMITS.proofs_bytes) or b"").splitlines()
        records = (record for record in map(decode, lines) if record is not None)
        latest = {record.path: record for record in records if record.version == self._version}
        return latest, len(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofRecord:
    """A proof, with its file and version.

    Attributes:
        version: The version behind the served content.
        path: The file, relative to the widgets folder.
        digest: Digest of the file and its sidecar.
        proof: The proof.
    """

    version: str
    path: str
    digest: str
    proof: Proof


def encode(record: ProofRecord) -> bytes:
    proof = record.proof
    key = (record.version, record.path, record.digest)
    values = [proof.description, proof.listing, proof.page, *filter(None, [proof.source])]
    head = orjson.dumps((*key, astuple(proof.names), values))
    return seal(_SEPARATOR.join((head, proof.entry))) + b"\n"


def decode(line: bytes) -> ProofRecord | None:
    # Another program may have written a line with the right hash, so its content is not trusted.
    try:
        head, entry = (unseal(line) or b"").split(_SEPARATOR)
        match orjson.loads(head), orjson.loads(entry):
            case (
                [
                    str(version),
                    str(path),
                    str(digest),
                    [str(name), str(tool), str(title), str(summary)],
                    [str(description), str(listing), str(page), *source],
                ],
                {"name": str(listed), "inputSchema": dict()},
            ) if listed == tool and source in _SOURCES:
                proof = Proof(
                    names=WidgetNames(name=name, tool=tool, title=title, description=summary),
                    description=description,
                    listing=listing,
                    page=page,
                    entry=entry,
                    source=source[0] if source else "",
                )
                return ProofRecord(version=version, path=path, digest=digest, proof=proof)
    except ValueError:
        pass
    return None
