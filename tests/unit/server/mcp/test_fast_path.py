"""The law of the fast path: it answers a request as the ordinary path does, or passes it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastmcp.resources.base import Resource
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.form import ARGUMENTS
from tests.unit.server.mcp.two_ways import (
    ADA,
    CHIEF,
    GUEST,
    HANDSHAKES,
    KIOSK,
    MODERN,
    Request,
    Ways,
    about,
    regular_fields,
    two_ways,
)
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.resources import Resources
from widgetd.server.render.result import Policy
from widgetd.server.store.contract import Bounds, StoredRender

EXAMPLES = 150
"""Requests of each property; the law was looked for in a hundred times as many."""

CURRENT = (MODERN, "2025-11-25", "2025-06-18")
"""The protocol versions that the fast path answers."""

NAMED = {"tools/call": "name", "resources/read": "uri"}

GOOD: Mapping[str, tuple[str, dict[str, Any]]] = {
    "a call": ("tools/call", {"name": "greeting", "arguments": {"who": "Ada"}}),
    "a call with other characters": (
        "tools/call",
        {"name": "greeting", "arguments": {"who": 'Zoë: 12:30 "at" \\ 3:00 \u2028 \U0001f600'}},
    ),
    "a call that is coerced": ("tools/call", {"name": "order", "arguments": {"order": 1}}),
    "a call with wrong arguments": ("tools/call", {"name": "greeting", "arguments": {"x": 1}}),
    "a call without arguments": ("tools/call", {"name": "greeting"}),
    "a call of a form": ("tools/call", {"name": "order", "arguments": ARGUMENTS}),
    "a call in a profile of its own": ("tools/call", {"name": "split", "arguments": {"who": "A"}}),
    "a call with a secret": ("tools/call", {"name": "hidden", "arguments": {"who": "Ada"}}),
    "a call by name": (
        "tools/call",
        {"name": "render_widget", "arguments": {"name": "greeting", "arguments": {"who": "A"}}},
    ),
    "a page that follows": (
        "tools/call",
        {"name": "follow_render", "arguments": {"render_id": "r_x", "after": 1, "timeout_s": 0}},
    ),
    "a search": ("tools/call", {"name": "search_widgets", "arguments": {"query": "greet"}}),
    "the list of tools": ("tools/list", {}),
    "the list of tools from a cursor on": ("tools/list", {"cursor": "hidden"}),
    "the list of resources": ("resources/list", {}),
    "a template": ("resources/read", {"uri": "widget://greeting/template"}),
    "a widget": ("resources/read", {"uri": "widget://greeting"}),
    "a page": ("resources/read", {"uri": "ui://widgetd/greeting.html"}),
}


def request(
    version: str,
    method: str,
    params: Mapping[str, Any],
    *,
    client: str = "a-program",
    meta: Mapping[str, Any] | None = None,
) -> Request:
    """Return a regular request, as a client of `version` makes it."""
    sent_meta = {**(envelope(version, client)), **(meta or {})}
    content = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params}}
    if sent_meta:
        content["params"] = {**params, "_meta": sent_meta}
    body = json.dumps(content).encode()
    fields = regular_fields(version, method, str(params.get(NAMED.get(method, ""), "")))
    length = ("content-length", str(len(body)))
    return Request(version=version, client=client, fields=(*fields, length), body=(body,))


def envelope(version: str, client: str) -> dict[str, Any]:
    """Return the envelope that a client of this version sends with every request."""
    if version != MODERN:
        return {}
    info, capabilities = about(client)
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": info,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }


def is_answered_fast(ways: Ways, request_sent: Request) -> bool:
    """Return whether the fast path answered; an answer must equal the ordinary one."""
    before = ways.fast.answered
    fast, around = ways.compare(request_sent)
    assert fast == around
    answered = ways.fast.answered > before
    if answered:
        assert ways.fast.reached == []
    else:
        came = [one for one in ways.fast.reached if one["type"] == "http.request"]
        chunks = list(request_sent.body)
        assert [one["body"] for one in came] == chunks[: len(came)]
    return answered


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    with two_ways(tmp_path_factory.mktemp("open"), page_size=4) as both_ways:
        yield both_ways


@pytest.mark.parametrize("version", CURRENT)
@pytest.mark.parametrize(("method", "params"), GOOD.values(), ids=GOOD)
def test_valid_request_is_answered_by_the_fast_path(
    ways: Ways, version: str, method: str, params: Mapping[str, Any]
) -> None:
    assert is_answered_fast(ways, request(version, method, params))


@pytest.mark.parametrize("version", CURRENT[1:])
def test_ping_is_answered_by_the_fast_path(ways: Ways, version: str) -> None:
    assert is_answered_fast(ways, request(version, "ping", {}))


@pytest.mark.parametrize("version", CURRENT)
@pytest.mark.parametrize("client", ["a-program", "a-host+apps", "claude-ai"])
@pytest.mark.parametrize("profile", ["auto", "chatkit", "split", "neither"])
def test_every_profile_equals_the_ordinary_path(
    ways: Ways, version: str, client: str, profile: str
) -> None:
    call = {"name": "greeting", "arguments": {"who": "Ada"}}
    named = request(version, "tools/call", call, client=client, meta={"widgetd/profile": profile})
    plain = request(version, "tools/call", call, client=client)
    with_header = replace(plain, fields=(*plain.fields, ("widgetd-profile", profile)))

    assert is_answered_fast(ways, named)
    assert is_answered_fast(ways, with_header) == (profile != "neither")


@pytest.mark.parametrize(
    "policy",
    [
        Policy(text="json"),
        Policy(profile="split"),
        Policy(profiles={"a-program": "split"}),
        Policy(strict=True),
        Policy(inline_max_bytes=10),
    ],
    ids=["text json", "split", "split for one client", "strict", "large trees behind a link"],
)
def test_every_policy_equals_the_ordinary_path(tmp_path: Path, policy: Policy) -> None:
    with two_ways(tmp_path, policy=policy) as ways:
        for version in (MODERN, *HANDSHAKES):
            for method, params in GOOD.values():
                assert is_answered_fast(ways, request(version, method, params)) == (
                    version in CURRENT
                )


@pytest.mark.parametrize(
    "token", [ADA, KIOSK, CHIEF, GUEST], ids=["who calls", "who reads", "who may all", "of some"]
)
def test_each_token_sees_and_may_the_same(tmp_path: Path, token: str) -> None:
    with two_ways(tmp_path, token=token) as ways:
        for version in CURRENT:
            for method, params in GOOD.values():
                is_answered_fast(ways, request(version, method, params))
            secret = {"name": "secret", "arguments": {"who": "Ada"}}
            assert is_answered_fast(ways, request(version, "tools/call", secret)) == (
                token == CHIEF
            )


def test_unknown_token_is_left_to_the_ordinary_way(tmp_path: Path) -> None:
    with two_ways(tmp_path, token=ADA) as ways:
        assert is_answered_fast(ways, request(MODERN, "tools/list", {}))
        ways.token = "somebody-else-entirely"

        assert not is_answered_fast(ways, request(MODERN, "tools/list", {}))
        assert ways.compare(request(MODERN, "tools/list", {}))[0].status == 401


@pytest.mark.parametrize("version", CURRENT)
def test_rate_is_charged_once_for_each_request(tmp_path: Path, version: str) -> None:
    with two_ways(tmp_path, bounds=Bounds(rate_per_s=0.001, burst=6)) as ways:
        for method, params in (GOOD["a call"], GOOD["the list of tools"], GOOD["a template"]) * 4:
            is_answered_fast(ways, request(version, method, params))

        refused = ways.compare(request(version, *GOOD["a call"]))[0]
        assert "W2201" in json.dumps(refused.content)


def test_ended_session_is_not_answered(ways: Ways) -> None:
    version = "2025-11-25"
    assert is_answered_fast(ways, request(version, *GOOD["a call"], client="who-leaves"))
    fields = (*regular_fields(version, ""),)
    leaving = Request(version=version, client="who-leaves", fields=fields, body=(b"",))
    ways.end(leaving)

    assert not is_answered_fast(ways, request(version, *GOOD["a call"], client="who-leaves"))


def test_cancelled_wait_ends_as_the_ordinary_way_ends_it(ways: Ways) -> None:
    version = "2025-11-25"
    arguments = {"render_id": "r_awaited", "timeout_s": 60}
    message = request(
        version, "tools/call", {"name": "await_widget_action", "arguments": arguments}
    )
    ways.compare(request(version, "ping", {}))  # opens the sessions, which takes some time
    for way in (ways.fast, ways.around):
        render = StoredRender(id="r_awaited", tool="order", tree=b"{}", created=ways.clock())
        ways.portal.call(way.server.store.renders.put, render)
    count = ways.fast.answered

    fast, around = ways.cancel(message, cancellation(version, request_id=1))

    assert fast == around
    assert fast.content["error"]["message"] == "Request cancelled"
    assert ways.fast.answered == count + 1


def cancellation(version: str, *, request_id: int) -> Request:
    content = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": request_id},
    }
    body = json.dumps(content).encode()
    fields = (*regular_fields(version, ""), ("content-length", str(len(body))))
    return Request(version=version, fields=fields, body=(body,))


def test_session_belongs_to_the_token_that_opened_it(tmp_path: Path) -> None:
    message = request("2025-11-25", *GOOD["a call"])
    with two_ways(tmp_path, token=ADA) as ways:
        assert is_answered_fast(ways, message)
        ways.sessions = {
            (version, client, CHIEF): both for (version, client, _), both in ways.sessions.items()
        }
        ways.token = CHIEF

        assert not is_answered_fast(ways, message)


class Broken(Resources):
    """Resources of which no list can be made."""

    def of_widget(self, widget: Widget, snapshot: Snapshot) -> Iterator[Resource]:
        raise OSError(f"{widget.tool} is in /srv/secret")
        yield from super().of_widget(widget, snapshot)


def test_unexpected_error_reveals_nothing_internal(tmp_path: Path) -> None:
    with two_ways(tmp_path, resources=Broken()) as ways:
        message = request(MODERN, "resources/list", {})

        assert is_answered_fast(ways, message)
        assert ways.compare(message)[0].content["error"]["message"] == "Internal server error"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)

IDS: st.SearchStrategy[Any] = st.one_of(
    st.integers(-5, 10**20),
    st.text(max_size=6),
    st.sampled_from([None, True, 1.0, 1.5, [], {}, "", 2**63, -(2**63) - 1]),
)


def mostly(plain: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Something plain in four cases of five."""
    return st.sampled_from([plain] * 4 + [odd]).flatmap(lambda chosen: chosen)


