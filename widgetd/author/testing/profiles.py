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
    profiles = {
        file.name.removesuffix(".toml"): read(tomllib.loads(file.read_text(encoding="utf-8")))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }
    return MappingProxyType(dict(sorted(profiles.items())))


def choose_profiles(name: str) -> Mapping[str, HostProfile]:
    """Return the host of a name, or all hosts. None for an empty name.

    Raises:
        ConfigError: There is no such host (W0002).
    """
    profiles = host_profiles()
    if not name:
        return {}
    if name == ALL:
        return profiles
    if name not in profiles:
        advice = did_you_mean(name, profiles, f"there are {ALL}, {', '.join(profiles)}")
        raise ConfigError("W0002", f"there is no host '{name}' to emulate", advice)
    return {name: profiles[name]}
