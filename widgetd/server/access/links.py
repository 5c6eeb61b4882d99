"""Addresses at which a person sees a single render in a browser: `/see/ID`.

    http://127.0.0.1:8787/see/r_9aXw...                                 this machine, no tokens
    https://widgets.example.com/see/r_9aXw...#MAC.PRINCIPAL.NONCE       anything else

The signature is in the fragment, so it reaches no server, proxy log or `Referer`. It is an HMAC
with a key of the render's own. The store keeps the key with the render, so every replica can verify
the signature until the render ends.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import TYPE_CHECKING

from widgetd.base.system import SYSTEM
from widgetd.server.access.principal import CALL, ELEVATED, READ, Principal
from widgetd.server.catalog.snapshot import Selection

if TYPE_CHECKING:
    from widgetd.server.access.auth import Access
    from widgetd.server.store.contract import StoredRender

SEE_PATH = "/see"

_MAC_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Writes the addresses of renders, and verifies their signatures.

    Attributes:
        origin: Returns the origin of the pages. Empty where no browser could reach them.
        anonymous: The principal of requests without a token.
        signed: Whether an address needs a signature. On an open loopback listener the id is enough,
            because every local process may call `/mcp` as well.
        access: Tells revoked tokens from valid tokens. None without tokens.
    """

    origin: Callable[[], str]
    anonymous: Principal
    signed: bool = True
    access: Access | None = None

    def address(self, render: StoredRender, principal: Principal) -> str:
        origin = self.origin() if render.key else ""
        if not origin:
            return ""
        address = f"{origin}{SEE_PATH}/{render.id}"
        if self.signed:
            # The nonce is last: chats leave a final `_` or `-` out of an address.
            claim = f"{self._describe(principal)}.{SYSTEM.numbers.token_hex(4)}"
            return f"{address}#{_sign(render, claim)}.{claim}"
        return address if address[-1].isalnum() else f"{address}#see"

    def principal_of(self, render: StoredRender, signature: str) -> Principal | None:
        """Return the principal for `render` by this signature, or None if it is invalid.

        It may read and call, but no more than the principal of the address.
        """
        if not self.signed:
            return self.anonymous.delegate()
        mac, _, claim = signature.partition(".")
        expected = _sign(render, claim)
        if not render.key or not compare_digest(mac.encode(), expected.encode()):
            return None
        described = claim.partition(".")[0]
        if not described:
            return self.anonymous.delegate()
        name, until, is_elevated, include, exclude, proof = json.loads(_decode(described))
        principal = Principal(
            name=name,
            scopes=frozenset({READ, CALL, ELEVATED} if is_elevated else {READ, CALL}),
            selection=Selection(include=frozenset(include), exclude=frozenset(exclude)),
            until=until,
        )
        is_revoked = proof and (self.access is None or not self.access.grants(bytes.fromhex(proof)))
        return (
            None if is_revoked or principal.remaining_s(SYSTEM.clock.wall_s()) <= 0 else principal
        )

    def _describe(self, principal: Principal) -> str:
        if principal.name == self.anonymous.name and not principal.proof:
            return ""
        proof = principal.proof[:6]
        selection = principal.selection
        described = [
            principal.name,
            principal.until,
            int(ELEVATED in principal.scopes),
            sorted(selection.include),
            sorted(selection.exclude),
            # A token of the file can be revoked before the render ends. A JWT has an end.
            proof.hex() if self.access is not None and self.access.grants(proof) else "",
        ]
        text = json.dumps(described, separators=(",", ":"), ensure_ascii=False)
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def nonce_of(signature: str) -> str:
    return signature.rpartition(".")[2]


def _sign(render: StoredRender, claim: str) -> str:
    message = f"{render.id} {claim}".encode()
    mac = hmac_digest(render.key.encode(), message, "sha256")[:_MAC_BYTES]
    return urlsafe_b64encode(mac).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