NAMES = st.sampled_from(["greeting", "order", "split", "hidden", "render_widget", "search_widgets"])
OTHER_NAMES = st.sampled_from(
    [
        *("secret", "repeated", "grown", "nothing", "get_widget_details", "await_widget_action"),
        "follow_render",
    ]
)

CALLS = mostly(
    st.fixed_dictionaries(
        {"name": mostly(NAMES, OTHER_NAMES)},
        optional={
            "arguments": st.one_of(
                st.sampled_from([{"who": "Ada"}, {"who": 1}, {"name": "order"}, ARGUMENTS, {}]),
                st.dictionaries(st.sampled_from(["who", "order", "lines", "x"]), JSON, max_size=3),
            )
        },
    ),
    st.fixed_dictionaries(
        {"name": st.sampled_from(["greeting", "", "=?base64?eA==?="]) | JSON},
        optional={"arguments": JSON, "task": JSON, "more": JSON},
    ),
)

PARTS = ("template", "schema", "encoded", "view", "x", "problems")

READS = mostly(
    st.fixed_dictionaries(
        {"uri": st.sampled_from([f"widget://greeting/{part}" for part in PARTS])}
    ),
    st.fixed_dictionaries(
        {
            "uri": st.sampled_from(
                (
                    *("widget://greeting", "widget://nothing", "widgetd://ui-types", "x"),
                    *("ui://widgetd/greeting.html", "widget://secret", "WIDGET://greeting"),
                    "widgetd://renders/r_x",
                )
            )
            | JSON
        }
    ),
)

