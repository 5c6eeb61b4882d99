"""Calls that wait for confirmation by a person, each under a token for one call.

    ask(call) -> token -> the person agrees -> take(token) -> the call, once

The call itself is stored, so the person sees exactly what will run. No press can send other
arguments with the same token. The calls of all replicas are in the store of idempotent answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from widgetd.server.store.cache import Idempotency


async def ask(answers: Idempotency, call: Mapping[str, Any], *, owner: str) -> str:
    """Store `call`, JSON, for `owner` to confirm. Return its unguessable token.

    Raises:
        CallError: The shared server is away, so no other replica could take it (W5017).
    """
    token = f"c_{answers.numbers.token_urlsafe(16)}"
    await answers.agree(_key("asked", token, owner), call, owner=owner)
    return token


async def take(answers: Idempotency, token: str, *, owner: str) -> Mapping[str, Any] | None:
    """Return the call under `token` to the first caller, and None to all others.

    Also None: the call is another owner's, or it has expired.

    Raises:
        CallError: The shared server is away, so another replica may take it, too (W5017).
    """
    call = await answers.recall(_key("asked", token, owner))
    if call is None:
        return None
    # Under another key, because the store keeps the first answer and deletes nothing.
    is_first = await answers.claim(_key("taken", token, owner), {}, owner=owner)
    return call if is_first else None


def _key(kind: str, token: str, owner: str) -> str:
    return f"confirmation {kind} {owner} {token}"
