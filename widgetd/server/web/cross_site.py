"""Refuse requests of a browser on behalf of other origins' pages.

A page of any site, and of a sister domain or another port of this site, can have its visitor's
browser load a picture from a daemon on the visitor's machine. The daemon would draw it, and the
page learn from size and status which tools exist. Browsers name the site in `Sec-Fetch-Site`.
Requests without the header come from programs and old browsers and pass.

Source: W3C Fetch Metadata Request Headers, section 2, and Fetch, section 3.7 (CORP).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from starlette.responses import PlainTextResponse
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from widgetd.server.web.page import PageRoute

_CORP = (b"cross-origin-resource-policy", b"same-origin")
_FOREIGN = frozenset({(b"sec-fetch-site", b"cross-site"), (b"sec-fetch-site", b"same-site")})
_REFUSED = PlainTextResponse(
    "another origin's page may not request this; --cors-origin names origins that may\n", 403
)


class CrossSiteGuard:
    """An ASGI layer with a 403 for requests of other origins' pages, unless allowed.

    Args:
        app: The app for all others.
        routes: Pages. Their rows say which may be requested from other sites, or linked to.
        origins: Origins free to request everything. `*` stands for any.
    """

    def __init__(
        self, app: ASGIApp, *, routes: Iterable[PageRoute], origins: Collection[str] = ()
    ) -> None:
        rows = [(route, route.page.cross_site) for route in routes]
        self.app = app
        self._allowed = {route.path for route, rule in rows if rule == "allow"}
        self._linked = [route for route, rule in rows if rule == "navigate"]
        self._origins = {origin.encode() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        if scope["type"] != "http" or path in self._allowed or path.startswith("/.well-known/"):
            await self.app(scope, receive, send)
            return

        async def with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), _CORP]
            await send(message)

        is_foreign = not _FOREIGN.isdisjoint(map(tuple, scope["headers"]))
        answer = _REFUSED if is_foreign and not self._admits(scope) else self.app
        await answer(scope, receive, with_policy)

    def _admits(self, scope: Scope) -> bool:
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is not None and (origin in self._origins or b"*" in self._origins):
            return True
        # A frame is a navigation, too, but of a document inside the other site.
        navigates = (headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest")) == (
            b"navigate",
            b"document",
        )
        return (
            navigates
            and scope["method"] == "GET"
            and any(route.matches(scope)[0] is Match.FULL for route in self._linked)
        )
