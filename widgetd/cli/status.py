"""`widgetd status`: ask daemons whether they are ready, and report how widgets are used."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from typing import Annotated, Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import orjson
from cyclopts import Parameter

from widgetd.base.errors import ConfigError
from widgetd.base.system import SYSTEM
from widgetd.cli.limits import LIMITS
from widgetd.cli.options import complain
from widgetd.cli.running import list_daemons
from widgetd.cli.shell import read_settings
from widgetd.server.command import count_of, print_json

PATHS = ("/readyz", "/mcp", "/status")
"""What people may have copied with a daemon's address."""


def status(
    url: str = "",
    *,
    usage: Literal["top", "errors", "slow"] | None = None,
    audit: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Ask a daemon whether it is ready, and report how its widgets are used.

    Exit code 0 if it is ready, 1 if it is not, or gives no answer within 2 s.

    Args:
        url: Its address, as http://127.0.0.1:8787. Default: your daemons on this machine, else
            the address of the settings.
        usage: Report from the audit file instead: the most used, the failing, the slow widgets.
        audit: The audit file, by default that of `serve`.
        json: Print JSON: the daemon's own answer, or the rows of the report.
    """
    if usage is not None:
        _report_usage(usage, audit or read_settings().audit, as_json=json)
        return 0
    urls = [_base_of(url)] if url else [daemon.url for daemon in list_daemons()]
    answers = _ask(urls or [_configured_url()])
    if json:
        print_json([{"url": daemon, **answer} for daemon, answer in answers.items()])
    for daemon, answer in answers.items():
        if not answer["ready"]:
            reason = answer.get("reason") or "it has not read its folder, or it is ending"
            complain(f"{daemon} is not ready ({reason})", 1)
        elif not json:
            widgets, stale = count_of(answer["widgets"], "widget"), answer["stale"]
            print(f"{daemon} is ready: {widgets}, {stale} stale, {answer['refused']} refused")
    return int(not all(answer["ready"] for answer in answers.values()))


def _base_of(url: str) -> str:
    url = url if "://" in url else f"http://{url}"
    if urlsplit(url).scheme not in ("http", "https"):
        problem, advice = f"{url} is no address of a daemon", "write http://HOST:PORT"
        raise ConfigError("W0002", problem, advice)
    url = url.rstrip("/")
    return next((url.removesuffix(path) for path in PATHS if url.endswith(path)), url)


def _configured_url() -> str:
    settings = read_settings()
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - read, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _ask(urls: list[str]) -> dict[str, dict[str, Any]]:
    late = {"ready": False, "reason": f"no answer within {LIMITS.status_s} s"}
    answers = dict.fromkeys(urls, late)

    def ask(url: str) -> None:
        answers[url] = _read_readiness(url)

    # A timeout of a socket bounds each read, and no look-up of a name.
    threads = [Thread(target=partial(ask, url), daemon=True) for url in answers]
    until_s = SYSTEM.clock.steady_s() + LIMITS.status_s
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until_s - SYSTEM.clock.steady_s()))
    return dict(answers)


def _read_readiness(url: str) -> dict[str, Any]:
    try:
        with urlopen(f"{url}/readyz", timeout=LIMITS.status_s) as response:  # noqa: S310 - the operator names the address
            content = response.read(LIMITS.record_bytes)
    except HTTPError as error:  # 503 with the same answer
        content = error.read(LIMITS.record_bytes)
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        return {"ready": False, "reason": getattr(reason, "strerror", None) or str(reason)}
    answer: object = None
    with suppress(orjson.JSONDecodeError):
        answer = orjson.loads(content)
    if isinstance(answer, dict) and {"ready", "widgets", "stale", "refused"} <= answer.keys():
        return answer
    return {"ready": False, "reason": "what answers there is no widgetd"}


def _report_usage(report: str, path: Path | None, *, as_json: bool) -> None:
    from widgetd.server.observe import audit_report

    if path is None:
        raise ConfigError("W0002", "no audit file is named", "name one with --audit")
    try:
        rows = audit_report.REPORTS[report](audit_report.read_calls(path))
    except OSError as error:
        problem = f"the audit file {path} cannot be read ({error.strerror})"
        raise ConfigError("W0006", problem, "name another with --audit", exit_code=3) from None
    if as_json:
        print_json(rows)
    elif rows:
        print(audit_report.table(rows))
