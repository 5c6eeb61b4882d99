"""Commands that answer whether all is well: with files, with calls, with a code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from widgetd.cli.printing import print_json
from widgetd.errors import ConfigError
from widgetd.settings import folder_of, settle


def check(
    *paths: Path,
    json: bool = False,
    github: bool = False,
    strict: bool = False,
    against: str = "",
) -> int:
    """Say everything that can be said about widgets before anyone calls them.

    Exit code 1 if a file cannot be served as it stands.

    Args:
        paths: Folders, or single files. Default: the folder that `serve` would serve.
        json: Print a JSON array.
        github: Print annotations for a pull request.
        strict: Warnings count as faults.
        against: A git revision or a folder; say what broke for callers since then.
    """
    from widgetd.checks import report
    from widgetd.cli import checking

    checked = checking.check(
        paths or (folder_of(settle({}, os.environ).settings),), strict=strict, against=against
    )
    form = report.as_json if json else report.as_github if github else report.as_text
    if text := form(checked.findings, checked.contents):
        print(text)
    if not (json or github):
        print(checked.conclusion)
    return 1 if checked.faults or (strict and checked.findings) else 0


def usage(
    report: Literal["top", "errors", "slow"], *, audit: Path | None = None, json: bool = False
) -> int:
    """Say how widgets are used: which most, which fail, which are slow.

    Args:
        report: What to say.
        audit: The audit file; by default the one that `serve` would write.
        json: Print a JSON array.
    """
    from widgetd.mcp import audit_report as used

    path = audit or settle({}, os.environ).settings.audit
    if path is None:
        raise ConfigError("W0002", "no audit file is named", "name one with --audit")
    try:
        rows = used.REPORTS[report](used.read_calls(path))
    except OSError as error:
        problem = f"the audit file {path} cannot be read ({error.strerror})"
        raise ConfigError("W0006", problem, "name another with --audit", exit_code=3) from None
    if json:
        print_json(rows)
    elif rows:
        print(used.table(rows))
    return 0


def codes() -> int:
    """Print every code by which widgetd says no, with what it means."""
    from widgetd.checks.report import codes_as_markdown

    print(codes_as_markdown())
    return 0
