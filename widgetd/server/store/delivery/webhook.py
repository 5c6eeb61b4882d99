"""The webhook: signed requests, repeated until the receiver accepts or rejects them.

Source: Standard Webhooks 1.0.0, "Webhook headers" and "Signature scheme".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass

import anyio
import httpx2

from widgetd.base.errors import ConfigError
from widgetd.base.logs import get_logger
from widgetd.server.store.contract import Clock
from widgetd.server.store.delivery.addresses import PrivateAddressError, pin_address, tls_context
from widgetd.server.store.limits import LIMITS

_MAY_PASS = frozenset({408, 425, 429})

_log = get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A receiver of actions.

    Attributes:
        url: Its address.
        secret: The key of signatures.
        allow_private: Whether the receiver may be on this machine or network.
        backoff_s: Pauses after failed attempts. After the last pause there is a last attempt.
        timeout_s: Time for each attempt.
    """

    url: httpx2.URL
    secret: bytes
    allow_private: bool = False
    backoff_s: tuple[float, ...] = LIMITS.delivery_backoff_s
    timeout_s: float = LIMITS.delivery_s


def parse_webhook(url: str, secret: str, *, allow_private: bool) -> Webhook:
    """Return the webhook of an operator's settings. The secret is `whsec_` and base64, or text.

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
            f"write an address that begins with {' or '.join(f'{name}://' for name in schemes)}",
        )
    if len(secret) < LIMITS.secret_chars:
        raise ConfigError(
            "W0002",
            f"the webhook's secret is shorter than {LIMITS.secret_chars} characters",
            "set WIDGETD_WEBHOOK_SECRET to a long random text",
        )
    key = secret.encode()
    if secret.startswith("whsec_"):
        with suppress(binascii.Error):
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    return Webhook(url=parsed, secret=key, allow_private=allow_private)


def sign(hook: Webhook, message_id: str, body: bytes, *, at: int) -> Mapping[str, str]:
    """Return the headers with the signature of `body` at a time in seconds since the epoch."""
    content = f"{message_id}.{at}.".encode() + body
    signature = base64.b64encode(hmac.new(hook.secret, content, hashlib.sha256).digest())
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{signature.decode()}",
    }


class Client(httpx2.AsyncClient):
    """The HTTP client. It uses no proxy, because a proxy would resolve names by itself."""

    def __init__(self) -> None:
        # Not a deadline for each step: a receiver could answer byte by byte for ever.
        super().__init__(
            timeout=None, follow_redirects=False, trust_env=False, verify=tls_context()
        )
        # Repeated deliveries have slots of their own, so they never delay new deliveries.
        self._first = anyio.Semaphore(LIMITS.requests)
        self._again = anyio.Semaphore(LIMITS.requests)

    async def deliver(self, hook: Webhook, message_id: str, body: bytes, *, clock: Clock) -> bool:
        """Send `body`, JSON, until it is accepted or given up. Return whether it was accepted.

        The receiver recognizes repeated messages by `message_id`.
        """
        problem, turn = "", self._first
        for pause_s in (*hook.backoff_s, None):
            try:
                async with turn:
                    headers = sign(hook, message_id, body, at=int(clock()))
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
        request = self.build_request("POST", hook.url, content=body, headers=headers)
        await pin_address(request, allow_private=hook.allow_private)
        async with aclosing(await self.send(request, stream=True)) as answer:
            return answer.status_code
