"""Settings: read once, validated once, passed down as plain values.

Precedence: flags, environment (`WIDGETD_*`), `widgetd.toml`, defaults. The origin of each value is
recorded. Nothing here opens a port or a folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
)
from pydantic_core import PydanticCustomError

from widgetd.base.errors import ConfigError
from widgetd.base.errors.expected import advise
from widgetd.base.files.folder import OWN_FOLDER, bundled_folder
from widgetd.base.redaction import Secret, SecretUrl, conceal_credentials, hide_credentials
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import nearest

FILE = "widgetd.toml"
PREFIX = "WIDGETD_"

OPENAI_URL = "https://api.openai.com/v1"
"""The default endpoint. It is ours and not the library's, whose default another program's
`OPENAI_BASE_URL` replaces: the key goes where `widgetd serve --settings` says."""


def _split_words(value: object) -> object:
    if isinstance(value, str):
        return tuple(part for part in (part.strip() for part in value.split(",")) if part)
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_split_words)]

Toolset = Literal["author", "operate", "pictures", "sessions", "upstreams"]
Toolsets = Annotated[tuple[Toolset, ...], BeforeValidator(_split_words)]


class Settings(BaseModel):
    """All settings.

    Their names are those of the flags, of the variables with the prefix `WIDGETD_`, and of the keys
    in `widgetd.toml`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dir: Path | None = Field(
        default=None, description="folder of widgets; default ./widgets, else the bundled ones"
    )
    transport: Literal["http", "stdio"] = Field(default="http", description="how clients connect")
    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=8787, ge=0, le=65535, description="port; 0 for any free one")
    cors_origin: Words = Field(default=(), description="browser origins whose pages may call")
    image_origin: Words = Field(
        default=(), description="origins from which every widget may load images"
    )
    inline_image_origin: Words = Field(
        default=(), description="origins whose images results bring along, as data: URIs"
    )
    sample_images: bool = Field(
        default=False, description="load the images of samples in the gallery"
    )
    allowed_host: Words = Field(default=(), description="Host headers to accept besides loopback")
    public_url: str = Field(
        default="", description="address that clients use, as https://widgets.example.com"
    )
    profile: Literal["auto", "chatkit", "split"] = Field(
        default="auto",
        description="who sees the tree: the model (chatkit) or only the view (split)",
    )
    profiles: Mapping[str, Literal["auto", "chatkit", "split"]] = Field(
        default_factory=dict, description="profile by client name; only in widgetd.toml"
    )
    text: Literal["summary", "json", "markdown"] = Field(
        default="summary",
        description="text content of results: a summary, JSON, or the widget as Markdown",
    )
    text_tokens: int = Field(
        default=400, ge=0, description="maximum tokens of that Markdown; 0 for no maximum"
    )
    links: Literal["auto", "never"] = Field(
        default="auto",
        description="have clients that draw nothing show their users the address of each widget",
    )
    expose: Literal["tools", "search", "auto"] = Field(
        default="auto", description="tools to list; auto depends on list_tokens"
    )
    app_tools: Literal["auto", "always"] = Field(
        default="auto", description="list the tools of pages to hosts that draw, or to all clients"
    )
    list_tokens: int = Field(
        default=16_000, ge=0, description="maximum tokens for which auto lists every widget"
    )
    hide_formats: bool = Field(
        default=False, description="omit formats from listed schemas, but enforce them"
    )
    inline_max_bytes: int = Field(
        default=256 * 1024,
        ge=0,
        description="maximum size of a tree in a result; a larger one is linked",
    )
    store: SecretUrl | None = Field(
        default=None, description="URL of a Redis or Valkey server that replicas share"
    )
    token_file: Path | None = Field(
        default=None, description="file with lines of NAME TOKEN SCOPES; SIGHUP rereads it"
    )
    token: Literal["auto"] | None = Field(
        default=None,
        description="auto: generate and print a token at start if there is no other access",
    )
    jwt_jwks: str = Field(default="", description="URL of the keys that sign JWTs")
    jwt_issuer: str = Field(default="", description="required iss of JWTs")
    jwt_audience: str = Field(default="", description="required aud of JWTs")
    jwt_algorithm: str = Field(default="RS256", description="signature algorithm of JWTs")
    insecure: bool = Field(
        default=False,
        description="accept callers without a token on an address that other machines reach",
    )
    rate: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="sustained calls per second for each client",
    )
    burst: float = Field(
        default=100,
        ge=1,
        allow_inf_nan=False,
        description="calls that a client may make in a burst",
    )
    at_once: int | None = Field(
        default=None, ge=1, description="maximum concurrent calls for each client"
    )
    connections: int | None = Field(
        default=None,
        ge=1,
        description="maximum open connections; default: as many as descriptors allow",
    )
    sessions: int = Field(
        default=2000, ge=1, description="maximum sessions of older clients, in total"
    )
    sessions_each: int = Field(
        default=500, ge=1, description="maximum sessions of older clients for each token"
    )
    header_s: float = Field(
        default=10, gt=0, le=3600, description="seconds until a request's header must be complete"
    )
    body_s: float = Field(
        default=60, gt=0, le=3600, description="seconds from then until its body must be complete"
    )
    audit: Path | None = Field(
        default=None, description="file that receives a line of JSON for each call"
    )
    audit_max_bytes: int = Field(
        default=16_777_216,
        ge=4096,
        description="size at which the audit file is rotated; four are kept",
    )
    metrics_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="separate port for /metrics; default: the main port",
    )
    webhook: SecretUrl | None = Field(
        default=None, description="address that receives users' actions"
    )
    webhook_secret: Secret | None = Field(
        default=None,
        description="key that signs webhook requests; only in the environment or widgetd.toml",
    )
    webhook_private: bool = Field(
        default=False, description="allow a webhook on this machine or network, and over plain http"
    )
    state_dir: Path | None = Field(
        default=None,
        description="folder for state that survives a restart, as proofs and conversations",
    )
    toolset: Toolsets = Field(
        default=(), description="additional built-in tools: author, operate, pictures, ..."
    )
    keyword_tools: Words = Field(
        default=(), description="keywords to offer as tools: all, or names, or -names"
    )
    session_most: int = Field(
        default=8, ge=1, description="maximum concurrent sessions in the browser"
    )
    session_idle_s: float = Field(
        default=300, gt=0, le=3600, description="seconds until an unused session ends"
    )
    browser_at_once: int = Field(
        default=2, ge=1, le=16, description="maximum pictures rendered concurrently"
    )
    upstreams: Path | None = Field(
        default=None, description="file that declares other servers, which fill widgets"
    )
    page_size: int = Field(default=0, ge=0, description="tools on each page of a list; 0 for all")
    poll: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="seconds between scans, instead of file events",
    )
    strict: bool = Field(
        default=False, description="treat undeclared names as faults, and coerce no arguments"
    )
    gallery: bool = Field(default=False, description="show the widgets in a gallery, at /")
    chat: bool = Field(
        default=False, description="offer a chat whose agent uses the widgets, at /chat"
    )
    chat_model: str = Field(
        default="scripted",
        description="the chat's model, as its endpoint names it; scripted: a built-in script",
    )
    chat_url: SecretUrl = Field(
        default=SecretUrl(OPENAI_URL),
        description="OpenAI-compatible endpoint of that model, ending in /v1",
    )
    chat_key: Secret | None = Field(
        default=None, description="key for that endpoint; only in the environment or widgetd.toml"
    )
    chat_instructions: Path | None = Field(
        default=None, description="file with instructions for the chat's model"
    )
    chat_tools: Words = Field(
        default=(),
        description="tools of the chat's model besides widgets and search, or whole toolsets",
    )
    allow_upload: bool = Field(
        default=False, description="let the gallery write files into the folder"
    )
    allow_unasked: bool = Field(
        default=False, description="save, and call upstreams, for clients that cannot ask first"
    )
    include: Words = Field(
        default=(), description="serve only widgets with one of these tags or names"
    )
    exclude: Words = Field(
        default=(), description="serve no widgets with one of these tags or names"
    )
    access_log: bool = Field(
        default=False, description="log each HTTP request; default: only at level debug"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="minimum level of logged events"
    )

    _generated_token: str = PrivateAttr(default_factory=lambda: SYSTEM.numbers.token_urlsafe(24))

    @property
    def generated_token(self) -> str:
        """Return the token generated at start, empty if others grant access."""
        needed = self.token_file is None and not self.jwt_jwks
        return self._generated_token if self.token is not None and needed else ""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the Host headers to accept besides loopback."""
        public = (urlsplit(self.public_url).netloc,) if self.public_url else ()
        return (*self.allowed_host, *public)

    @field_validator("jwt_jwks", "jwt_issuer")
    @classmethod
    def _conceal(cls, value: str) -> str:
        conceal_credentials(value)
        return value

    @field_validator("public_url")
    @classmethod
    def _public_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or parts.query
            or parts.fragment
            or parts.username
        ):
            raise PydanticCustomError("url", "write it as https://widgets.example.com")
        return value.rstrip("/").removesuffix("/mcp")

    @field_validator(
        *("dir", "token_file", "audit", "state_dir", "upstreams", "chat_instructions"),
        mode="before",
    )
    @classmethod
    def _home(cls, value: object) -> object:
        try:
            return Path(value).expanduser() if isinstance(value, str) else value
        except RuntimeError:
            raise PydanticCustomError(
                "home", "there is no such home folder; write the whole path"
            ) from None


GROUPS: Mapping[str, tuple[str, ...]] = {
    "network": (
        *("transport", "host", "port", "public_url", "allowed_host", "cors_origin"),
        *("connections", "header_s", "body_s", "metrics_port"),
    ),
    "access": (
        *("token_file", "token", "jwt_jwks", "jwt_issuer", "jwt_audience", "jwt_algorithm"),
        *("insecure", "allow_upload", "allow_unasked"),
    ),
    "results": (
        *("profile", "profiles", "text", "text_tokens", "inline_max_bytes", "strict"),
        *("image_origin", "inline_image_origin", "links"),
    ),
    "lists": (
        *("expose", "list_tokens", "page_size", "include", "exclude", "hide_formats"),
        *("app_tools", "toolset", "keyword_tools"),
    ),
    "rates": ("rate", "burst", "at_once", "sessions", "sessions_each"),
    "browser": ("gallery", "sample_images", "session_most", "session_idle_s", "browser_at_once"),
    "upstreams": ("upstreams", "webhook", "webhook_secret", "webhook_private"),
    "chat": ("chat", "chat_model", "chat_url", "chat_key", "chat_instructions", "chat_tools"),
    "state": (
        *("dir", "poll", "state_dir", "store", "audit", "audit_max_bytes"),
        *("log_level", "access_log"),
    ),
}
"""Every setting, by its subject."""

SET_FIRST = ("host", "port", "gallery", "token_file", "state_dir")
"""The settings that most people set."""

SECRETS = frozenset(
    name
    for name, field in Settings.model_fields.items()
    if {Secret, SecretUrl}.intersection((field.annotation, *get_args(field.annotation)))
) | {"token"}
"""Settings whose values are never shown; a token may be written where `auto` belongs."""


def describe_settings() -> Mapping[str, str]:
    """Return the description of each setting by name."""
    return {name: field.description or "" for name, field in Settings.model_fields.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Settings, with the origin of each: `flag`, `WIDGETD_PORT`, `widgetd.toml` or `default`."""

    settings: Settings
    origins: Mapping[str, str]


