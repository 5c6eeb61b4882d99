"""A pytest plugin that makes every import of a wing fail, for `make test-core`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

WINGS = ("widgetd.author", "widgetd.chat", "widgetd.upstreams")


class RefuseWings(MetaPathFinder):
    """Refuses modules of wings, as if widgetd were installed without them."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> None:
        if ".".join(name.split(".")[:2]) in WINGS:
            problem = f"{name} is a wing, and this run has none"
            raise ModuleNotFoundError(problem, name=name)


sys.meta_path.insert(0, RefuseWings())
