"""A definition becomes a widget that can be called, or is refused with a place and a reason."""

from __future__ import annotations

import base64
import gc
import inspect
import json
import weakref
from collections.abc import Iterator

import pytest

from tests.support.widgets import build_widget, greeting, source
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import AT_WORK, Limits
from widgetd.core.template import compile_template
from widgetd.core.widget.widget import CompiledCache
from widgetd.server.catalog.loader import load

AIRLINE = {
    "type": "object",
    "properties": {
        "who": {"type": "string"},
        "airline": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
        "from": {"type": "string"},
        "loud": {"type": "boolean", "default": True},
    },
    "required": ["who"],
}


LISTED = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "rows": {"type": "array"}},
    "required": ["title"],
}


def read_example(*examples: str, sample: object = None) -> object:
    """Return the example of a widget with `examples` in its sidecar and `sample` in Studio."""
    sidecar = "".join(f"[[examples]]\narguments = {one}\n" for one in examples)
    packed = base64.b64encode(json.dumps({"defaultState": sample}).encode()).decode()
    template = '{"type":"Card","value":{{ [title, rows] | tojson }}}'
    return build_widget(
        schema=LISTED, template=template, sidecar=sidecar, encodedWidget=packed
    ).example


def test_example_is_the_authors_first_that_shows_more_than_an_empty_state() -> None:
    empty, one, more = '{title="a", rows=[]}', '{title="b", rows=[1]}', '{title="c", rows=[1, 2]}'

    assert read_example(empty, one, more) == {"title": "b", "rows": [1]}
    assert read_example(empty, "{rows=[1]}", more) == {"title": "c", "rows": [1, 2]}
    assert read_example(empty, sample={"title": "d", "rows": [3]}) == {"title": "d", "rows": [3]}
    assert read_example(empty, sample={"rows": [3]}) == {"title": "a", "rows": []}


def test_without_the_authors_arguments_the_example_is_the_smallest() -> None:
    assert read_example() == build_widget(schema=LISTED, template='{"type":"Card"}').schema.smallest


def test_without_the_authors_arguments_no_list_of_the_example_is_empty() -> None:
    rows = {"type": "array", "items": {"type": "integer"}}
    schema = {"type": "object", "properties": {"rows": rows}, "required": ["rows"]}
    widget = build_widget(schema=schema, template='{"type":"Card","value":{{ rows | tojson }}}')

    assert widget.schema.smallest == {"rows": []}
    assert widget.known_example is not None
    assert len(widget.example["rows"]) == 1


def test_error_ends_with_the_authors_example() -> None:
    widget = build_widget(
        schema=LISTED, sidecar='[[examples]]\narguments = {title="a", rows=[1]}\n'
    )

    with pytest.raises(CallError) as error:
        widget.call({"title": True})

    assert str(error.value) == (
        'title: expected a string, got true. Valid example: {"title":"a","rows":[1]}'
    )


def test_keyword_arguments_render_to_a_tree() -> None:
    assert build_widget().render(who="Ada") == greeting("Hello", "Ada")


def test_signature_has_one_annotated_keyword_parameter_for_each_property() -> None:
    signature = inspect.signature(build_widget(schema=AIRLINE).render)

    assert {name: p.kind for name, p in signature.parameters.items() if name != "arguments"} == {
        "who": inspect.Parameter.KEYWORD_ONLY,
        "airline": inspect.Parameter.KEYWORD_ONLY,
        "loud": inspect.Parameter.KEYWORD_ONLY,
    }
    assert signature.parameters["who"].annotation is str
    assert signature.parameters["who"].default is inspect.Parameter.empty


def test_arguments_may_be_passed_as_parts_of_the_model() -> None:
    widget = build_widget(
        schema=AIRLINE, template='{"type":"Card","value":{{ airline.name | tojson }}}'
    )
    arguments = widget.Arguments(who="Ada", airline={"name": "Northfjord"})

    assert widget.render(who="Ada", airline=arguments.airline) == {  # type: ignore[attr-defined]  # made at run time
        "type": "Card",
        "value": "Northfjord",
    }


