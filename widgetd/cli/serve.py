"""Commands about a daemon: run one, ask one, say how one would be set."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import orjson

from widgetd.cli.flags import Flags, settled_by
from widgetd.cli.printing import complain
from widgetd.daemon.startup import hasten
from widgetd.settings import Settings, folder_of


def serve(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR to MCP clients, and reload them as their files change.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        flags: One for each setting.
    """
    return _run(settled_by(dir, flags).settings)


def dev(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR, and show them in a gallery that follows every save.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        flags: One for each setting.
    """
    return _run(settled_by(dir, flags, gallery=True).settings, readable=True)


def _run(settings: Settings, *, readable: bool | None = None) -> int:
    folder = folder_of(settings)
    hasten()

    import anyio

    from widgetd.daemon import log
    from widgetd.daemon.serve import serve as serve_folder

    log.configure(settings.log_level, readable=readable)
    welcome = partial(_welcome, folder, gallery=settings.gallery, token=settings.made_token)
    anyio.run(lambda: serve_folder(settings, folder, started=welcome), backend="asyncio")
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
        return complain(f"{url} does not say that it is ready ({error})", 1)
    return 0


def settings(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Print the value of every setting, and where it comes from."""
    settled = settled_by(dir, flags)
    values = settled.settings.model_dump(mode="json")
    width = max(map(len, values))
    for name, value in values.items():
        shown = orjson.dumps(value).decode()
        print(f"{name:{width}}  {shown}  ({settled.origins[name]})")
    return 0
