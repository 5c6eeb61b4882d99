"""argv -> exit code. Every command is a sentence here and a call into a room.

Exit codes: 0 ok, 1 faults, 2 a flag, setting or value, 3 a folder, port or permission.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, make_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
from cyclopts import App, CycloptsError, Parameter

from widgetd.config import Settings, Settled, folder_of, settle
from widgetd.errors import CallError, ConfigError, WidgetError

if TYPE_CHECKING:
    from widgetd.catalog.snapshot import Snapshot
    from widgetd.widget.compiled import Widget

app = App(
    name="widgetd",
    help="Serve ChatKit Studio widgets as typed MCP tools, and reload them as their files change.",
    help_format="plaintext",
    version_flags=["--version"],
)


def _flags() -> type:
    """A flag for each setting, so that the two can never differ."""
    return make_dataclass(
        "Flags",
        [
            (
                name,
                Annotated[
                    _flag_type(setting.annotation),
                    Parameter(help=setting.description, negative=""),
                ],
                field(default=None),
            )
            for name, setting in Settings.model_fields.items()
            if name not in ("dir", "profiles", "webhook_secret")
        ],
        kw_only=True,
        namespace={"__module__": __name__},
    )


def _flag_type(annotation: Any) -> Any:
    return list[str] | None if annotation == tuple[str, ...] else annotation | None


Flags = Parameter(name="*")(_flags())
Dir = Annotated[Path | None, Parameter(name="--dir", help="The folder of widgets.")]
Arguments = Annotated[str, Parameter(help="JSON, @FILE with JSON, or - for standard input.")]


@app.command
def serve(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR to MCP clients, and reload them as their files change.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        flags: One for each setting.
    """
    return _run(_settle(dir, flags).settings)


