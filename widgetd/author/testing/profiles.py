"""The known hosts, each a TOML file in `author/testing/hosts/`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from pydantic import TypeAdapter

from widgetd.author.browser.emulated_stage import HostProfile
from widgetd.base.errors import ConfigError
from widgetd.base.text_search import did_you_mean

ALL = "all"
"""The name of all hosts."""


@cache
def host_profiles() -> Mapping[str, HostProfile]:
    read = TypeAdapter(HostProfile).validate_python
    folder = files("widgetd.author.testing") / "hosts"
    found = {
        one.name.removesuffix(".toml"): read(tomllib.loads(one.read_text(encoding="utf-8")))
        for one in folder.iterdir()
        if one.name.endswith(".toml")
    }
    return MappingProxyType(dict(sorted(found.items())))


def choose_profiles(name: str) -> Mapping[str, HostProfile]:
    """Return the host of a name, or all hosts; none for an empty name.

    Raises:
        ConfigError: There is no such host (W0002).
    """
    known = host_profiles()
    if not name:
        return {}
    if name == ALL:
        return known
    if name not in known:
        advice = did_you_mean(name, known, f"there are {ALL}, {', '.join(known)}")
        raise ConfigError("W0002", f"there is no host '{name}' to emulate", advice)
    return {name: known[name]}
