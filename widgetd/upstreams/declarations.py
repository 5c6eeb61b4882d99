"""The upstreams file, normalised to compare two versions of it.

TOML is our format. JSON is the format of other hosts (`mcpServers`, VS Code's `servers`, a nested
`transport`, a bare URL). Both give the same declarations. A secret is written as `${env:NAME}` or
`${file:PATH}`. Its value is never shown, and is no part of a digest.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, ValidationError

from widgetd.base.errors import ConfigError, WidgetError
from widgetd.base.errors.expected import advise
from widgetd.base.limits import Limits
from widgetd.base.redaction import SecretUrl, conceal
from widgetd.base.text_search import Match, compile_pattern, did_you_mean
from widgetd.core.schema.json_text import parse_file
from widgetd.core.widget.sidecar import find_line
from widgetd.upstreams.limits import LIMITS
from widgetd.upstreams.openapi import (
    count_operations,
    document_of_endpoints,
    parse_document,
    reduce_document,
)
from widgetd.upstreams.tables import KINDS, ActionRule, Endpoint, UpstreamKind, UpstreamTable

_NAME = compile_pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_TOML_PLACE = compile_pattern(r"at line \d+, column \d+")
_SECRET = compile_pattern(
    # Neither part reads over the beginning of another, or each would read all later parts.
    r"\$\{(?:(env|file):)?((?:[^}:$]|\$(?!\{))+)(?::-((?:[^}$]|\$(?!\{))*+))?\}"
)


_SECRET_HEADERS = ("auth", "token", "key", "secret", "cookie")
"""Words in the name of a header whose value is a secret, also where the file spells it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A complete declaration of an upstream. Equal declarations need no restart.

    Attributes:
        table: Its table, with secrets as they are written there.
        document: The OpenAPI document, or empty for an MCP server.
        unmarked: How many operations were left out of it because they may change something.
        secrets: `url`, `base`, `args`, `env` and `headers`, with the values of secrets.
        digest: Identifies the upstream's answers. Equal on replicas, and free of secrets.
    """

    name: str
    kind: UpstreamKind
    table: UpstreamTable = field(repr=False)
    document: bytes = field(default=b"", repr=False)
    unmarked: int = 0
    secrets: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    digest: str = ""

    @property
    def connect_s(self) -> float:
        return self.table.connect_s or self.kind.connect_s


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamsFile:
    """The content of an upstreams file.

    Attributes:
        declarations: The upstreams, by name.
        inputs: The file itself and the files named in it: a change of any is a change.
    """

    declarations: Mapping[str, Declaration]
    inputs: frozenset[Path] = frozenset()


def read_file(path: Path, environ: Mapping[str, str] = os.environ) -> UpstreamsFile:
    """Read an upstreams file.

    Raises:
        ConfigError: It cannot be used (W5101), or a secret is missing (W5102). The error names
            the line, and never a secret's value.
    """
    text = _text(path, path.name)
    tables = _from_json(text, path) if path.suffix == ".json" else _from_toml(text, path)
    reader = _TableReader(path, text, environ)
    declarations = {name: reader.read(name, table) for name, table in tables.items()}
    return UpstreamsFile(
        declarations=MappingProxyType(declarations), inputs=frozenset({path, *reader.inputs})
    )


def _text(path: Path, label: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LIMITS.file_bytes + 1)
        if len(content) > LIMITS.file_bytes:
            raise _unusable(f"{label} is larger than 8 MiB", "name a smaller file")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise _unusable(f"{label} cannot be read ({error.strerror})", "name another") from None
    except UnicodeDecodeError:
        raise _unusable(f"{label} is not UTF-8", "save it as UTF-8") from None


def _unusable(problem: str, advice: str) -> ConfigError:
    return ConfigError("W5101", problem, advice)


def _from_toml(text: str, path: Path) -> Mapping[str, Any]:
    if not text.strip():  # a file being written
        raise _unusable(f"{path.name}:1: it is empty", "declare an upstream, or write a comment")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The place alone: the parser's sentence may quote a secret.
        place = _TOML_PLACE.search(str(error))
        where = place.group() if place else f"at line {len(text.splitlines())}, the last one"
        raise _unusable(f"{path.name} is not TOML ({where})", "mend that line") from None


def _from_json(text: str, path: Path) -> Mapping[str, Any]:
    try:
        content = parse_file(text.encode(), Limits())
    except WidgetError as error:
        line, problem = error.finding.line or 1, error.finding.problem
        # Other problems quote the text, and so perhaps a secret.
        reason = problem if error.finding.code == "W1102" else "it is not JSON here"
        raise _unusable(f"{path.name}:{line}: {reason}", "mend that line") from None
    servers = content.get("mcpServers", content.get("servers"))
    if servers is None:
        servers = {path.stem: content} if {"url", "command"} & content.keys() else content
    if not isinstance(servers, dict):
        raise _unusable(f"{path.name}: 'mcpServers' is no object", "write an object of servers")
    return {name: _translate(table) for name, table in servers.items()}


# What other hosts mean by these differs from what we do, so each is translated.
_FOREIGN_KEYS = frozenset({"type", "disabled", "timeout", "auth", "transport", "serverUrl"})
_OWN_KEYS = frozenset(UpstreamTable.model_fields) - _FOREIGN_KEYS
_TRANSPORTS = {"sse": "sse", "http": "", "streamable-http": "", "stdio": ""}


def _translate(table: Any) -> Any:
    if isinstance(table, str):
        return {"url": table}
    if not isinstance(table, dict):
        return table
    nested = table.get("transport")
    if isinstance(nested, dict):
        table = {**table, **nested, "transport": nested.get("type", "")}
    own = {key: value for key, value in table.items() if key in _OWN_KEYS}
    if "serverUrl" in table:
        own.setdefault("url", table["serverUrl"])
    transport = table.get("transport") or table.get("type") or ""
    own["transport"] = _TRANSPORTS.get(transport, transport if "url" in own else "")
    if isinstance(table.get("tools"), dict):  # FastMCP's transformations of tools
        own.pop("tools")
    if table.get("disabled") is True:
        own["enabled"] = False
    if isinstance(table.get("timeout"), (int, float)) and table["timeout"] > 0:
        own["call_s"] = min(float(table["timeout"]) / 1000, 600.0)
    if isinstance(table.get("auth"), str) and table["auth"] != "oauth":
        own["headers"] = {"Authorization": f"Bearer {table['auth']}", **own.get("headers", {})}
    return own


@dataclass(eq=False)
class _TableReader:
    """Builds declarations from a file's tables, and collects the files named there."""

    path: Path
    text: str
    environ: Mapping[str, str]
    inputs: set[Path] = field(default_factory=set)

    def read(self, name: str, raw: Any) -> Declaration:
        if not _NAME.fullmatch(name):
            advice = "use letters, digits, '_', '-' and '.'"
            raise self._fault((name,), f"an upstream cannot be called '{name[:64]}'", advice)
        if not isinstance(raw, dict):
            raise self._fault((name,), f"'{name}' is no table", f"write [{name}]")
        try:
            # As JSON: in strict mode pydantic takes a list for a tuple only there.
            table = UpstreamTable.model_validate_json(orjson.dumps(raw))
        except (ValidationError, TypeError) as error:
            raise self._invalid(name, error) from None
        kind = self._kind(name, table)
        document, unmarked = b"", 0
        if table.openapi:
            document, unmarked = self._document(name, table)
        elif table.endpoints:
            document = orjson.dumps(document_of_endpoints(name, table.endpoints))
        secrets: dict[str, Any] = {
            "url": self._fill(name, "url", table.url),
            "base": self._fill(name, "base", table.base),
            "args": tuple(self._fill(name, "args", argument) for argument in table.args),
            "env": {k: self._fill(name, "env", v) for k, v in table.env.items()},
            "headers": {k: self._fill(name, "headers", v) for k, v in table.headers.items()},
        }
        for address in (secrets["url"], secrets["base"]):
            SecretUrl(address)
        for header, value in secrets["headers"].items():
            if any(word in header.lower() for word in _SECRET_HEADERS):
                conceal(value.rpartition(" ")[2])  # without "Bearer"
        answering = table.model_dump(mode="json", include=set(_ANSWERING_KEYS))
        parts = orjson.dumps([name, kind.name, answering], option=orjson.OPT_SORT_KEYS)
        return Declaration(
            name=name,
            kind=kind,
            table=table,
            document=document,
            unmarked=unmarked,
            secrets=secrets,
            digest=blake2b(parts + document, digest_size=12).hexdigest(),
        )

    def _kind(self, name: str, table: UpstreamTable) -> UpstreamKind:
        kinds = [kind for kind in KINDS if getattr(table, kind.key)]
        if len(kinds) != 1:
            problem = f"'{name}' says {'neither' if not kinds else 'more than one'} of"
            words = "url, command, openapi and endpoints"
            raise self._fault((name,), f"{problem} {words}", "say exactly one")
        paths = [endpoint.get for endpoint in table.endpoints.values()]
        if len(set(paths)) < len(paths):
            problem = f"two endpoints of '{name}' have the same path"
            raise self._fault((name, "endpoints"), problem, "make one of them")
        if table.endpoints and not table.base:
            raise self._fault((name,), f"'{name}' has endpoints without base", "write base")
        for key in ("url", "base"):
            value = getattr(table, key)
            if value and not value.startswith(("http://", "https://", "${")):
                problem = f"'{name}.{key}' is no address"
                raise self._fault((name, key), problem, "begin it with https://")
        return kinds[0]

    def _document(self, name: str, table: UpstreamTable) -> tuple[bytes, int]:
        place = self.path.parent / table.openapi
        self.inputs.add(place)
        document = parse_document(_text(place, table.openapi))
        if document is None:
            problem = f"{table.openapi} is no OpenAPI document in JSON"
            raise self._fault((name, "openapi"), problem, "name one that has 'paths'")
        if not table.base and not _server_address(document).startswith("http"):
            problem = f"'{name}' does not say where the service is"
            raise self._fault((name,), problem, "write base")
        # Without `tools`, only read-only operations may be called.
        only_reading, actions = not table.tools, table.action_rules
        reduced = reduce_document(document, only_reading=only_reading, actions=actions)
        return orjson.dumps(reduced), count_operations(document) - count_operations(reduced)

    def _fill(self, name: str, key: str, text: str) -> str:
        """Return `text` with the values of its secrets.

        Raises:
            ConfigError: A secret is missing (W5102).
        """

        def value_of(reference: Match[str]) -> str:
            source, which, default = reference.groups()
            value: str | None = None
            if source == "file":
                place = self.path.parent / which
                self.inputs.add(place)
                with suppress(OSError, UnicodeDecodeError):
                    value = place.read_text(encoding="utf-8").strip()
            else:
                value = self.environ.get(which)
            if value is not None:
                conceal(value)
                return value
            if default is not None:
                return str(default)
            origin = f"file {which}" if source == "file" else f"variable {which}"
            line = self._line(name, key)
            problem = f"{self.path.name}{line}: '{name}.{key}' asks for the {origin}"
            raise ConfigError("W5102", f"{problem}, which is not there", "provide it")

        return _SECRET.sub(value_of, text)

    def _invalid(self, name: str, error: ValidationError | TypeError) -> ConfigError:
        if isinstance(error, TypeError):
            problem = f"'{name}' holds what JSON cannot say"
            return self._fault((name,), problem, "write plain values")
        errors = error.errors(include_url=False, include_input=False)
        first = min(errors, key=lambda detail: detail["type"] != "extra_forbidden")
        loc = (name, *first["loc"])
        key = ".".join(str(step) for step in loc)
        if first["type"] == "extra_forbidden":
            owner: type[BaseModel] = UpstreamTable
            if len(loc) > 3:
                owner = ActionRule if loc[1] == "actions" else Endpoint
            fields = ", ".join(owner.model_fields)
            advice = did_you_mean(str(loc[-1]), owner.model_fields, f"known are {fields}")
            return self._fault(loc, f"the key '{key}' is unknown", advice)
        return self._fault(loc, f"'{key}' cannot be used", advise(first))

    def _fault(self, loc: tuple[Any, ...], problem: str, advice: str) -> ConfigError:
        line = self._line(*loc)
        return _unusable(f"{self.path.name}{line}: {problem}", advice)

    def _line(self, *loc: Any) -> str:
        if self.path.suffix == ".json":
            key = json.dumps(str(loc[0]), ensure_ascii=False)
            before, separator, _ = self.text.partition(key)
            return f":{before.count(chr(10)) + 1}" if separator else ""
        line = find_line(self.text, "".join(f"/{step}" for step in loc))
        return f":{line}" if line else ""


_ANSWERING_KEYS = frozenset(
    {"url", "transport", "command", "args", "openapi", "base", "endpoints", "headers", "env"}
)
"""Keys that decide about an upstream's answers; the others decide how patient we are with it."""


def host_of(declaration: Declaration) -> tuple[str, int, bool]:
    own = _server_address(orjson.loads(declaration.document or b"{}"))
    secrets = declaration.secrets
    parts = urlsplit(secrets["url"] or secrets["base"] or own)
    is_tls = parts.scheme == "https"
    return parts.hostname or "", parts.port or (443 if is_tls else 80), is_tls


def _server_address(document: Mapping[str, Any]) -> str:
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else {}
    return str(first.get("url", "")) if isinstance(first, dict) else ""
