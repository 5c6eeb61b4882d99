"""The flags of `serve` and `dev`, for each setting."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_origin

from cyclopts import Group, Parameter

from widgetd.base.redaction import SecretUrl
from widgetd.settings import GROUPS, SET_FIRST, Settings, Settled, settle


def _flag_type(annotation: Any) -> Any:
    if SecretUrl in (annotation, *get_args(annotation)):
        return str | None
    return list[str] | None if get_origin(annotation) is tuple else annotation | None


_SECTIONS = {
    name: Group(section.capitalize(), sort_key=at)
    for at, (section, names) in enumerate(GROUPS.items(), 2)
    for name in names
} | dict.fromkeys(SET_FIRST, Group("Set first", sort_key=1))
"""Sections of the help by setting."""


Flags = Parameter(name="*")(
    make_dataclass(
        "Flags",
        [
            (
                name,
                Annotated[
                    _flag_type(setting.annotation),
                    Parameter(help=setting.description, negative="", group=_SECTIONS[name]),
                ],
                field(default=None),
            )
            for name, setting in Settings.model_fields.items()
            if name not in ("dir", "profiles", "webhook_secret", "chat_key")
        ],
        kw_only=True,
        namespace={"__module__": __name__},
    )
)
"""A flag for each setting, so that the two cannot differ."""


def settle_flags(
    dir: Path | None,
    flags: object,
    *,
    fixed: Mapping[str, object] = MappingProxyType({}),
    config: Path | None = None,
) -> Settled:
    """Settle all settings from flags, environment and the settings file. `fixed` wins over all."""
    # A flag may hold several words with commas, as a variable does.
    words = {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in vars(flags).items()
    }
    return settle({"dir": dir, **words, **fixed}, os.environ, config)


def complain(sentence: str, exit_code: int) -> int:
    print(f"widgetd: {sentence}", file=sys.stderr)
    return exit_code