METHODS: Mapping[str, st.SearchStrategy[Any]] = {
    "tools/call": CALLS,
    "tools/list": st.fixed_dictionaries({}, optional={"cursor": mostly(st.text(max_size=3), JSON)}),
    "resources/list": st.fixed_dictionaries({}, optional={"cursor": st.text(max_size=3)}),
    "resources/read": READS,
    "ping": st.just({}) | st.dictionaries(st.text(max_size=3), JSON, max_size=1),
    "prompts/get": st.just({"name": "x"}),
    "server/discover": st.just({}),
    "notifications/progress": st.just({"progressToken": 1, "progress": 1}),
    "nothing/such": st.just({}),
}

METAS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(
        (
            *("widgetd/profile", "widgetd/clientVersion", "claudecode/toolUseId", "progressToken"),
            *("traceparent", "fastmcp", "x", "com.mcp.tools/x", "io.modelcontextprotocol/logLevel"),
            *("io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"),
            "io.modelcontextprotocol/protocolVersion",
        )
    ),
    st.sampled_from(["split", "chatkit", "1.0.0", "2.0.0", "", MODERN, {}, {"name": "x"}, 1, None])
    | JSON,
    max_size=3,
)

FIELDS = st.lists(
    st.sampled_from(
        [
            ("host", "evil.example"),
            ("host", "localhost"),
            ("origin", "http://127.0.0.1:8787"),
            ("origin", "http://evil.example"),
            ("content-type", "application/json; charset=utf-8"),
            ("content-type", "text/plain"),
            ("content-type", "application/jsonp"),
            ("content-type", "Application/JSON"),
            ("content-type", ""),
            ("accept", "*/*"),
            ("accept", "application/*;q=0"),
            ("accept", "text/event-stream"),
            ("accept", ""),
            ("mcp-protocol-version", MODERN),
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-protocol-version", "2025-06-18"),
            ("mcp-protocol-version", "1999-01-01"),
            ("mcp-protocol-version", ""),
            ("mcp-method", "tools/list"),
            ("mcp-method", ""),
            ("mcp-name", "greeting"),
            ("mcp-name", "=?base64?Z3JlZXRpbmc=?="),
            ("mcp-name", "gre\xebting"),
            ("mcp-param-who", "Ada"),
            ("mcp-session-id", "SESSION"),
            ("mcp-session-id", "nothing"),
            ("mcp-session-id", ""),
            ("authorization", "Bearer x"),
            ("content-encoding", "gzip"),
            ("transfer-encoding", "chunked"),
            ("content-length", ""),
            ("content-length", "+5"),
            ("content-length", "99999999"),
            ("x-other", "1"),
        ]
    ),
    max_size=2,
)

