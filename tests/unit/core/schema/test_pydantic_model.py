"""The pydantic model: its description, the arguments that it admits, and its losslessness."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel, ValidationError

from widgetd.base.errors import WidgetError
from widgetd.core.schema.pydantic_model import build_signature, json_schema_to_pydantic

FLIGHT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "description": "As on the ticket", "minLength": 2},
        "status": {"enum": ["early", "late"]},
        "kind": {"const": "flight"},
        "progress": {"type": "integer", "minimum": 0, "maximum": 100, "default": 0},
        "price": {"type": "number", "exclusiveMinimum": 0},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "airline": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "logo": {"type": "string"}},
            "required": ["name"],
        },
        "legs": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": {"from": {"type": "string"}}},
        },
        "tags": {"type": "array", "items": {"type": "string"}},
        "notes": {"type": ["string", "null"]},
        "extra": {"type": "object", "additionalProperties": {"type": "number"}},
        "pay": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "anything": True,
    },
    "required": ["number", "airline"],
}
ARGUMENTS: dict[str, Any] = {
    "number": "PA 845",
    "price": 1,
    "progress": 40.0,
    "airline": {"name": "PIA"},
    "legs": [{"from": "KHI"}, {"from": "DXB"}],
    "notes": None,
}


@pytest.fixture
def flight() -> type[BaseModel]:
    return json_schema_to_pydantic(FLIGHT, "FlightModel", "FlightArguments")


def hint(model: type[BaseModel], name: str) -> Any:
    """Return the type of a field."""
    return model.model_fields[name].annotation


def test_fields_have_the_types_of_the_schema(flight: type[BaseModel]) -> None:
    airline = hint(flight, "airline")

    assert hint(flight, "number") is str
    assert hint(flight, "progress") is int
    assert hint(flight, "status") == Literal["early", "late"] | None
    assert hint(flight, "kind") == Literal["flight"] | None
    assert hint(flight, "tags") == list[str] | None
    assert hint(flight, "notes") == str | None
    assert hint(flight, "extra") == dict[str, float] | None
    assert hint(flight, "pay") == str | int | None
    assert hint(flight, "anything") == Any | None
    assert airline.__name__ == "FlightModelAirline"
    assert issubclass(airline, BaseModel)
    legs = get_args(hint(flight, "legs"))[0]
    element = get_args(get_args(legs)[0])[0]
    assert element.__name__ == "FlightModelLegsItem"


def test_models_have_bounds_lengths_patterns_and_descriptions(flight: type[BaseModel]) -> None:
    parameters = build_signature(flight).parameters

    assert repr(parameters["number"].annotation) == "typing.Annotated[str, MinLen(min_length=2)]"
    assert repr(parameters["progress"].annotation) == "typing.Annotated[int, Ge(ge=0), Le(le=100)]"
    assert "pattern='^[A-Z]{3}$'" in repr(parameters["code"].annotation)
    assert "Gt(gt=0)" in repr(parameters["price"].annotation)
    assert flight.model_fields["number"].description == "As on the ticket"


def test_schema_of_the_model_is_the_authors_with_a_title(flight: type[BaseModel]) -> None:
    assert flight.model_json_schema() == {**FLIGHT, "title": "FlightArguments"}


def test_arguments_become_nested_models_and_come_back_unchanged(flight: type[BaseModel]) -> None:
    instance: Any = flight(**ARGUMENTS)

    assert instance.airline.name == "PIA"
    assert type(instance.airline) is hint(flight, "airline")
    assert instance.legs[1].from_ == "DXB"
    dumped = instance.model_dump(by_alias=True, exclude_unset=True)
    assert dumped == ARGUMENTS
    assert (type(dumped["price"]), type(dumped["progress"])) == (int, float)


def test_absent_property_has_its_default_or_none(flight: type[BaseModel]) -> None:
    instance: Any = flight(number="PA 845", airline={"name": "PIA"})

    assert instance.progress == 0
    assert instance.code is None
    assert instance.airline.logo is None


def test_model_refuses_invalid_values_with_widgetds_messages(flight: type[BaseModel]) -> None:
    with pytest.raises(ValidationError) as refused:
        flight(number=5, airline={"name": "PIA"})

    assert refused.value.errors()[0]["msg"] == (
        "Value error, number: expected a string of at least 2 characters, got 5. Smallest valid "
        'example: {"number":"BS 204","airline":{"name":"Blue Sky Air"}}'
    )


def test_parts_built_first_are_validated_by_their_part_of_the_schema(
    flight: type[BaseModel],
) -> None:
    airline = hint(flight, "airline")

    instance: Any = flight(number="PA 845", airline=airline(name="PIA"))

    assert instance.model_dump(exclude_unset=True)["airline"] == {"name": "PIA"}
    with pytest.raises(ValidationError, match="name: expected a string, got 5"):
        airline(name=5)


def test_model_of_the_same_schema_is_built_once() -> None:
    again = json_schema_to_pydantic(dict(FLIGHT), "FlightModel", "FlightArguments")

    assert again is json_schema_to_pydantic(FLIGHT, "FlightModel", "FlightArguments")


NAMES = [
    "from",
    "class",
    "_x",
    "__init__",
    "items",
    "model_dump",
    "model_config",
    "model_fields",
    "schema",
    "copy",
    "a-b",
    "a b",
    "1st",
    "日本",
    "self",
    "cls",
    "x",
    "x_",
    "",
]


@pytest.mark.parametrize("names", [*([name] for name in NAMES), NAMES], ids=str)
def test_any_property_name_works(names: list[str]) -> None:
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    model = json_schema_to_pydantic(schema, "Named")

    instance = model.model_validate(dict.fromkeys(names, 1))

    assert instance.model_dump(by_alias=True, exclude_unset=True) == dict.fromkeys(names, 1)
    assert len(model.model_fields) == len(names)
    with pytest.raises(ValidationError):
        model.model_validate({**dict.fromkeys(names, 1), "other": 1})


def test_property_with_a_valid_name_keeps_it() -> None:
    schema: dict[str, Any] = {
        "properties": {"from": {}, "from_": {}, "_x": {}, "x": {}, "items": {}}
    }

    fields = json_schema_to_pydantic(schema, "Kept").model_fields

    assert {name: field.alias for name, field in fields.items()} == {
        "from__": "from",
        "from_": None,
        "x_": "_x",
        "x": None,
        "items": None,
    }


def test_signature_has_a_keyword_for_each_property_with_a_valid_name() -> None:
    schema: dict[str, Any] = {
        "properties": {"number": {"type": "string"}, "a-b": {}, "unit": {"default": "C"}},
        "required": ["number"],
    }
    signature = build_signature(json_schema_to_pydantic(schema, "Called"))

    kinds = [(name, parameter.kind.name) for name, parameter in signature.parameters.items()]
    assert kinds == [
        ("number", "KEYWORD_ONLY"),
        ("unit", "KEYWORD_ONLY"),
        ("arguments", "VAR_KEYWORD"),
    ]
    assert signature.parameters["number"].default is inspect.Parameter.empty
    assert signature.parameters["unit"].default == "C"


def test_recursive_schema_makes_a_recursive_model() -> None:
    node = {
        "type": "object",
        "properties": {
            "label": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
    }
    schema = {"properties": {"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    model = json_schema_to_pydantic(schema, "Tree")
    tree = {"label": "a", "children": [{"label": "b"}, {"children": []}]}

    instance: Any = model.model_validate({"tree": tree})

    assert type(instance.tree.children[0]) is type(instance.tree)
    assert instance.model_dump(exclude_unset=True) == {"tree": tree}


def test_value_becomes_the_model_of_its_alternative() -> None:
    pays = {
        "anyOf": [
            {"type": "object", "properties": {"kind": {"const": "bank"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "card"}}, "required": ["kind"]},
            {"type": "null"},
        ]
    }
    model = json_schema_to_pydantic({"properties": {"pay": pays}}, "Pays")
    bank, card, none = (
        model.model_validate({"pay": pay}) for pay in ({"kind": "bank"}, {"kind": "card"}, None)
    )

    assert type(bank.pay).__name__ == "PaysPay"  # type: ignore[attr-defined]  # made at run time
    assert type(card.pay).__name__ == "PaysPay2"  # type: ignore[attr-defined]  # made at run time
    assert none.pay is None  # type: ignore[attr-defined]  # made at run time


def test_parts_of_allof_make_one_model() -> None:
    both = {
        "allOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"$ref": "#/$defs/b"},
        ]
    }
    schema = {
        "properties": {"x": both},
        "$defs": {"b": {"type": "object", "properties": {"b": {"type": "string"}}}},
    }
    model = json_schema_to_pydantic(schema, "Both")

    instance: Any = model.model_validate({"x": {"a": 1, "b": "c"}})

    assert (instance.x.a, instance.x.b) == (1, "c")


def test_other_properties_are_kept() -> None:
    model = json_schema_to_pydantic({"properties": {"from": {}}}, "Open")

    instance = model.model_validate({"from": 1, "from_": 2, "other": [1.0]})

    assert instance.model_dump(by_alias=True) == {"from": 1, "from_": 2, "other": [1.0]}


def test_unusable_schema_makes_no_model() -> None:
    with pytest.raises(WidgetError):
        json_schema_to_pydantic({"properties": {"x": {"type": "strin"}}}, "Bad")


def test_annotations_are_types_and_not_strings(flight: type[BaseModel]) -> None:
    annotation = build_signature(flight).parameters["number"].annotation

    assert get_origin(annotation) is Annotated
    assert get_args(annotation)[0] is str
