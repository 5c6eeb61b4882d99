"""Authentication over HTTP: a token from a file, a token made at the start, or a JWT.

    # name   token                     scopes and, if need be, some widgets only
    ada      eyVdWPQGMuiYdYtkcE2wLA    widgets:read widgets:call
    kiosk    0oV2MPF0ZMnVUbL9fJSpJg    widgets:read widgets:call include=travel

A name may have several lines in the file: issue a new token before you revoke the old. FastMCP
verifies the token of every request here, so removing a line takes effect at once. Only digests of
tokens are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from fastmcp.server.auth import AccessToken, RemoteAuthProvider, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url
from pydantic import AnyHttpUrl, ConfigDict

from widgetd.base.errors import ConfigError
from widgetd.base.logs import get_logger
from widgetd.base.redaction import conceal, conceal_temporarily
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import nearest
from widgetd.server.access.claims import principal_name, selected_labels
from widgetd.server.access.principal import CALL, ELEVATED, READ, SCOPES, Principal
from widgetd.server.catalog.snapshot import Selection

if TYPE_CHECKING:
    from fastmcp.server.auth.providers.jwt import JWTVerifier

Otherwise = TypeVar("Otherwise", Principal, None)

Reason = Literal["no_token", "unknown_token", "no_scope"]

Revoked = Callable[[frozenset[Principal]], None]
"""Called with the principals whose tokens were revoked or changed."""

USUAL = (READ, CALL)
"""The scopes that a host requests first."""

SHORTEST = 16
"""Characters of a token. Fewer can be guessed."""

DEFAULT_SCOPES = frozenset({READ, CALL})
"""The scopes of a token whose line names none."""

_log = get_logger()


_REFUSALS: Mapping[Reason, tuple[int, str, str]] = {
    "no_token": (401, "", "a token is needed; send it as 'Authorization: Bearer TOKEN'"),
    "unknown_token": (
        401,
        "invalid_token",
        "this token is not known here, or has ended; log in again, or ask for another",
    ),
    "no_scope": (403, "insufficient_scope", "this token lacks a scope; log in again with it"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """The issuer of accepted JWTs.

    Attributes:
        jwks: The URL of its keys.
        issuer: The required `iss`.
        audience: The required `aud`.
    """

    jwks: str
    issuer: str
    audience: str
    algorithm: str = "RS256"


class Bearer(AccessToken):
    """A verified token with its principal."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    principal: Principal


def build_refusal_counter() -> Counter[Reason]:
    return Counter(dict.fromkeys(_REFUSALS, 0))


class Access(TokenVerifier):
    """Verifies tokens and returns their principals.

    Attributes:
        refused: The number of refused requests, by reason.

    Raises:
        ConfigError: The file is invalid.
    """

    def __init__(self, *, file: Path | None, start_token: str, issuer: Issuer | None) -> None:
        super().__init__()
        self._file = file
        conceal(start_token)
        self._fixed = (
            (Principal(name="made-at-start", proof=digest(start_token)),) if start_token else ()
        )
        self._grants = self._fixed + (read_grants(file) if file else ())
        self._jwt: JWTVerifier | None = None
        if issuer is not None:
            # Imports cryptography. Most daemons accept no JWT.
            from fastmcp.server.auth.providers.jwt import JWTVerifier  # noqa: PLC0415

            try:
                self._jwt = JWTVerifier(
                    jwks_uri=issuer.jwks,
                    issuer=issuer.issuer,
                    audience=issuer.audience,
                    algorithm=issuer.algorithm,
                )
            except ValueError as error:
                problem = f"JWTs cannot be checked ({error})"
                raise ConfigError("W0002", problem, "mend --jwt-*") from None
        self.refused = build_refusal_counter()
        self._issuer = "" if issuer is None else issuer.issuer
        self._metadata = ""
        self._delegated: list[Principal] = []
        self._watching: list[Revoked] = []

    def watch(self, revoked: Revoked) -> None:
        self._watching.append(revoked)

    def grants(self, proof: bytes) -> bool:
        """Return whether the digest of a token from the file or the start begins with `proof`."""
        return any(principal.proof.startswith(proof) for principal in self._grants)

    def reread(self) -> None:
        if self._file is None:
            return
        before = self._grants
        try:
            self._grants = self._fixed + read_grants(self._file)
        except ConfigError as error:
            _log.warning("tokens.refused", problem=error.problem, advice=error.advice)
            return
        _log.info("tokens.loaded", tokens=len(self._grants))
        removed = frozenset(before).difference(self._grants)
        for revoked in self._watching if removed else ():
            revoked(removed)

    def set_base_url(self, base_url: str) -> None:
        self.base_url = AnyHttpUrl(base_url)

    def get_routes(self, mcp_path: str | None = None) -> list[Any]:
        if not self._issuer or self.base_url is None:
            return []
        provider = RemoteAuthProvider(
            self,
            # Verbatim: clients compare it as text, and pydantic's URL would add a slash.
            cast("list[AnyHttpUrl]", [self._issuer]),
            base_url=self.base_url,
            scopes_supported=[*USUAL, ELEVATED],
            resource_name="widgetd",
        )
        endpoint = AnyHttpUrl(f"{str(self.base_url).rstrip('/')}{mcp_path}")
        self._metadata = str(build_resource_metadata_url(endpoint))
        return list(provider.get_routes(mcp_path))

    def refuse(self, reason: Reason, scopes: Collection[str] = USUAL) -> tuple[int, str, str]:
        """Count a refusal and return its status, `WWW-Authenticate` challenge and sentence.

        With an issuer, the challenge names this resource's metadata.
        """
        self.refused[reason] += 1
        status, error, sentence = _REFUSALS[reason]
        parameters = {"realm": "widgetd"}
        if error:
            parameters |= {"error": error, "error_description": sentence}
        if self._metadata:
            parameters |= {"scope": " ".join(scopes), "resource_metadata": self._metadata}
        listed = ", ".join(f'{key}="{text}"' for key, text in parameters.items())
        return status, f"Bearer {listed}", sentence

    @contextmanager
    def delegated_token(self, principal: Principal, more: frozenset[str]) -> Iterator[str]:
        """Issue a token that may act for `principal` while the block runs.

        It grants the scopes of `Principal.delegate`.
        """
        token = SYSTEM.numbers.token_urlsafe(24)
        delegate = principal.delegate(digest(token), more)
        self._delegated.append(delegate)
        try:
            with conceal_temporarily(token):
                yield token
        finally:
            self._delegated.remove(delegate)

    async def verify_token(self, token: str) -> Bearer | None:
        principal = find_principal((*self._grants, *self._delegated), token)
        if principal is not None:
            scopes = sorted(principal.scopes)
            return Bearer(token="", client_id=principal.name, scopes=scopes, principal=principal)
        try:
            proven = None if self._jwt is None else await self._jwt.verify_token(token)
        except OverflowError:  # an infinite `exp`, which fastmcp 4 converts to an integer
            return None
        if proven is None:
            return None
        name = principal_name(proven.claims, SYSTEM.clock.wall_s())
        include = selected_labels(proven.claims, "widgets_include")
        exclude = selected_labels(proven.claims, "widgets_exclude")
        if name is None or include is None or exclude is None:
            return None
        principal = Principal(
            name=name,
            scopes=frozenset(proven.scopes) & SCOPES,
            selection=Selection(include=include, exclude=exclude),
            proof=digest(proven.token),
            until=proven.expires_at,
        )
        return Bearer(
            token=proven.token,
            client_id=principal.name,
            scopes=proven.scopes,
            expires_at=proven.expires_at,
            principal=principal,
        )


