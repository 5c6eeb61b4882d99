"""What a queue of actions takes, and how it says no: the same in every backend."""

from __future__ import annotations

from hashlib import blake2b

import orjson

from widgetd.errors import CallError
from widgetd.store.values import Bounds

KEYS_PER_ACTION = 16
"""How many idempotency keys are remembered for each place in a queue."""


def encoded_payload(payload: object, bounds: Bounds) -> bytes:
    """The payload as JSON.

    Raises:
        CallError: It is too large (W2403).
    """
    encoded = orjson.dumps(payload)
    if len(encoded) > bounds.payload_bytes:
        raise CallError(
            "W2403",
            f"expected at most {bounds.payload_bytes} bytes of JSON, got {len(encoded)}",
            path="payload",
        )
    return encoded


def key_digest(idempotency_key: str) -> str:
    """Stands for a key of any length."""
    return blake2b(idempotency_key.encode(), digest_size=16).hexdigest()


def queue_full(unread: int) -> CallError:
    """There is no room for an action (W2402) until somebody reads."""
    hint = "try again when await_widget_action has read them"
    return CallError(
        "W2402",
        f"{unread} actions of this render are unread; {hint}",
        recoverable=True,
        suggestions=(hint,),
    )


def ending() -> CallError:
    """Whoever would keep an action ends, and nobody else would have it (W2405)."""
    hint = "try again with the same idempotency_key"
    return CallError(
        "W2405",
        f"this process ends, and would take the action with it; {hint}",
        recoverable=True,
        suggestions=(hint,),
    )


def queues_full(queues: int) -> CallError:
    """There is no room for another render's actions (W2402) until somebody reads."""
    hint = "try again when await_widget_action has read some"
    return CallError(
        "W2402",
        f"{queues} renders have unread actions; {hint}",
        recoverable=True,
        suggestions=(hint,),
    )
