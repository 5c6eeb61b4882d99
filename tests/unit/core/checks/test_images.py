from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from widgetd import load_widget
from widgetd.base.files.source import Source
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.images import find_image_origins
from widgetd.core.widget.samples import list_examples
from widgetd.core.widget.theme import NO_THEME, Theme, read_theme
from widgetd.server.catalog.loader import load

GIVEN = '{"type":"Card","children":[{"type":"Image","src":{{ src | tojson }}}]}'
ADDRESS = {"type": "string", "format": "uri"}


def image_messages(
    template: str = GIVEN,
    toml: str = "",
    *,
    allowed: tuple[str, ...] = (),
    theme: Theme = NO_THEME,
    **schema: Any,
) -> list[str]:
    file = {
        "version": "1.0",
        "name": "Parcel",
        "description": "Show a parcel.",
        "template": template,
        "jsonSchema": {
            "type": "object",
            "properties": {"src": ADDRESS},
            "required": ["src"],
            **schema,
        },
    }
    source = Source(path="parcel.widget", content=json.dumps(file).encode(), digest="")
    sidecar = Source(path="parcel.widget.toml", content=toml.encode(), digest="")
    findings = check_widget(load(source, sidecar), image_origins=allowed, theme=theme)
    return [
        str(one)
        for one in findings
        if one.code in ("W1330", "W1410", "W1123", "W1401", "W1411", "W1415", "W1416")
    ]


BUTTONS = (
    '{"type":"Card","children":[\n{"type":"Button","label":"View"},\n'
    '{"type":"Button","onClickAction":{"type":"go"}},{"type":"Button","label":"Send","submit":true},'
    '{"type":"Button","iconStart":"check","onClickAction":{"type":"go"}}]}'
)


NOTHING = '[[examples]]\narguments = { src = "data:," }\n'


def test_button_without_effect_or_name_is_reported() -> None:
    findings = image_messages(BUTTONS, '[[examples]]\narguments = { src = "data:," }\n')

    assert sorted(findings) == [
        (
            "parcel.widget#/template: line 2: the button 'View' does nothing when it is pressed; "
            "write its 'onClickAction', or 'submit' in a form"
        ),
        (
            "parcel.widget#/template: line 3: a button has neither a label nor an icon; "
            "write its 'label'"
        ),
    ]


def test_key_written_twice_is_reported_once_with_the_intended_key() -> None:
    inputs = '{"type":"Input","name":"a","type":"email"},\n{"type":"Row","gap":1,"gap":2}'
    example = '[[examples]]\narguments = { src = "data:," }\n'

    assert image_messages(f'{{"type":"Card","children":[{inputs}]}}', example) == [
        (
            "parcel.widget#/template: line 1: 'type' is written twice in 'Input'; "
            "write its kind as 'inputType'"
        ),
        "parcel.widget#/template: line 2: 'gap' is written twice in 'Row'; leave one of them out",
    ]


@pytest.mark.parametrize(
    ("color", "themes"),
    [
        ("#222222", ["1.2 : 1 in dark"]),
        ("#eee", ["1.2 : 1 in light"]),
        ("#888888", ["3.5 : 1 in light", "3.7 : 1 in dark"]),
        ("#7b7b7b", ["4.2 : 1 in light", "3.1 : 1 in dark"]),
        ("#eeef", ["1.2 : 1 in light"]),
        ("#eee8", []),
        ("gold", ["1.4 : 1 in light"]),
        ("Navy", ["1.2 : 1 in dark"]),
        ("steelblue", ["4.1 : 1 in light", "3.2 : 1 in dark"]),
        ({"light": "#767676", "dark": "#a0a0a0"}, []),
        # The hue of the palette; the yellow of CSS has 1.1 : 1.
        ("yellow", ["1.6 : 1 in light"]),
        ("gray", []),
        ("rgb(34, 34,34)", ["1.2 : 1 in dark"]),
        ("rgba(34, 34, 34, 0.5)", []),
        ("secondary", []),
        ("yellow-500", []),
        ({"light": "#eee", "dark": "gold"}, ["1.2 : 1 in light"]),
    ],
)
def test_literal_color_of_a_text_is_compared_with_the_card_in_both_themes(
    color: str | dict[str, str], themes: list[str]
) -> None:
    text = f'{{"type":"Text","value":"a","color":{json.dumps(color)}}}'
    boxed = f'{{"type":"Box","background":"#fff","children":[{text}]}}'
    example = '[[examples]]\narguments = { src = "data:," }\n'

    findings = image_messages(f'{{"type":"Card","children":[{text}]}}', example)

    assert [one.partition("contrast of ")[2].partition(" on ")[0] for one in findings] == themes
    assert image_messages(f'{{"type":"Card","children":[{boxed}]}}', example) == []


FOLDER = b"""
[light]
background = "#fff7ed"
[dark]
background = "#222222"
"""


