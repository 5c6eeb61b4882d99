"""The one door to `chatkit.widgets`, opened on first use.

Importing that module takes 100 ms, which a server that only renders should not
pay at its start; and it subclasses its own deprecated classes, of which it then
warns whoever imports it.
"""

from __future__ import annotations

import warnings
from functools import cache
from types import ModuleType


@cache
def widgets() -> ModuleType:
    """The module `chatkit.widgets`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from chatkit import widgets as module  # noqa: PLC0415 imported on first use, see above
    return module
