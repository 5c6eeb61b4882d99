"""Calls for front-end tests: always valid, with the same bytes for the same seed."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Literal

from widgetd.base.errors import CallError
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Caller, Profile
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.snapshot import Entry, Snapshot
from widgetd.server.render.calls import Renderer
from widgetd.server.render.result import Policy, profile_for, tool_result
from widgetd.server.store.factory import local_store

MockState = Literal["sample", "empty", "one", "many", "long"]


def mocks(
    widget: Widget,
    *,
    state: MockState = "sample",
    seed: int = 0,
    count: int = 1,
    profile: Profile = "auto",
    snapshot: Snapshot | None = None,
) -> list[dict[str, Any]]:
    """Build calls of `widget` with their results, as they appear on the wire.

    Args:
        widget: The widget to call.
        state: The kind of arguments.
        seed: The same seed gives the same calls.
        count: The number of calls, from this seed on.
        profile: The profile of the results.
        snapshot: The snapshot of the widget. The results name its generation. By default a snapshot
            with nothing else.

    Returns:
        `[{"arguments": {...}, "result": {"content": [...], "structuredContent": {...}, ...}}]`.

    Raises:
        CallError: The schema admits nothing in this state, or the template fails on it.
    """
    if snapshot is None:
        path = widget.definition.path
        entry = Entry(path=path, key=widget.key, widget=widget)
        snapshot = Snapshot.empty().with_changes({path: entry})
    policy = Policy(profile=profile)
    calls = []
    for number in range(seed, seed + count):
        arguments = widget.schema.sample(state="full" if state == "sample" else state, seed=number)
        if arguments is None:
            raise CallError("W2002", f"the schema of {widget.tool} admits nothing for '{state}'")
        result = answer(widget, snapshot, arguments, policy=policy, name=f"{state} {number}")
        calls.append({"arguments": arguments, "result": result})
    return calls


def answer(
    widget: Widget, snapshot: Snapshot, arguments: Mapping[str, Any], *, policy: Policy, name: str
) -> dict[str, Any]:
    """Build the result of a call on the wire, the same in every run.

    `name` and the widget decide the render's id.

    Raises:
        CallError: The arguments do not fit, or the template fails on them.
    """
    digest = blake2b(f"{widget.key} {name}".encode(), digest_size=12).digest()
    named = f"r_{urlsafe_b64encode(digest).decode()}"
    rendering = Renderer(
        Registry(snapshot), policy, local_store(), clock=lambda: 0.0, new_id=lambda: named
    )
    render = rendering.compute_now(widget, arguments, snapshot.generation)
    still = replace(render, duration_ms=0.0)
    profile = profile_for(policy, widget, Caller(snapshot=snapshot))
    return tool_result(still, profile, policy=policy, palette=snapshot.theme.json).values()
