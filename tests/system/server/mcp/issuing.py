"""A small authorization server: metadata, registration, PKCE, resources.

It approves every request, because no user is there to ask; everything else follows the
specifications.

Source: RFC 8414 (metadata), RFC 7591 (registration), RFC 7636 (PKCE), RFC 8707 (resources).
"""

from __future__ import annotations

import json
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import anyio
from anyio.abc import SocketAttribute, SocketStream
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.support.patience import PATIENCE_S


@dataclass
class AuthorizationServer:
    """Clients, codes and tokens of the server.

    Attributes:
        url: Where it is; the `iss` of its tokens.
        scopes: What it grants of what is asked for; None for everything.
        granted: The claims of each token, in order.
    """

    url: str = ""
    scopes: frozenset[str] | None = None
    granted: list[dict[str, Any]] = field(default_factory=list)
    _key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "1"}))
    _clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def answer(self, method: str, target: str, body: str) -> tuple[int, dict[str, str], str]:
        """Return the status, headers and body of one response."""
        parts = urlsplit(target)
        fields = dict(parse_qsl(parts.query if method == "GET" else body))
        match parts.path:
            case "/.well-known/oauth-authorization-server":
                return 200, {}, json.dumps(self._metadata())
            case "/keys":
                return 200, {}, json.dumps({"keys": [self._key.as_dict(private=False)]})
            case "/register":
                client = {**json.loads(body), "client_id": secrets.token_hex(8)}
                self._clients[client["client_id"]] = client
                return 201, {}, json.dumps(client)
            case "/authorize":
                return self._authorize(fields)
            case "/token":
                return self._token(fields)
        return 404, {}, "{}"

    def sign(self, claims: dict[str, Any]) -> str:
        """Return a JWT of these claims."""
        return jwt.encode({"alg": "RS256", "kid": "1"}, claims, self._key)

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "token_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
        }

    def _authorize(self, query: dict[str, str]) -> tuple[int, dict[str, str], str]:
        client = self._clients.get(query.get("client_id", ""), {})
        if query.get("redirect_uri") not in client.get("redirect_uris", []):
            return 400, {}, json.dumps({"error": "invalid_request"})
        if query.get("code_challenge_method") != "S256" or "resource" not in query:
            return 400, {}, json.dumps({"error": "invalid_request"})
        code = secrets.token_hex(8)
        self._codes[code] = query
        answer = urlencode({"code": code, "state": query.get("state", "")})
        return 302, {"location": f"{query['redirect_uri']}?{answer}"}, ""

    def _token(self, fields: dict[str, str]) -> tuple[int, dict[str, str], str]:
        authorization = self._codes.pop(fields.get("code", ""), {})
        proof = sha256(fields.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(proof).rstrip(b"=").decode()
        if (
            challenge != authorization.get("code_challenge")
            or fields.get("resource") != authorization["resource"]
        ):
            return 400, {}, json.dumps({"error": "invalid_grant"})
        wanted = frozenset(authorization.get("scope", "").split())
        scope = " ".join(sorted(wanted if self.scopes is None else wanted & self.scopes))
        claims = {
            "iss": self.url,
            "sub": "ada",
            "aud": fields["resource"],
            "scope": scope,
            "exp": int(time.time()) + 600,
            "client_id": authorization["client_id"],
        }
        self.granted.append(claims)
        body = {
            "access_token": self.sign(claims),
            "token_type": "Bearer",
            "expires_in": 600,
            "scope": scope,
        }
        return 200, {}, json.dumps(body)


def login_code(location: str) -> tuple[str, str]:
    """Return the code and the state in a redirection's address."""
    query = parse_qs(urlsplit(location).query)
    return query["code"][0], query["state"][0]


@asynccontextmanager
async def authorizing() -> AsyncIterator[AuthorizationServer]:
    """Run an authorization server on its own port until the block ends."""
    server = AuthorizationServer()

    async def serve(stream: SocketStream) -> None:
        async with stream:
            received = b""
            with anyio.fail_after(PATIENCE_S):
                while b"\r\n\r\n" not in received:
                    received += await stream.receive()
                head, _, body = received.partition(b"\r\n\r\n")
                lines = head.decode().split("\r\n")
                length = sum(
                    int(line.partition(":")[2])
                    for line in lines
                    if line.lower().startswith("content-length:")
                )
                while len(body) < length:
                    body += await stream.receive()
            method, target, _ = lines[0].split()
            status, headers, content = server.answer(method, target, body.decode())
            response_headers = {
                "content-type": "application/json",
                "connection": "close",
                **headers,
            }
            response_headers["content-length"] = str(len(content))
            text = "".join(f"{name}: {value}\r\n" for name, value in response_headers.items())
            await stream.send(f"HTTP/1.1 {status} -\r\n{text}\r\n{content}".encode())

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        server.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        tasks.start_soon(listener.serve, serve)
        yield server
        tasks.cancel_scope.cancel()