def principal_of(user: Any, otherwise: Otherwise) -> Principal | Otherwise:
    token = getattr(user, "access_token", None)
    return token.principal if isinstance(token, Bearer) else otherwise


def steps_up(user: object) -> bool:
    token = getattr(user, "access_token", None)
    if not isinstance(token, Bearer):
        return False
    # A token from the file has no text here, and no server that could add scopes.
    return bool(token.token) and not token.principal.scopes >= DEFAULT_SCOPES


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def digest(token: str) -> bytes:
    # Comparing digests reveals neither the text of a token nor its length.
    return sha256(token.encode()).digest()


def find_principal(granted: tuple[Principal, ...], token: str) -> Principal | None:
    wanted, match = digest(token), None
    # No early return: the time must not reveal the position of the token.
    for principal in granted:
        if compare_digest(principal.proof, wanted):
            match = principal
    return match


def read_grants(path: Path) -> tuple[Principal, ...]:
    """Read the token file and return a principal per token.

    Raises:
        ConfigError: It cannot be read (W0006), or a line of it cannot be used (W0010).
    """
    try:
        # A pipe would be empty at the next reread.
        is_file = S_ISREG(path.stat().st_mode)
        text = path.read_text(encoding="utf-8") if is_file else ""
    except (OSError, UnicodeDecodeError) as error:
        problem = f"the token file {path} cannot be read ({error})"
        raise ConfigError("W0006", problem, "name another, or mend it", exit_code=3) from None
    if not is_file:
        problem = f"the token file {path} cannot be read again (it is no regular file)"
        raise ConfigError("W0006", problem, "write the tokens into a file", exit_code=3)
    grants = tuple(
        _grant(number, words)
        for number, line in enumerate(text.splitlines(), 1)
        if (words := line.split()) and not words[0].startswith("#")
    )
    if not grants:
        raise ConfigError("W0010", f"the token file {path} grants nothing", "write a line")
    return grants


def _grant(number: int, words: list[str]) -> Principal:
    def unusable(problem: str, advice: str) -> ConfigError:
        return ConfigError("W0010", f"line {number} of the token file {problem}", advice)

    if len(words) == 1:
        raise unusable("has no token", "write NAME TOKEN SCOPES")
    name, token, *grants = words
    if len(token) < SHORTEST:
        raise unusable("has a token that can be guessed", f"make it {SHORTEST} long")
    scopes: set[str] = set()
    chosen: dict[str, set[str]] = {"include": set(), "exclude": set()}
    for word in grants:
        kind, selects, marks = word.partition("=")
        if not selects and word not in SCOPES:
            near = nearest(word, tuple(sorted(SCOPES)))
            advice = f"did you mean {near}?" if near else f"write one of {' '.join(sorted(SCOPES))}"
            raise unusable(f"grants {word}, which is no scope", advice)
        if not selects:
            scopes.add(word)
        elif kind in chosen and marks:
            chosen[kind].update(marks.split(","))
        else:
            advice = "write include=TAG,NAME or exclude=TAG,NAME"
            raise unusable(f"says {kind}=, which means nothing", advice)
    return Principal(
        name=name,
        scopes=frozenset(scopes) or DEFAULT_SCOPES,
        selection=Selection(
            include=frozenset(chosen["include"]), exclude=frozenset(chosen["exclude"])
        ),
        proof=digest(token),
    )
