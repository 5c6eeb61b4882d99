from __future__ import annotations

import orjson
import pytest

from tests.support.widgets import source, widget_file
from widgetd.core.widget.definition import define
from widgetd.core.widget.images import find_blocked, find_image_origins, find_literal_origins


def origins(*components: object) -> frozenset[str]:
    return find_image_origins(orjson.dumps({"type": "Card", "children": list(components)}))


@pytest.mark.parametrize(
    ("component", "names"),
    [
        ({"type": "Image", "src": "https://Img.example.org/a.png"}, {"https://img.example.org"}),
        ({"type": "Image", "src": "http://img.example.org:81?a"}, {"http://img.example.org:81"}),
        ({"type": "Image", "src": "https://httpbin.org/a.png"}, {"https://httpbin.org"}),
        (
            {"type": "Box", "background": "url('https://b.example.org/x')"},
            {"https://b.example.org"},
        ),
        ({"type": "Box", "background": 'url("https://b.example.org")'}, {"https://b.example.org"}),
        (
            {"type": "Card", "status": {"favicon": "https://f.example.org/"}},
            {"https://f.example.org"},
        ),
        ({"type": "Image", "src": "data:image/png;base64,AAAA"}, set()),
        ({"type": "Image", "src": "/relative.png"}, set()),
        ({"type": "Text", "value": "https://words.example.org"}, set()),
        ({"type": "Text", "value": 'say "src":"https://words.example.org/"'}, set()),
    ],
)
def test_image_origins_are_separated_from_other_addresses(
    component: object, names: set[str]
) -> None:
    assert origins(component) == names


@pytest.mark.parametrize(
    ("allowed", "is_blocked"),
    [
        ("https://img.example.org", False),
        ("https://*.example.org", False),
        ("http://img.example.org", True),
        ("https://example.org", True),
        ("https://*.img.example.org", True),
        ("https://*.org.evil", True),
    ],
)
def test_origin_is_allowed_by_its_name_or_by_its_domain(allowed: str, *, is_blocked: bool) -> None:
    assert bool(find_blocked(["https://img.example.org"], [allowed])) is is_blocked


PLAIN = ['"https://h.com"', '"https://h.com/a.png"', '"url(https://h.com/a.png) center / cover"']


@pytest.mark.parametrize("src", PLAIN)
def test_whole_address_of_a_source_admits_its_origin(src: str) -> None:
    assert origins_of_template(src) == origins_of_view(src) == {"https://h.com"}


@pytest.mark.parametrize(
    "src",
    [
        '{dark ? "https://h.com/a.png" : "https://h.com/b.png"}',
        '{v ?? "https://h.com/a.png"}',
        '{{ light: "https://h.com/a.png", dark: v }}',
    ],
)
def test_choice_between_whole_addresses_admits_their_origins(src: str) -> None:
    assert origins_of_view(src) == {"https://h.com"}


@pytest.mark.parametrize(
    "src",
    [
        '"https://h.com/{{ v }}"',
        '"https://h.com/a.png?d={{ v }}"',
        '"https://h.com{% if v %}/1{% endif %}"',
        '"url(https://h.com/{{ v }})"',
        '"{{ "https://h.com/" ~ v }}"',
        '{{ ("https://h.com/" ~ v) | tojson }}',
        '{{ "https://h.com/" | tojson }}',
        '"{{ {"src": "https://h.com/"}.src ~ v }}"',
        '{% set u = "https://h.com/" %}"{{ u ~ v }}"',
        '{% set u %}"https://h.com/"{% endset %}{{ (u[1:-1] ~ v) | tojson }}',
        '{% macro u() %}"https://h.com/"{% endmacro %}{{ u() }}',
    ],
)
def test_address_with_an_expression_of_a_template_admits_no_origin(src: str) -> None:
    assert origins_of_template(src) == frozenset()


@pytest.mark.parametrize(
    "src",
    [
        "{`https://h.com/${v}`}",
        '{"https://h.com/" + v}',
        '{"https://h.com/".concat(v)}',
        '{["https://h.com/", v].join("")}',
        '{({ src: "https://h.com/" }).src + v}',
        "{'<Image src=\"https://h.com/\"/>'.slice(12, 26) + v}",
        '{hosts[0] + v} alt={["https://h.com/"]}',
    ],
)
def test_address_with_an_expression_of_jsx_admits_no_origin(src: str) -> None:
    assert origins_of_view(src) == frozenset()


def origins_of_template(src: str) -> frozenset[str]:
    template = f'{{"type":"Card","children":[{{"type":"Image","src":{src}}}]}}'
    return define(source("Picture.widget", widget_file(template=template))).image_origins


def origins_of_view(src: str) -> frozenset[str]:
    view = f'const hosts = ["https://h.com/"]; <Card><Image src={src} /></Card>'
    return find_literal_origins(view, is_template=False)