ENCODINGS: Mapping[str, Callable[[Any], bytes]] = {
    "plain": lambda said: json.dumps(said).encode(),
    "compact": lambda said: json.dumps(said, separators=(",", ":")).encode(),
    "utf-8": lambda said: json.dumps(said, ensure_ascii=False).encode(errors="surrogatepass"),
    "indented": lambda said: json.dumps(said, indent="\t").encode(),
    "much space": lambda said: b"\r\n " + json.dumps(said, separators=(" ,\n", " :\t")).encode(),
    "a byte order mark": lambda said: b"\xef\xbb\xbf" + json.dumps(said).encode(),
    "utf-16": lambda said: json.dumps(said).encode("utf-16"),
    "latin-1": lambda said: json.dumps(said, ensure_ascii=False).encode("latin-1", "replace"),
    "more after it": lambda said: json.dumps(said).encode() + b"{}",
    "cut short": lambda said: json.dumps(said).encode()[:-1],
    "a batch": lambda said: json.dumps([said]).encode(),
    "a key twice": lambda said: json.dumps(said).encode()[:-1] + b',"id":1}',
    "a key twice, once escaped": lambda said: json.dumps(said).encode()[:-1] + b',"\\u0069d":1}',
    "a key twice, and a colon escaped": lambda said: (
        json.dumps(said).encode()[:-1] + b',"more":"\\u003A","more":1}'
    ),
    "not a number": lambda said: json.dumps(said).encode()[:-1] + b',"params":{"x":NaN}}',
}


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Regular requests, of which some are made irregular in this way or in that."""
    version = draw(st.sampled_from((MODERN, *HANDSHAKES)))
    client = draw(st.sampled_from(["a-program", "a-host+apps", "claude-ai"]))
    method = draw(st.sampled_from(["tools/call"] * 6 + list(METHODS)))
    params: dict[str, Any] = draw(METHODS[method])
    meta = {**envelope(version, client), **draw(mostly(st.just({}), METAS))}
    if meta:
        params = {**params, "_meta": meta}
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    odds = st.sampled_from(["id", "no id", "jsonrpc", "params", "more", "meta"])
    odd = draw(mostly(st.just(""), odds))
    if odd == "id":
        message["id"] = draw(IDS)
    elif odd == "no id":
        del message["id"]
    elif odd == "jsonrpc":
        message["jsonrpc"] = draw(st.sampled_from(["1.0", 2.0, None]))
    elif odd == "params":
        message["params"] = draw(JSON)
    elif odd == "more":
        message["more"] = draw(JSON)
    elif odd == "meta":
        message["params"] = {**params, "_meta": draw(JSON)}
    plainly = st.sampled_from(["plain", "compact", "utf-8", "indented", "much space"])
    body = ENCODINGS[draw(mostly(plainly, st.sampled_from(list(ENCODINGS))))](message)
    name = params.get(NAMED.get(method, ""), "")
    regular = regular_fields(version, method, name if _is_header(name) else "x")
    fields = dict((*regular, ("content-length", str(len(body)))))
    fields |= dict(draw(mostly(st.just([]), FIELDS)))
    known_fields = [(key, value) for key, value in fields.items() if value]
    known_fields += draw(mostly(st.just([]), st.lists(st.sampled_from(known_fields), max_size=1)))
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=2)))
    edges = zip([0, *cuts], [*cuts, len(body)], strict=True)
    parts = tuple(body[start:end] for start, end in edges)
    return Request(version=version, client=client, fields=tuple(known_fields), body=parts)


def _is_header(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable()


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=requests())
def test_any_request_is_answered_as_the_ordinary_way_answers_it(ways: Ways, asked: Request) -> None:
    is_answered_fast(ways, asked)


@settings(max_examples=EXAMPLES // 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.lists(requests(), min_size=4, max_size=8))
def test_any_requests_within_bounds_are_counted_as_the_ordinary_way_counts_them(
    tmp_path_factory: pytest.TempPathFactory, asked: list[Request]
) -> None:
    folder = tmp_path_factory.mktemp("bounded")
    with two_ways(folder, token=ADA, bounds=Bounds(rate_per_s=0.001, burst=5)) as ways:
        for one in asked:
            is_answered_fast(ways, one)
