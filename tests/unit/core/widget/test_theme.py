"""The theme of a folder: what its keys become, and which line a mistake is in."""

from __future__ import annotations

import pytest

from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.core.widget.theme import Theme, read_theme


def read_text(text: str) -> Theme:
    return read_theme(Source(path="theme.toml", content=text.encode(), digest=""))


def test_keys_become_the_style_variables_of_hosts() -> None:
    theme = read_text(
        """
        font = "Source Sans 3, serif"
        radius = "8px"
        [light]
        background = "#fff7ed"
        accent = "#0f766e"
        [light.variables]
        "--color-text-danger" = "#a00"
        """
    )

    assert theme.variables["light"] == {
        "--font-sans": '"Source Sans 3", serif',
        "--border-radius-xs": "4px",
        "--border-radius-sm": "6px",
        "--border-radius-md": "8px",
        "--border-radius-lg": "10px",
        "--border-radius-xl": "12px",
        "--color-background-primary": "#fff7ed",
        "--color-background-inverse": "#0f766e",
        "--color-ring-primary": "#0f766e",
        "--color-text-danger": "#a00",
    }
    assert theme.variables["dark"].keys() < theme.variables["light"].keys()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x =", "line 1: this is not TOML (invalid value)"),
        ("[ligt]", "line 1: the key 'ligt' is unknown; did you mean 'light'?"),
        ("[dark]\ntexd = '#fff'", "line 2: the key 'dark.texd' is unknown; did you mean 'text'?"),
        ("[dark]\ntext = 'red'", "line 2: 'dark.text' cannot be 'red'; write a color as '#0f766e'"),
        ("radius = '1vw'", "line 1: 'radius' cannot be '1vw'; write a length as '8px'"),
        (
            "font = 'url(https://a.example)'",
            "line 1: 'font' cannot be 'url(https://a.example)'; write names of fonts",
        ),
        (
            "[dark.variables]\n'--color-txt-danger' = '#fff'",
            "line 2: the key 'dark.variables.--color-txt-danger' is unknown; did you mean",
        ),
    ],
)
def test_mistake_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        read_text(text)

    assert str(caught.value).startswith(f"theme.toml: {message}")


def test_faint_text_is_reported_with_its_line_and_the_nearest_readable_color() -> None:
    [finding] = read_text(
        """
        [light]
        background = "#fff"
        text = "#bbb"
        accent = "#0f766e"
        on_accent = "#ffffff"
        """
    ).findings

    assert (finding.code, finding.line) == ("W1417", 4)
    assert finding.problem == "'text' in light has a contrast of 1.9 : 1 on #fff"
    assert finding.advice == "write #767676, which can be read; pages move it by themselves"


def test_color_for_large_texts_alone_is_reported_as_such() -> None:
    [finding] = read_text('[dark]\nbackground = "#222"\ntext = "#777"').findings

    on = "#222, enough for large texts alone"
    assert finding.problem == f"'text' in dark has a contrast of 3.6 : 1 on {on}"


@pytest.mark.parametrize("area", ["primary", "secondary", "tertiary", "danger"])
def test_text_is_compared_with_each_area_that_can_be_behind_it(area: str) -> None:
    [finding] = read_text(
        f"""
        [light.variables]
        "--color-background-{area}" = "#222"
        "--color-text-danger" = "#611"
        """
    ).findings

    assert finding.line == 4
    assert finding.problem.endswith("in light has a contrast of 1.3 : 1 on #222")


def test_text_is_not_compared_with_the_areas_of_other_kinds() -> None:
    theme = read_text(
        """
        [light.variables]
        "--color-background-success" = "#222"
        "--color-background-inverse" = "#222"
        "--color-text-danger" = "#222"
        """
    )

    assert theme.findings == ()
