"""Settings: read once, checked once, passed down as plain values.

One precedence: flags, environment (`WIDGETD_*`), `widgetd.toml`, defaults. Each
value remembers where it came from. Nothing here opens a port or a folder.
"""

from __future__ import annotations

import secrets
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

from widgetd.chat import OPENAI_URL
from widgetd.errors import ConfigError
from widgetd.files.folder import bundled_folder
from widgetd.redaction import Secret, SecretUrl
from widgetd.text_search import nearest

FILE = "widgetd.toml"
PREFIX = "WIDGETD_"


def _words(value: object) -> object:
    """A list of words, from a list or from a text with commas."""
    if isinstance(value, str):
        return tuple(part for part in (part.strip() for part in value.split(",")) if part)
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]

Toolset = Literal["author", "operate", "pictures", "sessions", "upstreams"]
Toolsets = Annotated[tuple[Toolset, ...], BeforeValidator(_words)]


class Settings(BaseModel):
    """Every setting, with the value that holds.

    The names are those of the flags, of `WIDGETD_` in the environment, and of
    the keys in `widgetd.toml`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dir: Path | None = Field(
        default=None, description="the folder of widgets; ./widgets, else the bundled"
    )
    transport: Literal["http", "stdio"] = Field(default="http", description="how clients connect")
    host: str = Field(default="127.0.0.1", description="the address to listen on")
    port: int = Field(default=8787, ge=0, le=65535, description="the port; 0 takes any free one")
    cors_origin: Words = Field(default=(), description="browser origins that may call from a page")
    image_origin: Words = Field(
        default=(), description="origins that images may come from in every widget"
    )
    sample_images: bool = Field(
        default=False, description="load images in the gallery from where samples have them"
    )
    allowed_host: Words = Field(default=(), description="Host headers to accept besides loopback")
    public_url: str = Field(
        default="", description="where clients reach it, as https://widgets.example.com"
    )
    profile: Literal["auto", "chatkit", "split"] = Field(
        default="auto", description="who sees the tree"
    )
    profiles: Mapping[str, Literal["auto", "chatkit", "split"]] = Field(
        default_factory=dict, description="the profile by client name; in widgetd.toml only"
    )
    text: Literal["summary", "json"] = Field(default="summary", description="what content says")
    expose: Literal["tools", "search", "auto"] = Field(
        default="auto", description="which tools are listed"
    )
    app_tools: Literal["auto", "always"] = Field(
        default="auto", description="list the tools of pages to hosts that draw, or to all clients"
    )
    list_tokens: int = Field(
        default=16_000, ge=0, description="auto lists every widget while that costs no more"
    )
    hide_formats: bool = Field(
        default=False, description="leave formats out of listed schemas, and enforce them"
    )
    inline_max_bytes: int = Field(
        default=256 * 1024, ge=0, description="a larger tree is linked to, not sent along"
    )
    store: SecretUrl | None = Field(
        default=None, description="the URL of a Redis or Valkey server that replicas share"
    )
    token_file: Path | None = Field(
        default=None, description="lines of NAME TOKEN SCOPES; SIGHUP rereads it"
    )
    token: Literal["auto"] | None = Field(
        default=None, description="auto: without other tokens, make one at start and print it"
    )
    jwt_jwks: str = Field(default="", description="the URL of the keys that JWTs are signed with")
    jwt_issuer: str = Field(default="", description="the iss that JWTs must have")
    jwt_audience: str = Field(default="", description="the aud that JWTs must have")
    jwt_algorithm: str = Field(default="RS256", description="how JWTs are signed")
    insecure: bool = Field(
        default=False, description="let anybody in, on an address that other machines reach"
    )
    rate: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="calls per second that each client may make, in the long run",
    )
    burst: float = Field(
        default=100,
        ge=1,
        allow_inf_nan=False,
        description="calls that it may make at once after a rest",
    )
    at_once: int | None = Field(
        default=None, ge=1, description="calls of each client that may run at the same time"
    )
    connections: int | None = Field(
        default=None, ge=1, description="open connections; else as many as descriptors allow"
    )
    sessions: int = Field(default=2000, ge=1, description="sessions of older clients, in all")
    sessions_each: int = Field(
        default=500, ge=1, description="sessions of older clients that each token may have"
    )
    header_s: float = Field(
        default=10, gt=0, le=3600, description="seconds until a request's header must be there"
    )
    body_s: float = Field(
        default=60, gt=0, le=3600, description="seconds from there until its body must be"
    )
    audit: Path | None = Field(
        default=None, description="a file that gets one line of JSON for each call"
    )
    audit_max_bytes: int = Field(
        default=16_777_216, ge=4096, description="a larger audit file makes room; four are kept"
    )
    metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="a port for /metrics alone; else on the main one"
    )
    webhook: SecretUrl | None = Field(
        default=None, description="the address that users' actions are told to"
    )
    webhook_secret: Secret | None = Field(
        default=None, description="signs what is sent there; in the environment or widgetd.toml"
    )
    webhook_private: bool = Field(
        default=False, description="the webhook may be on this machine or network, and plain http"
    )
    state_dir: Path | None = Field(
        default=None, description="a folder for what makes the next start quicker; disposable"
    )
    toolset: Toolsets = Field(
        default=(), description="further built-in tools: author, operate, pictures, ..."
    )
    keyword_tools: Words = Field(
        default=(), description="keywords that are tools of their own: all, or names, or -names"
    )
    session_most: int = Field(
        default=8, ge=1, description="sessions in the browser at the same time"
    )
    session_idle_s: float = Field(
        default=300, gt=0, le=3600, description="seconds until one that nobody uses ends"
    )
    browser_at_once: int = Field(
        default=2, ge=1, le=16, description="pictures that are drawn at the same time"
    )
    upstreams: Path | None = Field(
        default=None, description="a file of other servers, which fill widgets"
    )
    page_size: int = Field(default=0, ge=0, description="tools on one page of a list; 0 for all")
    poll: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="seconds between surveys, without file events",
    )
    strict: bool = Field(
        default=False, description="undeclared names are faults, and no argument is mended"
    )
    gallery: bool = Field(default=False, description="show the widgets to people, at /")
    chat: bool = Field(
        default=False, description="talk to an agent that uses the widgets, at /chat"
    )
    chat_model: str = Field(
        default="scripted", description="the chat's model, by its endpoint's name; scripted: none"
    )
    chat_url: SecretUrl = Field(
        default=SecretUrl(OPENAI_URL),
        description="the OpenAI-compatible endpoint that has it, ending in /v1",
    )
    chat_key: Secret | None = Field(
        default=None, description="the key for it; in the environment or widgetd.toml"
    )
    chat_instructions: Path | None = Field(
        default=None, description="a file with what the chat's model is told before everything"
    )
    allow_upload: bool = Field(
        default=False, description="let the gallery put files into the folder"
    )
    include: Words = Field(default=(), description="only widgets with one of these tags or names")
    exclude: Words = Field(default=(), description="no widgets with one of these tags or names")
    access_log: bool = Field(
        default=False, description="log each request over HTTP; else at level debug alone"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the least important event that is logged"
    )

    _made: str = PrivateAttr(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def made_token(self) -> str:
        """The token that was made because nothing else lets anybody in; empty if none was."""
        needed = self.token_file is None and not self.jwt_jwks
        return self._made if self.token is not None and needed else ""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The Host headers to accept besides loopback."""
        public = (urlsplit(self.public_url).netloc,) if self.public_url else ()
        return (*self.allowed_host, *public)

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
        "dir",
        "token_file",
        "audit",
        "state_dir",
        "upstreams",
        "chat_instructions",
        mode="before",
    )
    @classmethod
    def _home(cls, value: object) -> object:
        try:
            return Path(value).expanduser() if isinstance(value, str) else value
        except RuntimeError:
            raise PydanticCustomError(
                "home", "nobody has that home; write the whole path"
            ) from None