def settle(
    flags: Mapping[str, Any], environ: Mapping[str, str], file: Path | None = None
) -> Settled:
    """Determine the value of every setting.

    Args:
        flags: Values by name. None is no value.
        environ: The environment.
        file: The settings file, by default `widgetd.toml` in the working directory, if it exists.

    Raises:
        ConfigError: A setting is unknown (W0001) or its value cannot be used (W0002).
    """
    layers = [_read_file(file)]
    for variable, value in environ.items():
        if variable.startswith(PREFIX):
            name = variable.removeprefix(PREFIX).lower()
            _require_known(name, variable)
            layers.append((variable, {name: value}))
    layers.append(("flag", {name: value for name, value in flags.items() if value is not None}))
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, "default")
    for origin, layer in layers:
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    try:
        return Settled(settings=Settings(**values), origins=origins)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        place = origin = origins[name]
        if origin == "flag":
            place = f"--{name.replace('_', '-')}"
        elif origin.endswith(".toml"):
            place = f"{_locate(file or Path(FILE), name)}: {name}"
        problem = hide_credentials(f"{place} cannot be {first['input']!r}")
        if name in SECRETS:
            problem = f"the value of {place} cannot be used"
        raise ConfigError("W0002", problem, advise(first)) from None


def _read_file(file: Path | None) -> tuple[str, dict[str, Any]]:
    path = Path(FILE) if file is None else file
    if file is None and not path.is_file():
        return FILE, {}
    try:
        layer = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "W0006", f"{path} cannot be read ({error})", "make it readable", exit_code=3
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("W0002", f"{path} is not TOML ({error})", "correct that line") from None
    for name, value in layer.items():
        if name not in Settings.model_fields and isinstance(value, dict):
            problem = f"{_locate(path, name)}: [{name}] is a table, and settings stand in none"
            raise ConfigError("W0001", problem, "write its keys at the top of the file")
        _require_known(name, f"{_locate(path, name)}: '{name}'")
    return path.name, layer