def test_classes_are_named_after_the_widget() -> None:
    widget = build_widget("Flight Tracker", schema=AIRLINE)

    assert widget.Arguments.__name__ == "FlightTrackerModel"
    assert widget.Arguments.model_json_schema()["title"] == "FlightTrackerArguments"


def test_root_that_chatkit_can_stream_is_built() -> None:
    built = build_widget().build(who="Ada")

    assert built.model_dump(exclude_none=True)["children"][0]["value"] == "Hello, Ada"


def test_defaults_are_filled_in_before_rendering() -> None:
    widget = build_widget(schema=AIRLINE, template='{"type":"Card","loud":{{ loud | tojson }}}')

    assert widget.render(who="Ada") == {"type": "Card", "loud": True}


def test_without_a_schema_names_of_the_template_are_properties() -> None:
    text = json.dumps(
        {"version": "1.0", "name": "Free", "template": '{"type":"Card","a":{{ a | tojson }}}'}
    )
    widget = load(source("Free.widget", text), limits=Limits())

    assert widget.schema.advertised == {"type": "object", "properties": {"a": {}}}
    assert widget.render(a=1, b=2) == {"type": "Card", "a": 1}


def test_invalid_root_is_refused_before_a_call() -> None:
    with pytest.raises(WidgetError) as caught:
        build_widget(template='{"type":"Text","value":{{ who | tojson }}}')

    assert caught.value.finding.code == "W1306"
    assert caught.value.finding.path == "Greeting.widget"
    assert caught.value.finding.at == "/template"


def test_invalid_json_output_is_an_error_of_the_call() -> None:
    widget = build_widget(
        template='{"type":"Card","value":{% if who == "x" %}1{% else %}2 3{% endif %}}'
    )

    assert widget.render(who="x") == {"type": "Card", "value": 1}
    with pytest.raises(CallError) as caught:
        widget.render(who="y")
    assert str(caught.value) == (
        "the template's output is no widget: "
        'line 1: a comma or a closing bracket is missing at \'…e":"Card","value":2 ▸3}\'; write it'
    )
    assert caught.value.code == "W2004"


def test_invalid_json_output_is_hidden_where_part_of_it_may_be_sensitive() -> None:
    widget = build_widget(
        template='{"type":"Card","value":1 {{ who | tojson }}}', sidecar='sensitive = ["who"]'
    )

    with pytest.raises(CallError) as caught:
        widget.render(who="4242")
    assert str(caught.value) == "the template's output is no widget"


def test_default_summary_lists_the_required_fields() -> None:
    widget = build_widget("Flight Tracker", schema=AIRLINE)

    assert widget.summary.text({"who": "Ada", "from": "OSL"}) == "Flight Tracker: who Ada"


def test_sensitive_values_are_in_no_summary_and_no_data() -> None:
    sidecar = (
        'summary = "{{ who }} {{ airline.name }}"\n'
        'summary_fields = ["who", "airline.name"]\n'
        'sensitive = ["airline.name"]\n'
        '[summary_data]\nletters = "who | length"\nname = "airline.name"\n'
    )
    summary = build_widget(schema=AIRLINE, sidecar=sidecar).summary
    arguments = {"who": "Ada", "airline": {"name": "secret"}}

    assert summary.text(arguments) == "Ada"
    assert summary.facts(arguments, "Ada") == {"summary": "Ada", "who": "Ada", "letters": 3}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Two\n products", "Two products"),
        (f"{'word ' * 19}words", f"{'word ' * 19}words"),
        (f"{'word ' * 19}words, then more", f"{'word ' * 18}word…"),
        ("字" * 101, "字" * 99 + "…"),
    ],
)
def test_fact_summary_has_at_most_100_characters_and_ends_at_a_word(text: str, fact: str) -> None:
    summary = build_widget().summary

    assert summary.facts({}, text) == {"summary": fact}


