"""A store on a server, put together from its parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson

from widgetd.store.cache import ShelvedAnswers, ShelvedRenders
from widgetd.store.contract import Store
from widgetd.store.local.actions import LocalActions
from widgetd.store.local.cache import LocalShelf
from widgetd.store.local.limits import LocalLimits
from widgetd.store.shared.actions import AWAY, SharedActions
from widgetd.store.shared.cache import Form, SharedShelf
from widgetd.store.shared.connection import Link
from widgetd.store.shared.limits import SharedLimits
from widgetd.store.values import Bounds, Clock, StoredRender
from widgetd.store.waiters import Readers

FORMAT = "1"
"""Part of every key, so that replicas of two releases that write differently do not meet."""


def _encode(value: StoredRender | Mapping[str, Any]) -> bytes:
    return orjson.dumps(value, default=dict)


def _object(sent: bytes) -> dict[str, Any]:
    said = orjson.loads(sent)
    if not isinstance(said, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - it is the value that is wrong
    return said


_PARTS: Mapping[str, Collection[type]] = {
    "id": {str},
    "tool": {str},
    "tree": {dict},
    "created": {float, int},
    "size_bytes": {int},
    "secret": {bool},
    "text": {str},
    "facts": {dict},
    "ui": {dict},
    "mark": {dict},
}
"""What a render is made of; another release may know of more."""


def _render(sent: bytes) -> StoredRender:
    said = _object(sent)
    for name, kinds in _PARTS.items():
        if type(said.get(name)) not in kinds:
            raise ValueError(f"expected another {name}")
    return StoredRender(**{name: said[name] for name in _PARTS})


RENDER: Form[StoredRender] = Form(encode=_encode, decode=_render)
ANSWER: Form[Mapping[str, Any]] = Form(encode=_encode, decode=_object)


@asynccontextmanager
async def open_shared(
    url: str, *, bounds: Bounds, clock: Clock, prefix: str
) -> AsyncIterator[Store]:
    """The store on the server at `url`, linked to it for as long as the block runs.

    Raises:
        ConfigError: The URL cannot be used (W0002).
    """
    readers = Readers()
    link = Link(url, prefix=f"{prefix}:{FORMAT}", readers=readers)
    renders = _renders(link, bounds, clock)
    kept = ShelvedRenders(renders)
    alone = LocalActions(kept, readers, bounds=bounds, clock=clock, origin=AWAY)
    actions = SharedActions(
        link, alone, renders=renders, readers=readers, bounds=bounds, clock=clock
    )
    async with link.kept(actions.hand_over):
        yield Store(
            renders=kept,
            actions=actions,
            idempotency=ShelvedAnswers(_answers(link, bounds, clock)),
            limits=SharedLimits(
                link, LocalLimits(bounds=bounds, clock=clock), bounds=bounds, clock=clock
            ),
            mode=lambda: "shared" if link.up else "degraded",
            skipped=lambda: link.skipped,
        )


def _renders(link: Link, bounds: Bounds, clock: Clock) -> SharedShelf[StoredRender]:
    near = LocalShelf[StoredRender](
        most=bounds.renders,
        most_bytes=bounds.render_bytes,
        ttl_s=bounds.render_ttl_s,
        clock=clock,
    )
    return SharedShelf(link, near, name="renders", form=RENDER)


def _answers(link: Link, bounds: Bounds, clock: Clock) -> SharedShelf[Mapping[str, Any]]:
    near = LocalShelf[Mapping[str, Any]](
        most=bounds.answers,
        most_bytes=bounds.answer_bytes,
        ttl_s=bounds.answer_ttl_s,
        clock=clock,
    )
    return SharedShelf(link, near, name="answers", form=ANSWER)
