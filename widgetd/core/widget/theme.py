"""The theme of a widgets folder, `theme.toml`: colors, fonts and radii for every widget.

It becomes the style variables of hosts, in both themes. The view's table `palette.json`
lists the variables in use, with their tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field, create_model

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.folder import open_folder
from widgetd.base.files.source import Source, Unsettled, read
from widgetd.base.limits import Limits
from widgetd.base.text_search import Pattern, compile_pattern
from widgetd.core.schema.json_text import decode
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.sidecar import SidecarPart, find_line, parse_toml

THEME_FILE = "theme.toml"

MODES = ("light", "dark")

_AREA = "--color-background-"
_BACKGROUND, _TEXT = f"{_AREA}primary", "--color-text-primary"
_ACCENT, _ON_ACCENT = f"{_AREA}inverse", "--color-text-inverse"
_COLORS = MappingProxyType(
    {
        "background": (_BACKGROUND,),
        "text": (_TEXT,),
        "accent": (_ACCENT, "--color-ring-primary"),
        "on_accent": (_ON_ACCENT,),
    }
)
_RADII = MappingProxyType({"xs": 0.5, "sm": 0.75, "md": 1.0, "lg": 1.25, "xl": 1.5})
"""Radii as multiples of `radius`, as those of the view are."""

LEAST_CONTRAST = MappingProxyType({"text": 4.5, "large": 3.0})
"""For texts, and for those of 24 px and more. Source: WCAG 2.2, success criterion 1.4.3."""

_GENERIC = frozenset({"serif", "sans-serif", "monospace", "system-ui"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """A theme as style variables.

    Attributes:
        variables: `{"light": {"--color-text-primary": "#431407", ...}, "dark": {...}}`.
        json: The same as JSON, empty without a theme.
        findings: The texts with little contrast.
    """

    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    json: bytes = b""
    findings: tuple[Finding, ...] = ()

    def background(self, mode: str) -> str:
        own = "#ffffff" if mode == "light" else "#303030"
        return self.variables.get(mode, {}).get(_BACKGROUND, own)


NO_THEME = Theme()


def read_theme(source: Source) -> Theme:
    """Parse `theme.toml`.

    Raises:
        WidgetError: As `read_sidecar`.
    """
    parsed = parse_toml(source, _model()).model_dump(by_alias=True, exclude_none=True)
    shared = dict(_expand_shared(parsed))
    variables = {
        mode: {
            **shared,
            **{name: parsed[mode][key] for key in parsed[mode] for name in _COLORS.get(key, ())},
            **parsed[mode]["variables"],
        }
        for mode in MODES
    }
    findings = tuple(_check_contrast(source, variables))
    return Theme(variables=variables, json=to_json(variables), findings=findings)


def read_folder_theme(folder: Path) -> Theme:
    """Return the theme of a folder: none where it has no `theme.toml`, or a broken one."""
    with suppress(OSError, WidgetError, Unsettled), open_folder(folder) as root:
        return read_theme(read(root, THEME_FILE, limit_bytes=Limits().file_bytes, quiet_ms=0))
    return NO_THEME


def _check_contrast(
    source: Source, variables: Mapping[str, Mapping[str, str]]
) -> Iterator[Finding]:
    for mode, colors in variables.items():
        for name, text in colors.items():
            # What pages lay behind a text.
            kind = name.removeprefix("--color-text-")
            plain = ("primary", "secondary", "tertiary") if name != _ON_ACCENT else ()
            areas = [colors[_AREA + area] for area in (*plain, kind) if _AREA + area in colors]
            if kind == name or not areas:
                continue
            behind = min(areas, key=partial(contrast, text))
            ratio = contrast(text, behind)
            if ratio < LEAST_CONTRAST["text"]:
                nearest = find_readable(text, behind)
                on = behind + ", enough for large texts alone" * (ratio >= LEAST_CONTRAST["large"])
                key = next((key for key, names in _COLORS.items() if name in names), name)
                at = key if key in _COLORS else f"variables/{name}"
                yield Finding(
                    code="W1417",
                    path=source.path,
                    line=find_line(decode(source.content), f"/{mode}/{at}"),
                    problem=f"'{key}' in {mode} has a contrast of {ratio:.1f} : 1 on {on}",
                    advice=f"write {nearest}, which can be read; pages move it by themselves",
                )


def find_readable(text: str, behind: str, least: float = LEAST_CONTRAST["text"]) -> str:
    end = max(("#000000", "#ffffff"), key=lambda color: contrast(color, behind))
    for percent in range(101):
        parts = zip(_read_parts(text), _read_parts(end), strict=True)
        mixed = (round(start + (other - start) * percent / 100) for start, other in parts)
        color = "#" + "".join(f"{part:02x}" for part in mixed)
        if contrast(color, behind) >= least:
            return color
    return end


def _read_parts(color: str) -> list[int]:
    digits = color[1:] if len(color) > 4 else "".join(2 * digit for digit in color[1:])
    return [int(digits[at : at + 2], 16) for at in (0, 2, 4)]


def contrast(color: str, other: str) -> float:
    """Return the contrast of two colors as `#rrggbb` or `#rgb`, from 1 to 21.

    Source: WCAG 2.2, contrast ratio and relative luminance.
    """
    light, dark = sorted((_luminance(color), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    parts = [part / 255 for part in _read_parts(color)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _expand_shared(parsed: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, name in (("font", "--font-sans"), ("mono_font", "--font-mono")):
        if key in parsed:
            fonts = (font.strip() for font in parsed[key].split(","))
            yield name, ", ".join(font if font in _GENERIC else f'"{font}"' for font in fonts)
    if "radius" in parsed:
        unit = parsed["radius"].lstrip(".0123456789")
        number = float(parsed["radius"].removesuffix(unit))
        for size, factor in _RADII.items():
            yield f"--border-radius-{size}", f"{number * factor:g}{unit}"


_COLOR = compile_pattern(r"\A#(?:[0-9a-fA-F]{3}){1,2}\Z")
_LENGTH = compile_pattern(r"\A[0-9]{1,3}(?:\.[0-9]{1,3})?(?:px|rem)\Z")
_FONTS = compile_pattern(r"\A[A-Za-z][\w -]{0,59}(?:, ?[A-Za-z][\w -]{0,59}){0,7}\Z")


def _as(pattern: Pattern[str], advice: str) -> AfterValidator:
    def check(value: str) -> str:
        if pattern.match(value) is None:
            raise ValueError(f"write {advice}")
        return value

    return AfterValidator(check)


Color = Annotated[str, _as(_COLOR, "a color as '#0f766e'")]
Length = Annotated[str, _as(_LENGTH, "a length as '8px'")]
Fonts = Annotated[str, _as(_FONTS, "names of fonts as 'Inter, serif'")]


@cache
def _model() -> type[SidecarPart]:
    table = orjson.loads((files("widgetd.view") / "palette.json").read_bytes())
    names = {f"v{at}": f"--color-{name}" for at, name in enumerate(table)}
    optional: dict[str, Any] = {
        key: (Color | None, Field(default=None, alias=name)) for key, name in names.items()
    }
    variables = create_model("ThemeVariables", __base__=SidecarPart, **optional)
    optional = dict.fromkeys(_COLORS, (Color | None, None))
    optional["variables"] = (variables, Field(default_factory=variables))
    colors = create_model("ThemeColors", __base__=SidecarPart, **optional)
    optional = dict.fromkeys(("font", "mono_font"), (Fonts | None, None))
    optional["radius"] = (Length | None, None)
    optional |= dict.fromkeys(MODES, (colors, Field(default_factory=colors)))
    return create_model("ThemeFile", __base__=SidecarPart, **optional)
