"""The tables of docs/hosts.md, made of the profiles of known hosts."""

from __future__ import annotations

from pathlib import Path

from widgetd.author.testing.profiles import host_profiles
from widgetd.cli.client_config import HOSTS as CONFIGURATIONS
from widgetd.server.render.hosts import HOSTS

PAGE = Path(__file__).resolve().parents[1] / "hosts.md"

START, END = (
    "<!-- Made by `make reference` from widgetd/author/testing/hosts/. -->",
    "<!-- End. -->",
)


def hosts_page() -> str:
    """Return the page with its tables regenerated from the profiles."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    return f"{before}{START}\n\n{_profiles()}\n\n{_others()}\n\n{END}{after}"


def _profiles() -> str:
    rows = [
        f"| `{name}` | {host.title} | {_names(host.config)} | `{host.client}` | {host.does} "
        f"| {host.answer} |"
        for name, host in host_profiles().items()
    ]
    head = "| `--client` | host | `widgetd config` | name | what it does | what widgetd does |"
    return "\n".join((head, "|---|---|---|---|---|---|", *rows))


def _others() -> str:
    profiles = host_profiles().values()
    emulated = {name for host in profiles for name in host.config}
    others = _names(tuple(sorted(CONFIGURATIONS.keys() - emulated)))
    named = {host.client for host in profiles}
    known = _names(tuple(sorted(HOSTS.keys() - named)))
    return (
        f"Without a profile, because they draw no views or draw them as `plain` does: {others} of "
        f"`widgetd config`. Also known by the name that they send: {known}."
    )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