def _locate(path: Path, name: str) -> str:
    """Return the file with the line of a setting, as far as possible."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.partition("=")[0].strip(" \t[]\"'") == name:
            return f"{path}:{number}"
    return str(path)


def _require_known(name: str, place: str) -> None:
    if name in Settings.model_fields:
        return
    match = nearest(name, tuple(Settings.model_fields))
    like = place.replace(name, match or "").replace(name.upper(), (match or "").upper())
    advice = f"did you mean {like}?" if match else "`widgetd guide settings` lists all of them"
    raise ConfigError("W0001", f"{place} is not a setting", advice)


def require_files_outside(settings: Settings, folder: Path) -> None:
    """Refuse operators' files in the served folder, open to users' files.

    An upstreams file names programs to run, and a token file grants everything.

    Raises:
        ConfigError: The token or the upstreams file lies in `folder`, or a link there leads to
            it (W0015).
    """
    home = folder.resolve()
    for flag, file in (("--token-file", settings.token_file), ("--upstreams", settings.upstreams)):
        if file is None:
            continue
        for place in (file.parent.resolve() / file.name, file.resolve()):
            if place.is_relative_to(home):
                problem = f"{flag} {file} lies in the served folder {folder}"
                raise ConfigError("W0015", problem, "move it out of the folder", exit_code=3)


def shows_examples(settings: Settings) -> bool:
    """Return whether the bundled widgets are served, for no folder is named and none is here."""
    return settings.dir is None and not OWN_FOLDER.is_dir()


def folder_of(settings: Settings) -> Path:
    """Return the folder of widgets: the named folder, else ./widgets, else the bundled widgets.

    Raises:
        ConfigError: The named folder does not exist (W0003), or is not a folder (W0004).
    """
    if settings.dir is None:
        return OWN_FOLDER if OWN_FOLDER.is_dir() else bundled_folder()
    if not settings.dir.exists():
        raise ConfigError(
            "W0003", f"there is no folder {settings.dir}", "make it, or name another", exit_code=3
        )
    if not settings.dir.is_dir():
        advice = "name the folder that it lies in"
        raise ConfigError("W0004", f"{settings.dir} is a file", advice, exit_code=3)
    return settings.dir
