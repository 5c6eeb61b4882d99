"""A finished upload, as observers receive it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UploadOutcome = Literal["ok", "error", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A finished upload, for observers.

    Attributes:
        uploader: The name of the uploader, if any.
        path: The widget's file. Empty if no file has a widget's name.
        tool: The tool of the widget. Empty if the upload was refused.
        code: The reason for a refusal, such as `W1006`.
        size_bytes: Size of all files.
    """

    uploader: str
    path: str
    tool: str
    code: str
    size_bytes: int

    @property
    def outcome(self) -> UploadOutcome:
        """Return `ok`, `error` for a refusal, or `failed` for a defect."""
        return "ok" if self.tool else "error" if self.code else "failed"