def test_facts_of_the_sidecar_take_precedence() -> None:
    sidecar = 'summary_fields = ["title"]\n[summary_data]\nsummary = "title ~ \'!\'"\n'
    summary = build_widget(schema={"properties": {"title": {}}}, sidecar=sidecar).summary

    assert summary.facts({"title": "Ada"}, "text") == {"title": "Ada", "summary": "Ada!"}


@pytest.mark.parametrize("path", ["cards.number", "cards[].number", "cards[]", "cards"])
def test_sensitive_value_in_a_list_is_hidden_in_every_spelling_of_its_path(path: str) -> None:
    card = {"type": "object", "properties": {"number": {"type": "string"}}}
    summary = build_widget(
        schema={"properties": {"who": {}, "cards": {"type": "array", "items": card}}},
        sidecar=f"""
            sensitive = ["{path}"]
            summary = "{{{{ who }}}} {{{{ cards[0].number }}}}"
            summary_fields = ["who", "cards"]
            [summary_data]
            first = "cards[0].number"
            all = "cards | map(attribute='number') | join"
        """,
    ).summary
    arguments = {"who": "Ada", "cards": [{"number": "4242"}]}

    assert summary.text(arguments) == "Ada"
    assert "4242" not in str(summary.facts(arguments, ""))


def test_invalid_sidecar_expression_is_a_fault_of_the_sidecar() -> None:
    with pytest.raises(WidgetError) as caught:
        build_widget(sidecar='[summary_data]\ntotal = "who |"')

    assert caught.value.finding.path == "Greeting.widget.toml"


def test_unchanged_parts_of_a_save_are_not_compiled_again() -> None:
    before, after, other = (
        build_widget(),
        build_widget(description="Greet."),
        build_widget(text="Bye"),
    )
    others = build_widget(schema={"type": "object"})

    assert after.template is before.template
    assert after.schema is before.schema
    assert other.template is not before.template
    assert other.schema is before.schema
    assert others.schema is not before.schema


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Disable the cyclic collector, so that only unreferenced objects are freed."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    "text",
    [
        "{% for x in xs %}{{ loop.index }}{% else %}none{% endfor %}",
        "{% for x in xs recursive %}{{ loop(x) }}{% endfor %}",
        "{% macro m(a) %}{{ a }}{% endmacro %}{% set b %}{{ m(1) }}{% endset %}{{ b }}",
        "{% if a %}{{ a }}{% elif b %}{% set c = b %}{{ c }}{% endif %}",
    ],
)
def test_released_template_leaves_nothing_for_the_collector(text: str) -> None:
    compile_template(text, limits=Limits())

    assert gc.collect() == 0


def test_least_recently_called_widget_is_released_and_can_be_called() -> None:
    cache = CompiledCache(most=2)
    # Compiled schemas are cached by path, and one of another test's widget may be alive: a daemon
    # that starts in this process exempts all that there is, garbage too, from collection.
    first, second, third = (
        build_widget(name, path=f"called/{name}.widget") for name in ("First", "Second", "Third")
    )
    parts = {each.tool: weakref.ref(each.schema) for each in (first, second, third)}

    for called in (first, second, first, third):
        cache.touch(called)
    for number in range(AT_WORK):  # files that are worked on since
        build_widget(f"Other {number}").compile()
    gc.collect()

    assert [tool for tool, part in parts.items() if part() is None] == ["second"]
    assert second.call({"who": "Ada"}).tree == greeting("Hello", "Ada")


def test_call_does_not_retain_an_unserved_widget() -> None:
    cache = CompiledCache()
    widget = build_widget()
    cache.touch(widget)
    reference = weakref.ref(widget)

    del widget
    gc.collect()

    assert reference() is None