SECRETS = frozenset(
    name
    for name, field in Settings.model_fields.items()
    if {Secret, SecretUrl}.intersection((field.annotation, *get_args(field.annotation)))
) | {"token"}
"""Settings whose values are never shown; a token may be written where `auto` belongs."""


def descriptions() -> Mapping[str, str]:
    """What each setting is for, by its name."""
    return {name: field.description or "" for name, field in Settings.model_fields.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Settings, and where each came from: `flag`, `WIDGETD_PORT`, `widgetd.toml` or `default`."""

    settings: Settings
    origins: Mapping[str, str]


def settle(
    flags: Mapping[str, Any], environ: Mapping[str, str], file: Path | None = None
) -> Settled:
    """Find the value of every setting.

    A flag that is None counts as unsaid. Without a file, it is `widgetd.toml` in the working
    directory, if that is there.

    Raises:
        ConfigError: A setting is unknown (W0001) or its value cannot be used (W0002).
    """
    layers = [_file_layer(file)]
    for variable, value in environ.items():
        if variable.startswith(PREFIX):
            name = variable.removeprefix(PREFIX).lower()
            _demand_known(name, variable)
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
        shown = origin = origins[name]
        if origin == "flag":
            shown = f"--{name.replace('_', '-')}"
        elif origin.endswith(".toml"):
            shown = f"{origin}: {name}"
        advice = first["msg"].lower().replace("input ", "it ")
        problem = f"{shown} cannot be {first['input']!r}"
        if name in SECRETS:
            problem = f"the value of {shown} cannot be used"
        raise ConfigError("W0002", problem, advice) from None


def _file_layer(file: Path | None) -> tuple[str, dict[str, Any]]:
    path = Path(FILE) if file is None else file
    if file is None and not path.is_file():
        return FILE, {}
    try:
        layer = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "W0006", f"{path} cannot be read ({error})", "mend it", exit_code=3
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("W0002", f"{path} is not TOML ({error})", "mend that line") from None
    for name in layer:
        _demand_known(name, f"{path}: '{name}'")
    return path.name, layer


def _demand_known(name: str, shown: str) -> None:
    if name in Settings.model_fields:
        return
    match = nearest(name, tuple(Settings.model_fields))
    like = shown.replace(name, match or "").replace(name.upper(), (match or "").upper())
    advice = f"did you mean {like}?" if match else "`widgetd settings` lists all of them"
    raise ConfigError("W0001", f"{shown} is not a setting", advice)


def require_files_outside(settings: Settings, folder: Path) -> None:
    """Refuse operators' files in the served folder, where users may put and replace files.

    An upstreams file names programs that are run, and a token file grants everything.

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


def folder_of(settings: Settings) -> Path:
    """The folder that `settings` means: the one named, else ./widgets, else the bundled ones.

    Raises:
        ConfigError: The folder that was named is not there (W0003), or is none (W0004).
    """
    if settings.dir is None:
        here = Path("widgets")
        return here if here.is_dir() else bundled_folder()
    if not settings.dir.exists():
        raise ConfigError(
            "W0003", f"there is no folder {settings.dir}", "make it, or name another", exit_code=3
        )
    if not settings.dir.is_dir():
        advice = "name the folder that it lies in"
        raise ConfigError("W0004", f"{settings.dir} is a file", advice, exit_code=3)
    return settings.dir