@app.command
def dev(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR, and show them in a gallery that follows every save.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        flags: One for each setting.
    """
    settled = settle({"dir": dir, **vars(flags), "gallery": True}, os.environ)
    return _run(settled.settings, readable=True)


def _run(settings: Settings, *, readable: bool | None = None) -> int:
    folder = folder_of(settings)

    import anyio

    from widgetd import daemon, log

    log.configure(settings.log_level, readable=readable)
    welcome = partial(_welcome, folder, gallery=settings.gallery, token=settings.made_token)
    anyio.run(lambda: daemon.serve(settings, folder, started=welcome), backend="asyncio")
    return 0


def _welcome(folder: Path, url: str, widgets: int, *, gallery: bool, token: str) -> None:
    """Tell a person where to go; over stdio there is nobody to tell."""
    if not url:
        return
    noun = "widget" if widgets == 1 else "widgets"
    print(f"widgetd serves {widgets} {noun} from {folder} on {url}")
    if gallery:
        print(f"Look at them:      {url.removesuffix('/mcp')}/")
    key = f' --header "Authorization: Bearer {token}"' if token else ""
    print(f"Connect a client:  claude mcp add --transport http widgetd {url}{key}", flush=True)


@app.command
def check(
    *paths: Path,
    json: bool = False,
    github: bool = False,
    strict: bool = False,
    against: str = "",
) -> int:
    """Say everything that can be said about widgets before anyone calls them.

    Exit code 1 if a file cannot be served as it stands.

    Args:
        paths: Folders, or single files. Default: the folder that `serve` would serve.
        json: Print a JSON array.
        github: Print annotations for a pull request.
        strict: Warnings count as faults.
        against: A git revision or a folder; say what broke for callers since then.
    """
    from widgetd import checking, report

    checked = checking.check(
        paths or (folder_of(settle({}, os.environ).settings),), strict=strict, against=against
    )
    form = report.as_json if json else report.as_github if github else report.as_text
    if text := form(checked.findings, checked.contents):
        print(text)
    if not (json or github):
        print(checked.conclusion)
    return 1 if checked.faults or (strict and checked.findings) else 0


@app.command
def usage(
    report: Literal["top", "errors", "slow"], *, audit: Path | None = None, json: bool = False
) -> int:
    """Say how widgets are used: which most, which fail, which are slow.

    Args:
        report: What to say.
        audit: The audit file; by default the one that `serve` would write.
        json: Print a JSON array.
    """
    from widgetd import usage as used

    path = audit or settle({}, os.environ).settings.audit
    if path is None:
        raise ConfigError("W0002", "no audit file is named", "name one with --audit")
    try:
        rows = used.REPORTS[report](used.read_calls(path))
    except OSError as error:
        problem = f"the audit file {path} cannot be read ({error.strerror})"
        raise ConfigError("W0006", problem, "name another with --audit", exit_code=3) from None
    if json:
        _print_json(rows)
    elif rows:
        print(used.table(rows))
    return 0


@app.command
def health(url: str = "http://127.0.0.1:8787/readyz") -> int:
    """Ask a running daemon whether it is ready; exit code 0 if it is, else 1.

    Args:
        url: Its `/readyz`.
    """
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - the operator names the address
            print(answer.read().decode())
    except (URLError, TimeoutError, ValueError) as error:
        return _complain(f"{url} does not say that it is ready ({error})", 1)
    return 0


@app.command(name="list")
def list_(*, dir: Dir = None, json: bool = False, tokens: bool = False) -> int:
    """List the widgets of a folder: tool name, title, description.

    Args:
        dir: The folder of widgets.
        json: Print a JSON array.
        tokens: Print instead what a model pays for each: to know the tool, and for a result of
            its first example in both profiles.
    """
    snapshot = _snapshot(dir)
    widgets = snapshot.widgets.values()
    if tokens:
        from widgetd.tools.tokens import table

        print(table(snapshot))
        return 0
    if json:
        rows = [
            {
                "name": widget.tool,
                "title": widget.definition.title,
                "description": widget.description,
                "path": widget.definition.path,
            }
            for widget in widgets
        ]
        _print_json(rows)
        return 0
    width = max((len(widget.tool) for widget in widgets), default=0)
    for widget in widgets:
        print(f"{widget.tool:{width}}  {widget.description}")
    return 0


@app.command
def render(name: str, *, dir: Dir = None, arguments: Arguments = "") -> int:
    """Render one widget and print its tree.

    Args:
        name: The tool's name, as `widgetd list` prints it.
        dir: The folder of widgets.
        arguments: JSON, @FILE with JSON, or - for standard input; by default an example.
    """
    widget = _widget(_snapshot(dir), name)
    given = _read_arguments(arguments) if arguments else widget.example
    _print_json(widget.call(given or {}).tree)
    return 0


@app.command
def mock(
    name: str,
    *,
    dir: Dir = None,
    state: Literal["sample", "empty", "one", "many", "long"] = "sample",
    seed: int = 0,
    count: int = 1,
    profile: Literal["chatkit", "split"] = "chatkit",
) -> int:
    """Print calls of one widget with their results, for front-end tests.

    Args:
        name: The tool's name, as `widgetd list` prints it.
        dir: The folder of widgets.
        state: Which kind of arguments.
        seed: The same seed gives the same bytes.
        count: How many calls.
        profile: Who sees the tree.
    """
    from widgetd.tools.mock import mocks
    from widgetd.tools.result import Policy

    snapshot = _snapshot(dir)
    widget = _widget(snapshot, name)
    policy = Policy(profile=profile)
    _print_json(mocks(widget, snapshot, state=state, seed=seed, count=count, policy=policy))
    return 0


@app.command
def shot(
    name: str,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    dir: Dir = None,
    arguments: Arguments = "",
    state: str = "sample",
    theme: Literal["light", "dark"] = "light",
    width: int = 400,
    scale: float = 2.0,
) -> int:
    """Take a picture of one widget.

    Args:
        name: The tool's name, as `widgetd list` prints it.
        output: The PNG file. Default: NAME.png.
        dir: The folder of widgets.
        arguments: JSON, @FILE with JSON, or - for standard input; instead of a state.
        state: A state of the gallery: sample, example-1, empty, one, many, long, rtl, emoji.
        theme: Light or dark.
        width: In CSS pixels; the height is the widget's own.
        scale: Pixels of the picture for each CSS pixel.
    """
    from widgetd import shots
    from widgetd.pages.gallery.states import arguments_of

    widget = _widget(_snapshot(dir), name)
    given = _read_arguments(arguments) if arguments else arguments_of(widget, state)
    taken = shots.Shot(
        tree=widget.call(given).tree,
        title=widget.definition.title,
        theme=theme,
        width=width,
        scale=scale,
        locale="ar" if state == "rtl" else "en-US",
    )
    file = output or Path(f"{name}.png")
    file.write_bytes(shots.picture(taken))
    print(file)
    return 0


@app.command(name="shots")
def shots_(
    dir: Path | None = None,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("shots"),
    width: int = 400,
    scale: float = 1.0,
) -> int:
    """Take a picture of every widget of DIR, light and dark, and one of them all.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        output: The folder for the pictures.
        width: In CSS pixels; the height is each widget's own.
        scale: Pixels of a picture for each CSS pixel.
    """
    from widgetd import shots

    wanted = shots.of_all(_snapshot(dir), width=width, scale=scale)
    for file in shots.photograph(wanted, output):
        print(file)
    return 0


@app.command
def codes() -> int:
    """Print every code by which widgetd says no, with what it means."""
    from widgetd.report import codes_as_markdown

    print(codes_as_markdown())
    return 0


@app.command
def types(*, lang: Literal["ts", "python"] = "ts", dir: Dir = None) -> int:
    """Print types of what widgetd answers and of what each widget takes.

    Args:
        lang: TypeScript, or Python typed dictionaries.
        dir: The folder of widgets.
    """
    from widgetd.declarations.module import declarations

    print(declarations(_snapshot(dir), lang))
    return 0


@app.command
def new_sidecar(path: Path) -> int:
    """Write a sidecar beside a .widget file: what Studio cannot say of it.

    Args:
        path: The file.
    """
    from widgetd.catalog.discovery import load_widget
    from widgetd.newsidecar import write_sidecar

    if not path.is_file():
        raise ConfigError("W0003", f"there is no file {path}", "name another", exit_code=3)
    print(write_sidecar(path, load_widget(path)))
    return 0


@app.command
def config(host: str, *, url: str = "http://127.0.0.1:8787/mcp") -> int:
    """Print what connects a host (claude-code, cursor, vscode, …) to a running daemon.

    Args:
        host: claude-desktop, claude-code, cursor, vscode, chatgpt, codex, goose, gemini-cli,
            langgraph or openai-agents.
        url: Where MCP is served.
    """
    from widgetd.snippets import snippet

    print(snippet(host, url))
    return 0


@app.command
def settings(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Print the value of every setting, and where it comes from."""
    settled = _settle(dir, flags)
    values = settled.settings.model_dump(mode="json")
    width = max(map(len, values))
    for name, value in values.items():
        shown = orjson.dumps(value).decode()
        print(f"{name:{width}}  {shown}  ({settled.origins[name]})")
    return 0


def _settle(dir: Path | None, flags: object) -> Settled:
    return settle({"dir": dir, **vars(flags)}, os.environ)


def _snapshot(dir: Path | None) -> Snapshot:
    from widgetd.workshop import look

    settings = settle({"dir": dir}, os.environ).settings
    return look(settings, folder_of(settings))


def _widget(snapshot: Snapshot, name: str) -> Widget:
    from widgetd.tools.standing import unknown_widget

    if name not in snapshot.widgets:
        raise unknown_widget(name, snapshot.widgets)
    return snapshot.widgets[name]


def _read_arguments(text: str) -> Mapping[str, Any]:
    if text == "-":
        content = sys.stdin.buffer.read()
    elif text.startswith("@"):
        try:
            content = Path(text[1:]).read_bytes()
        except OSError as error:
            problem = f"{text[1:]} cannot be read ({error.strerror})"
            raise ConfigError("W0006", problem, "name another file", exit_code=3) from None
    else:
        content = text.encode()
    try:
        arguments = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ConfigError("W0002", f"--arguments is not JSON ({error})", "quote it") from None
    if not isinstance(arguments, dict):
        raise ConfigError("W0002", "--arguments is no JSON object", 'write {"name": value}')
    return arguments


def _print_json(value: object) -> None:
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` names, and answer the exit code."""
    try:
        return app(argv, exit_on_error=False, print_error=False, result_action="return_value") or 0
    except CycloptsError as error:
        return _complain(str(error), 2)
    except ConfigError as error:
        return _complain(f"{error.problem}; {error.advice} [{error.code}]", error.exit_code)
    except (CallError, WidgetError) as error:
        return _complain(str(error), 1)


def _complain(sentence: str, exit_code: int) -> int:
    print(f"widgetd: {sentence}", file=sys.stderr)
    return exit_code
