"""Hold what a sample renders to against the preview that Studio made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from widgetd.errors import Finding, WidgetError
from widgetd.schema.describe import shown
from widgetd.schema.json_values import pointer
from widgetd.widget.components import tree

_MOST = 3

_ABSENT = object()


def preview_differences(
    rendered: Mapping[str, Any], preview: Mapping[str, Any]
) -> Iterator[Finding]:
    """One finding that says how the two differ; none where they do not (W1323)."""
    try:
        expected = tree(orjson.dumps(preview))
    except WidgetError as error:
        problem = f"the preview is no widget: {error.finding.problem}"
        yield Finding(
            code="W1323", at="/outputJsonPreview", problem=problem, advice="export the widget again"
        )
        return
    found = list(differences(rendered, expected))
    if found:
        told = [
            f"{at or '/'} is {_said(got)}, not {_said(want)}" for at, got, want in found[:_MOST]
        ]
        more = f", and {len(found) - _MOST} more" if len(found) > _MOST else ""
        yield Finding(
            code="W1323",
            at="/outputJsonPreview",
            problem=f"the sample in encodedWidget renders otherwise: {'; '.join(told)}{more}",
            advice="export the widget again, or correct the template",
        )


def differences(got: Any, want: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two JSON values differ: pointer, what is there, what was wanted."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in dict.fromkeys([*want, *got]):
            inner = at + pointer(key)
            yield from differences(got.get(key, _ABSENT), want.get(key, _ABSENT), inner)
    elif isinstance(got, list) and isinstance(want, list):
        for index in range(max(len(got), len(want))):
            yield from differences(_item(got, index), _item(want, index), f"{at}/{index}")
    elif got is not want and (got != want or isinstance(got, bool) is not isinstance(want, bool)):
        yield at, got, want


def _item(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else _ABSENT


def _said(value: Any) -> str:
    return "absent" if value is _ABSENT else shown(value)
