"""Checks of a widget before it is called.

One table of rules, and a module for each subject. Checks report and never decide: a widget that
cannot be served was refused before.

Each name is imported at its first use: a start whose widgets are proven checks nothing.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from widgetd.checks.breaking_changes import find_breaking_changes, report_removal
    from widgetd.checks.renders import explain_undrawable
    from widgetd.checks.rules import check_widget

__all__ = ["check_widget", "explain_undrawable", "find_breaking_changes", "report_removal"]

_HOMES: Final = MappingProxyType(
    {
        "check_widget": "rules",
        "explain_undrawable": "renders",
        "find_breaking_changes": "breaking_changes",
        "report_removal": "breaking_changes",
    }
)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'widgetd.checks' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(f"widgetd.checks.{_HOMES[name]}"), name)
    return found
