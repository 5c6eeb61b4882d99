"""What is said alike to more than one command: the settings, a folder, arguments."""

from __future__ import annotations

import os
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from widgetd.settings import Settings, Settled, settle


def _flags() -> type:
    """A flag for each setting, so that the two can never differ."""
    return make_dataclass(
        "Flags",
        [
            (
                name,
                Annotated[
                    _flag_type(setting.annotation),
                    Parameter(help=setting.description, negative=""),
                ],
                field(default=None),
            )
            for name, setting in Settings.model_fields.items()
            if name not in ("dir", "profiles", "webhook_secret")
        ],
        kw_only=True,
        namespace={"__module__": __name__},
    )


def _flag_type(annotation: Any) -> Any:
    return list[str] | None if annotation == tuple[str, ...] else annotation | None


Flags = Parameter(name="*")(_flags())
Dir = Annotated[Path | None, Parameter(name="--dir", help="The folder of widgets.")]
Arguments = Annotated[
    str,
    Parameter(
        help="JSON, @FILE with JSON, or - for standard input.",
        allow_leading_hyphen=True,  # or "-" would be taken for a flag
    ),
]


def settled_by(dir: Path | None, flags: object, **fixed: object) -> Settled:
    """Every setting, as the flags, the environment and the settings file say it."""
    return settle({"dir": dir, **vars(flags), **fixed}, os.environ)
