from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.corpus import corpus_files, needs_corpus
from widgetd.base.errors import WidgetError
from widgetd.core.widget.components import to_chatkit, tree
from widgetd.core.widget.components.vocabulary import load_chatkit_widgets
from widgetd.core.widget.document import decode_studio

BUNDLED = sorted((Path(__file__).parents[5] / "widgets").glob("*.widget"))


@pytest.mark.parametrize("kind", ["Card", "ListView", "Basic"])
def test_card_a_list_or_a_basic_is_a_widget_root(kind: str) -> None:
    assert tree(f'{{"type":"{kind}"}}') == {"type": kind}
    assert tree(f'{{"type":"{kind}"}}'.encode()) == {"type": kind}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"size": None, "children": []}, {}),
        ({"children": None}, {}),
        ({"children": [{"type": "Text", "value": None}]}, {"children": [{"type": "Text"}]}),
        ({"children": [{"type": "Col", "children": []}]}, {"children": [{"type": "Col"}]}),
        ({"children": {"type": "Box", "gap": None}}, {"children": {"type": "Box"}}),
        ({"children": [None, False, True]}, {}),
        ({"children": [{"type": "Row", "key": 0}]}, {"children": [{"type": "Row", "key": "0"}]}),
        (
            {"children": [[{"type": "Text"}], [[None, {"type": "Icon", "size": None}]]]},
            {"children": [{"type": "Text"}, {"type": "Icon"}]},
        ),
        ({"children": ["text", 0]}, {"children": ["text", 0]}),
        ({"value": "", "gap": 0, "flush": False}, {"value": "", "gap": 0, "flush": False}),
    ],
)
def test_trees_omit_null_and_empty_properties(
    output: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert tree(json.dumps({"type": "Card", **output})) == {"type": "Card", **expected}


@pytest.mark.parametrize(
    "value",
    [
        {"options": [{"label": "None", "value": None, "children": []}]},
        {"data": [{"month": "May", "sales": None}]},
        {"onClickAction": {"type": "go", "payload": {"id": None, "children": []}}},
    ],
)
def test_values_other_than_components_are_unchanged(value: dict[str, Any]) -> None:
    root = {"type": "Card", "children": [{"type": "Select", **value}]}

    assert tree(json.dumps(root)) == root


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            '{"type":"Card","children":[{"type":"Text"} {"type":"Text"}]}',
            (
                "line 1: a comma or a closing bracket is missing at "
                '\'…n":[{"type":"Text"} ▸{"type":"Text"}]}\'; write it'
            ),
        ),
        (
            '{"type":"Card",\n"children":[{"type":"Text"},]}',
            (
                "line 2: a comma stands before a closing bracket at "
                '\'…en":[{"type":"Text"}▸,]}\'; remove it'
            ),
        ),
        ("", "there is no JSON, only space; write an object"),
        ('{"type":"Card"', "line 1: the text ends before its JSON does; complete it"),
        ('{"type":"Card","gap":NaN}', "the output is not JSON ("),
        ('{"type":"Card","gap":' + "9" * 5000 + "}", "the output is not JSON ("),
        ('{"type":"Card","value":"\\ud800"}', "the output is not JSON ("),
        (
            '{"type":"Card","x":' + "[" * 300 + "]" * 300 + "}",
            "the output nests more than 254 levels deep; nest fewer components",
        ),
        (
            '{"type":"Card","x":' + "[" * 5000 + "]" * 5000 + "}",
            "the output nests more than 254 levels deep; nest fewer components",
        ),
    ],
)
def test_invalid_json_output_is_refused_with_an_excerpt(output: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        tree(output)

    assert caught.value.finding.code == "W1305"
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("output", "got"),
    [
        ('{"type":"Row"}', "'Row'"),
        ('{"type":{}}', "an object without a type"),
        ("{}", "an object without a type"),
        ("[]", "an array"),
        ('"Card"', "a string"),
        ("null", "null"),
    ],
)
def test_root_other_than_a_widget_is_refused(output: str, got: str) -> None:
    with pytest.raises(WidgetError) as caught:
        tree(output)

    assert caught.value.finding.code == "W1306"
    assert str(caught.value) == f"the root is {got}; put it into a Card, a ListView or a Basic"


def test_tree_becomes_the_model_that_chatkit_streams() -> None:
    root = {"type": "Card", "children": [{"type": "Novelty", "glow": 3}]}

    model = to_chatkit(root)

    assert type(model) is load_chatkit_widgets().DynamicWidgetRoot
    assert _bare(model.model_dump(mode="json")) == root


def test_rendering_does_not_pay_for_importing_chatkit() -> None:
    code = (
        "import sys; from widgetd.core.widget.components import tree; "
        "tree('{\"type\":\"Card\"}'); print('chatkit.widgets' in sys.modules)"
    )

    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def _oracle(file: dict[str, Any]) -> tuple[str, Any] | None:
    """Return plain Jinja's text for a file's own sample and ChatKit's widget of it, if any."""
    studio = decode_studio(file.get("encodedWidget") or "")
    try:
        template = load_chatkit_widgets().WidgetTemplate(file)
        sample = dict(studio.default_state) if studio else {}
        return template.template.render(**sample), template.build(sample)
    except Exception:  # noqa: BLE001 whatever ChatKit cannot build is no oracle
        return None


def _bare(value: Any) -> Any:
    """`value` without nulls and empty children, at any depth."""
    if isinstance(value, dict):
        present = {name: _bare(inner) for name, inner in value.items() if inner is not None}
        return {name: v for name, v in present.items() if name != "children" or v not in ([], {})}
    return [_bare(inner) for inner in value if inner is not None] if _is_list(value) else value


def _is_list(value: object) -> bool:
    return isinstance(value, list)


@needs_corpus
def test_trees_equal_those_of_chatkit_wherever_it_can_build_one() -> None:
    compared = 0
    for path in [*corpus_files(), *BUNDLED]:
        built = _oracle(orjson.loads(path.read_bytes()))
        if built is not None:
            output, model = built
            assert _bare(tree(output)) == _bare(model.model_dump(mode="json")), path
            compared += 1

    assert compared > 40
