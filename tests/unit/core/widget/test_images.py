from __future__ import annotations

import orjson
import pytest

from widgetd.core.widget.images import find_blocked, find_image_origins


def origins(*components: object) -> frozenset[str]:
    return find_image_origins(orjson.dumps({"type": "Card", "children": list(components)}))


@pytest.mark.parametrize(
    ("component", "names"),
    [
        ({"type": "Image", "src": "https://Img.example.org/a.png"}, {"https://img.example.org"}),
        ({"type": "Image", "src": "http://img.example.org:81?a"}, {"http://img.example.org:81"}),
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
