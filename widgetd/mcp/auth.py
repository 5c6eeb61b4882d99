"""Prove who is calling over HTTP: by a token from a file, one made at the start, or a JWT.

fastmcp asks here for every request, so that what a reread file takes away is
gone at once. Nothing here remembers a token's text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import structlog
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier
from pydantic import ConfigDict

from widgetd.errors import ConfigError
from widgetd.mcp.principal import SCOPES, Principal
from widgetd.mcp.token_file import digest, find, read_grants

Gone = Callable[[frozenset[Principal]], None]
"""Told who may not come in any more, or not as they did."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """Who issues JWTs, and for whom they must be meant.

    Attributes:
        jwks: The URL of its keys.
        issuer: The `iss` of its tokens.
        audience: The `aud` of tokens that are meant for this daemon.
        algorithm: How they are signed.
    """

    jwks: str
    issuer: str
    audience: str
    algorithm: str = "RS256"


class Bearer(AccessToken):
    """A token that was found good, and whose it is."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    principal: Principal


class Access(TokenVerifier):
    """Finds out whose a token is.

    Args:
        file: Where tokens stand; None without one.
        made: A token that grants everything; empty without one.
        issuer: Who issues JWTs; None if nobody does.

    Raises:
        ConfigError: The file cannot be used.
    """

    def __init__(self, *, file: Path | None, made: str, issuer: Issuer | None) -> None:
        super().__init__()
        self._file = file
        self._made = (_grant_of_all(made),) if made else ()
        self._grants = self._made + (read_grants(file) if file else ())
        self._jwt = _jwt_verifier(issuer) if issuer else None
        self._watching: list[Gone] = []

    def watch(self, gone: Gone) -> None:
        """Tell `gone` whenever a reread takes something away."""
        self._watching.append(gone)

    def reread(self) -> None:
        """Read the file again; where it cannot be used, what was granted stays granted."""
        if self._file is None:
            return
        before = self._grants
        try:
            self._grants = self._made + read_grants(self._file)
        except ConfigError as error:
            _log.warning("tokens.refused", problem=error.problem, advice=error.advice)
            return
        _log.info("tokens.loaded", tokens=len(self._grants))
        taken = frozenset(before).difference(self._grants)
        for tell in self._watching if taken else ():
            tell(taken)

    async def verify_token(self, token: str) -> Bearer | None:
        """Whose `token` is; None if it is nobody's."""
        principal = find(self._grants, token)
        if principal is None and self._jwt is not None:
            proven = await self._jwt.verify_token(token)
            return None if proven is None else _bearer(_subject(proven), proven)
        if principal is None:
            return None
        scopes = sorted(principal.scopes)
        return _bearer(principal, AccessToken(token="", client_id=principal.name, scopes=scopes))


def _bearer(principal: Principal, token: AccessToken) -> Bearer:
    return Bearer(
        token=token.token,
        client_id=principal.name,
        scopes=token.scopes,
        expires_at=token.expires_at,
        principal=principal,
    )


def _subject(token: AccessToken) -> Principal:
    who = f"{token.claims.get('iss')}#{token.claims.get('sub') or token.client_id}"
    scopes = frozenset(token.scopes) & SCOPES
    return Principal(name=who, scopes=scopes, proof=digest(token.token), until=token.expires_at)


def _grant_of_all(token: str) -> Principal:
    return Principal(name="made-at-start", proof=digest(token))


def _jwt_verifier(issuer: Issuer) -> JWTVerifier:
    try:
        return JWTVerifier(
            jwks_uri=issuer.jwks,
            issuer=issuer.issuer,
            audience=issuer.audience,
            algorithm=issuer.algorithm,
        )
    except ValueError as error:
        raise ConfigError("W0002", f"JWTs cannot be checked ({error})", "mend --jwt-*") from None


def principal_of(user: Any, otherwise: Principal) -> Principal:
    """Who `user` is, as the HTTP layer found out; `otherwise` where it found nobody."""
    token = getattr(user, "access_token", None)
    return token.principal if isinstance(token, Bearer) else otherwise


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
