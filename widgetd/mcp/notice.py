"""What clients are to be told of a change."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What clients are to be told, once.

    Attributes:
        tools: The list of tools is another one now.
        resources: The list of resources is another one now.
        updated: URIs of resources whose content is another one now.
    """

    tools: bool = False
    resources: bool = False
    updated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.tools or self.resources or bool(self.updated)
