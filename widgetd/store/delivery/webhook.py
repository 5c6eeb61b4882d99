"""Tell a backend of an action: signed, and again until it answers or it is hopeless.

The only door to httpx2.

Source: Standard Webhooks 1.0.0, "Webhook headers" and "Signature scheme".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import anyio
import httpx2

from widgetd.errors import ConfigError
from widgetd.logs import get_logger
from widgetd.store.contract import Clock
from widgetd.store.delivery.addresses import PrivateAddressError, address_of

BACKOFF_S = (1.0, 5.0, 30.0, 120.0, 600.0)
"""After each attempt that failed; a receiver that was restarted is there within minutes."""

TIMEOUT_S = 10.0
"""How long one attempt may take, from finding the address to the answer's status."""

AT_ONCE = 16
"""Requests at a time, of those that are new; and as many of those that are sent again."""

SHORTEST_SECRET = 24
_MAY_PASS = frozenset({408, 425, 429})

_log = get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where actions are told to.

    Attributes:
        allow_private: Whether the receiver may be on this machine or network.
        backoff_s: How long to wait after each attempt that failed; then there is one more.
        timeout_s: How long each attempt may take.
    """

    url: httpx2.URL
    secret: bytes
    allow_private: bool = False
    backoff_s: tuple[float, ...] = BACKOFF_S
    timeout_s: float = TIMEOUT_S


def webhook(url: str, secret: str, *, allow_private: bool) -> Webhook:
    """The webhook that an operator set; the secret is `whsec_` and base64, or any text as it is.

    Raises:
        ConfigError: The URL or the secret cannot be used (W0002).
    """
    schemes = ("https", "http") if allow_private else ("https",)
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        parsed = httpx2.URL("")
    if parsed.scheme not in schemes or not parsed.host:
        raise ConfigError(
            "W0002",
            "the webhook's address cannot be used",
            f"write an address that begins with {' or '.join(f'{one}://' for one in schemes)}",
        )
    if len(secret) < SHORTEST_SECRET:
        raise ConfigError(
            "W0002",
            f"the webhook's secret is shorter than {SHORTEST_SECRET} characters",
            "set WIDGETD_WEBHOOK_SECRET to a long random text",
        )
    key = secret.encode()
    if secret.startswith("whsec_"):
        with suppress(binascii.Error):
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    return Webhook(url=parsed, secret=key, allow_private=allow_private)


def signed(hook: Webhook, message_id: str, body: bytes, *, at: int) -> Mapping[str, str]:
    """The headers that prove who sent `body`, and when, in seconds since the epoch."""
    content = f"{message_id}.{at}.".encode() + body
    signature = base64.b64encode(hmac.new(hook.secret, content, hashlib.sha256).digest())
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{signature.decode()}",
    }


class Client:
    """Makes the requests, so many at once; no proxy, for it would resolve names by itself.

    What is sent again waits for those that are, so that it never stops what is new.
    """

    def __init__(self) -> None:
        # A deadline for each step would let a receiver that answers byte by byte go on for ever.
        self._http = httpx2.AsyncClient(timeout=None, follow_redirects=False, trust_env=False)
        self._first = anyio.Semaphore(AT_ONCE)
        self._again = anyio.Semaphore(AT_ONCE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._http.aclose()

    async def deliver(self, hook: Webhook, message_id: str, body: bytes, *, clock: Clock) -> bool:
        """Send `body`, JSON, until it is taken; whether it was.

        By `message_id` the receiver knows what it was sent before.
        """
        problem, turn = "", self._first
        for pause_s in (*hook.backoff_s, None):
            try:
                async with turn:
                    headers = signed(hook, message_id, body, at=int(clock()))
                    with anyio.fail_after(hook.timeout_s):
                        status = await self._post(hook, headers, body)
            except PrivateAddressError as error:
                problem = str(error)
                break
            except TimeoutError:
                problem = f"the receiver did not answer within {hook.timeout_s:g} s"
            except (OSError, httpx2.HTTPError) as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if 200 <= status < 300:
                    return True
                problem = f"the receiver answered {status}"
                if status < 500 and status not in _MAY_PASS:
                    break
            turn = self._again
            if pause_s is not None:
                await anyio.sleep(pause_s)
        _log.warning("webhook.failed", id=message_id, problem=problem)
        return False

    async def _post(self, hook: Webhook, headers: Mapping[str, str], body: bytes) -> int:
        """One attempt, to the address that was looked at; of the answer only the status is read."""
        url = hook.url
        port = url.port or (443 if url.scheme == "https" else 80)
        address = await address_of(url.host, port, allow_private=hook.allow_private)
        async with self._http.stream(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers={**headers, "host": url.netloc.decode()},
            extensions={"sni_hostname": url.host},
        ) as answer:
            return answer.status_code