@pytest.mark.parametrize(
    ("component", "findings"),
    [
        (
            {"type": "Text"},
            [
                "4.4 : 1 in light on the background #fff7ed; write #727272 for light, or",
                "3.4 : 1 in dark on the background #222222; write #898989 for dark, or",
            ],
        ),
        ({"type": "Title", "size": "lg"}, []),
        ({"type": "Title", "size": "md"}, ["4.4 : 1 in light", "3.4 : 1 in dark"]),
    ],
)
def test_literal_color_is_compared_with_the_folders_theme_at_the_size_of_its_text(
    component: dict[str, str], findings: list[str]
) -> None:
    theme = read_theme(Source(path="theme.toml", content=FOLDER, digest=""))
    text = json.dumps({**component, "value": "a", "color": "#747474"})

    messages = image_messages(f'{{"type":"Card","children":[{text}]}}', NOTHING, theme=theme)

    for message, finding in zip(messages, findings, strict=True):
        assert f"the color '#747474' of a text has a contrast of {finding}" in message


def test_spacing_in_pixels_is_reported_in_units() -> None:
    spaces = '{"type":"Row","gap":16,"padding":{"x":24,"y":2},"margin":"24px"}'

    assert image_messages(f'{{"type":"Card","padding":4,"children":[{spaces}]}}', NOTHING) == [
        (
            "parcel.widget#/template: line 1: 'gap' of 'Row' is 16 units, which are 64 px; "
            "write 4 for 16 px"
        ),
        (
            "parcel.widget#/template: line 1: 'padding' of 'Row' is 24 units, which are 96 px; "
            "write 6 for 24 px"
        ),
    ]


JSX = """\
const schema = { type: "object", properties: { src: { type: "string" } }, required: ["src"] };
const sample = { src: "data:," };
<Card>
  <Image src={src} />
  <Text value="b" color="#222222" value="a" />
  <Row gap={24}><Button label="b" /></Row>
  <Image src="/a.png" />
</Card>"""


def test_component_findings_are_at_their_element() -> None:
    toml = Source(path="P.widget.jsx.toml", content=REMOTE.encode(), digest="")
    widget = load(Source(path="P.widget.jsx", content=JSX.encode(), digest=""), toml)

    findings = [one for one in check_widget(widget) if one.code != "W1116"]
    assert [(one.code, one.at, one.line, one.column) for one in findings] == [
        ("W1123", "", 5, 35),
        ("W1410", "", 4, 3),
        ("W1411", "", 5, 3),
        ("W1330", "", 6, 3),
        ("W1415", "", 6, 17),
        ("W1416", "", 7, 3),
    ]


def test_relative_address_of_an_image_is_reported() -> None:
    fixed = GIVEN.replace("{{ src | tojson }}", '"/a.png"')

    assert image_messages(fixed, '[[examples]]\narguments = { src = "data:," }\n') == [
        (
            "parcel.widget#/template: line 1: the address of an image is relative, and hosts draw "
            "none: '/a.png'; write whole addresses, as https://…, or send data: URIs"
        )
    ]


def example(src: str) -> str:
    return f"[[examples]]\narguments = {{ src = {json.dumps(src)} }}\n"


REMOTE = example("https://i.imgur.com/a.png")


def test_image_origins_of_a_sample_are_named_with_the_setting_to_write() -> None:
    [finding] = image_messages(toml=REMOTE)

    assert finding == (
        "parcel.widget#/template: line 1: images come from https://i.imgur.com, and hosts load "
        'none from there; write `image_origins = ["https://i.imgur.com"]` into '
        "'parcel.widget.toml', or send them as data: URIs"
    )


def test_images_from_arguments_are_reported_if_no_sample_shows_one() -> None:
    [finding] = image_messages()

    assert finding == (
        "parcel.widget#/template: calls say where images come from, and hosts load none unless "
        "they know the origin; list the expected origins as `image_origins` in "
        "'parcel.widget.toml'"
    )


@pytest.mark.parametrize(
    ("toml", "allowed"),
    [
        (f'image_origins = ["https://i.imgur.com"]\n{REMOTE}', ()),
        (f'image_origins = ["https://*.imgur.com"]\n{REMOTE}', ()),
        ('image_origins = ["https://i.imgur.com"]\n', ()),
        (REMOTE, ("https://i.imgur.com",)),
        (example("data:image/png;base64,AAAA"), ()),
        (example("https://images.example.com/a.png"), ()),
    ],
)
def test_allowed_embedded_and_placeholder_images_have_no_finding(
    toml: str, allowed: tuple[str, ...]
) -> None:
    assert image_messages(toml=toml, allowed=allowed) == []


def test_image_in_the_template_is_allowed() -> None:
    assert image_messages(GIVEN.replace("{{ src | tojson }}", '"https://i.imgur.com/a.png"')) == []


def test_first_examples_of_bundled_widgets_load_no_images() -> None:
    for path in sorted((Path(__file__).resolve().parents[4] / "widgets").glob("*.widget")):
        widget = load_widget(path)
        first = next(iter(list_examples(widget.definition)))
        tree = widget.call(first.arguments).tree
        assert find_image_origins(json.dumps(tree).encode()) == frozenset(), path.name
