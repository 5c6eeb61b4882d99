"""Templates render as in Jinja, generated and real ones, unless the design says otherwise."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jinja2 import Environment, StrictUndefined

from tests.support.corpus import corpus_files, needs_corpus
from tests.support.examples import examples
from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.core.template import Template, compile_template, compile_text

JINJA = Environment(undefined=StrictUndefined)

ARGUMENTS = {
    "a": "text",
    "b": 'q"\\\n<é>',
    "n": 3,
    "m": -2,
    "f": 1.5,
    "t": True,
    "z": None,
    "xs": [1, 2, 3],
    "ws": ["b", "a", "C"],
    "os": [{"k": 1, "s": "x"}, {"k": 2, "s": "y"}],
    "o": {"k": 5, "items": [7], "deep": {"s": "d"}},
}

NAMES = st.sampled_from(["a", "b", "n", "m", "f", "t", "z", "xs", "ws", "os", "o", "x", "y"])
NUMBERS = st.sampled_from(["0", "1", "2", "7", "2.5", "n", "m", "f", "o.k", "os[0].k", "xs[1]"])
TEXTS = st.sampled_from(
    ["'p'", "''", "'a b'", "a", "b", "o.deep.s", "os[1]['s']", "ws[0]", "ws|first"]
)
LISTS = st.sampled_from(
    ["xs", "ws", "[]", "[1, 'a']", "range(3)|list", "os|map(attribute='k')|list", "xs[1:]"]
)


def wrap(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    both = st.tuples(inner, inner)
    return st.one_of(
        both.map(lambda p: f"({p[0]} ~ {p[1]})"),
        both.map(lambda p: f"({p[0]} == {p[1]})"),
        both.map(lambda p: f"({p[0]} and {p[1]})"),
        both.map(lambda p: f"({p[0]} or {p[1]})"),
        both.map(lambda p: f"[{p[0]}, {p[1]}]"),
        both.map(lambda p: f"{{'k': {p[0]}, 'l': {p[1]}}}"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        inner.map(lambda p: f"(not {p})"),
        inner.map(lambda p: f"({p} is string)"),
        inner.map(lambda p: f"({p} is number)"),
        inner.map(lambda p: f"({p} | default('d', true))"),
        inner.map(lambda p: f"({p} | string)"),
        inner.map(lambda p: f"({p} | string | upper | replace('T', '-'))"),
        inner.map(lambda p: f"({p} in [1, 'p', none, true])"),
        st.tuples(NUMBERS, st.sampled_from(["+", "-", "*", "//", "%", "<", ">="]), NUMBERS).map(
            lambda p: f"({' '.join(p)})"
        ),
        st.tuples(NUMBERS, st.sampled_from(["abs", "round", "int", "string"])).map(
            lambda p: f"({p[0]} | {p[1]})"
        ),
        st.tuples(
            TEXTS, st.sampled_from(["upper", "title", "length", "trim", "e", "wordcount"])
        ).map(lambda p: f"({p[0]} | {p[1]})"),
        st.tuples(TEXTS, TEXTS).map(lambda p: f"({p[0]} + {p[1]})[1:4]"),
        st.tuples(
            LISTS, st.sampled_from(["length", "first", "last", "list", "join('-')", "reverse|list"])
        ).map(lambda p: f"({p[0]} | {p[1]})"),
        st.tuples(LISTS, LISTS).map(lambda p: f"({p[0]} + {p[1]})"),
    )


VALUES = st.recursive(st.one_of(NAMES, NUMBERS, TEXTS, LISTS, st.just("none")), wrap, max_leaves=5)


def bodies(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(VALUES, inner, inner).map(
            lambda p: f"{{% if {p[0]} %}}{p[1]}{{% else %}}{p[2]}{{% endif %}}"
        ),
        st.tuples(LISTS, inner, inner).map(
            lambda p: (
                f"{{% for x in {p[0]} %}}{p[1]}{{{{ loop.index }}}}"
                f"{{% if not loop.last %}},{{% endif %}}{{% else %}}{p[2]}{{% endfor %}}"
            )
        ),
        st.tuples(LISTS, inner).map(
            lambda p: (
                f"{{% for y in {p[0]} if y != 1 %}}{p[1]}{{{{ loop.revindex }}}}{{% endfor %}}"
            )
        ),
        st.tuples(VALUES, inner).map(lambda p: f"{{% set x = {p[0]} %}}{p[1]}"),
        st.tuples(inner, inner).map(
            lambda p: f"{{% set y %}}{p[0]}{{% endset %}}{p[1]}{{{{ y }}}}"
        ),
        st.tuples(VALUES, inner).map(lambda p: f"{{% with x = {p[0]} %}}{p[1]}{{% endwith %}}"),
        st.tuples(inner, VALUES).map(
            lambda p: f"{{% macro k(x, y=2) %}}{p[0]}{{% endmacro %}}{{{{ k({p[1]}) }}}}"
        ),
        inner.map(lambda p: f"{{% filter upper %}}{p}{{% endfilter %}}"),
        inner.map(lambda p: f" {{%- if t -%}} {p} {{%- endif -%}} "),
        st.lists(inner, min_size=1, max_size=3).map("".join),
    )


TEMPLATES = st.recursive(
    st.one_of(
        VALUES.map(lambda value: f"{{{{ {value} }}}}"),
        st.sampled_from(
            ["text", '{"k":', "\n", "[1,2]", "{# no #}", "{% raw %}{{ a }}{% endraw %}"]
        ),
    ),
    bodies,
    max_leaves=6,
)


@examples(200)
@given(TEMPLATES)
def test_generated_template_renders_as_in_jinja(source: str) -> None:
    """Compare only what Jinja renders, too: the evaluator renders more."""
    try:
        expected = JINJA.from_string(source).render(ARGUMENTS)
    except Exception:  # noqa: BLE001 - Jinja fails with whatever Python raises
        return
    assume("undefined" not in expected.lower())  # Python's own name for it

    assert compile_text(source, limits=Limits()).render(ARGUMENTS) == without_fractions(expected)


def without_fractions(text: str) -> str:
    """Integral floats print as integers; the generated templates make only these."""
    for number in ("0.0", "1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0", "8.0", "9.0"):
        text = text.replace(number, number[0])
    return text


@examples(100)
@given(st.lists(VALUES, min_size=1, max_size=4))
def test_generated_widget_is_the_same_tree_as_in_jinja(values: list[str]) -> None:
    parts = ",".join(f'{{"type":"Text","value":{{{{ ({value}) | tojson }}}}}}' for value in values)
    source = f'{{"type":"Card","children":[{parts}]}}'
    try:
        expected = JINJA.from_string(source).render(ARGUMENTS)
    except Exception:  # noqa: BLE001 - Jinja fails with whatever Python raises
        return
    assume("undefined" not in expected.lower())  # Python's own name for it

    tree = compile_template(source, limits=Limits()).render(ARGUMENTS)
    assert json.loads(tree) == json.loads(without_fractions(expected))


def definition(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_bytes())
    return loaded


def sample(file: dict[str, Any]) -> dict[str, Any] | None:
    encoded = file.get("encodedWidget") or ""
    try:
        padded = encoded.replace("-", "+").replace("_", "/") + "=" * (-len(encoded) % 4)
        state: dict[str, Any] = json.loads(base64.b64decode(padded))["defaultState"]
    except (ValueError, KeyError):
        return None
    return state


def normal(value: Any) -> Any:
    """Return a tree without nulls and empty children."""
    if isinstance(value, dict):
        present = {key: normal(each) for key, each in value.items() if each is not None}
        return {key: each for key, each in present.items() if key != "children" or each}
    return [normal(each) for each in value] if isinstance(value, list) else value


WITH_TEMPLATE = [path for path in corpus_files() if definition(path).get("template")]


@needs_corpus
@pytest.mark.parametrize("path", WITH_TEMPLATE, ids=lambda path: path.stem)
def test_every_real_template_compiles_and_renders_its_sample_as_in_jinja(path: Path) -> None:
    file = definition(path)
    template = compile_template(file["template"], limits=Limits())
    state = sample(file)
    if state is None:
        return
    tree = json.loads(template.render(state))
    try:
        expected = json.loads(JINJA.from_string(file["template"]).render(**state))
    except Exception:  # noqa: BLE001 - Jinja fails with whatever Python raises
        return

    assert normal(tree) == normal(expected)


# Where the preview shows something else than the sample, and why.
OTHER_PREVIEWS = {
    "MCQ Card (copy)": "the sample has an index that the preview was made without",
    "event_list": "the template was rewritten by hand after the export",
    "line_select": "the template reads 'name' where sample and schema say 'label'",
    "plotly": "the sample was edited after the export",
}


@needs_corpus
@pytest.mark.parametrize("path", WITH_TEMPLATE, ids=lambda path: path.stem)
def test_every_real_sample_renders_to_its_preview(path: Path) -> None:
    file = definition(path)
    state, preview = sample(file), file.get("outputJsonPreview")
    if state is None:
        pytest.skip("the file has no sample")
    if preview is None:
        pytest.skip("the file has no preview")

    tree = json.loads(compile_template(file["template"], limits=Limits()).render(state))

    assert (normal(tree) == normal(preview)) is (path.stem not in OTHER_PREVIEWS)
    if path.stem in OTHER_PREVIEWS:
        pytest.xfail(OTHER_PREVIEWS[path.stem])


def verdict(template: Template, arguments: dict[str, Any]) -> str:
    try:
        template.render(arguments)
    except CallError as error:
        return error.code
    return "rendered"


@needs_corpus
def test_real_template_renders_any_arguments_or_explains_why_not() -> None:
    values: tuple[Any, ...] = ("text", 5, None, [], ["x"], {}, {"items": [1]}, True)
    for path in WITH_TEMPLATE:
        template = compile_template(definition(path)["template"], limits=Limits())
        for value in values:
            given = dict.fromkeys(template.names, value)
            assert verdict(template, given) in {"rendered", "W2004"}, path
