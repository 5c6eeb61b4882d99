"""Turn a JSON Schema into a pydantic model: the Python face of a widget's arguments.

The model admits exactly what the schema admits, because a `before` validator
asks the exact validator; the fields' types describe, and change nothing: a
number stays as it came. A property keeps its name where Python and pydantic can live with
it, and as an alias where they cannot. Never in the path of a tool call.
"""

from __future__ import annotations

import inspect
import json
import keyword
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Any, ForwardRef, Literal, Optional, TypeAlias, Union

from anyascii import anyascii
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    create_model,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from widgetd.errors import CallError
from widgetd.limits import Limits
from widgetd.schema.explain import Explainer
from widgetd.schema.json_values import Json, copied
from widgetd.schema.keywords import Subschema, find_element
from widgetd.schema.limits import LIMITS
from widgetd.schema.phrase import build_argument_error
from widgetd.schema.types import Type, conjunction, properties, referenced, required, types_of
from widgetd.schema.validator import (
    Schema,
    build_unexplained,
    compile_schema,
    refuse_what_is_not_json,
)
from widgetd.text_search import compile_pattern

# A type, or a reference to a model that is still being made.
Hint: TypeAlias = Any

SCALARS: Mapping[str, type | None] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": None,
}
_NUMERIC = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
# What pydantic calls the keywords that bound a type.
BOUNDS: Mapping[str, Mapping[str, str]] = {
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "integer": _NUMERIC,
    "number": _NUMERIC,
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}

# How many unions and arrays, one in the other, are described.
DEEPEST = 32


def json_schema_to_pydantic(
    schema: Mapping[str, Json], model_name: str, schema_title: str | None = None
) -> type[BaseModel]:
    """The model of the arguments that `schema` describes.

    Args:
        schema: A JSON Schema of an object.
        model_name: The name of the class; nested classes put their fields' names behind it.
        schema_title: The title in the model's own JSON Schema; `model_name` if there is none.

    Returns:
        A class whose instances give the arguments back unchanged from
        `model_dump(by_alias=True, exclude_unset=True)`. The same class for the same schema.

    Raises:
        WidgetError: The schema cannot be used.
    """
    text = json.dumps(copied(schema, Limits().json_depth))
    return _cached(text, model_name, schema_title or model_name)


def signature_of(model: type[BaseModel]) -> inspect.Signature:
    """The call that makes `model`: each property a keyword.

    A property whose name cannot be a parameter's goes to `**arguments`.
    """
    parameters = []
    for name, field in model.model_fields.items():
        if _is_parameter(field.alias or name):
            said = tuple(one for one in field.metadata if not isinstance(one, Unchecked))
            parameters.append(
                inspect.Parameter(
                    field.alias or name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if field.is_required() else field.default,
                    annotation=Annotated[(field.annotation, *said)] if said else field.annotation,
                )
            )
    if len(parameters) < len(model.model_fields):
        rest = inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD, annotation=Any)
        parameters.append(rest)
    return inspect.Signature(parameters)


@lru_cache(maxsize=1024)
def _cached(text: str, model_name: str, title: str) -> type[BaseModel]:
    schema = compile_schema(json.loads(text))
    return _Models(schema, model_name).made({**schema.advertised, "title": title})


class Unchecked:
    """Lets a value pass unchanged: 1 stays an integer, 1.0 a float, and nothing is refused."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()


class _Models:
    """The models of one schema, while they are being made and when they are filled."""

    def __init__(self, schema: Schema, name: str) -> None:
        self._schema = schema
        self._document = schema.document
        self._models: dict[str, type[BaseModel]] = {}
        # The name of every schema's model, whether made or still waiting.
        self._names: dict[int, str] = {id(schema.document.root): name}
        self._waiting: list[tuple[Mapping[str, Json], str]] = []
        self._hints: dict[int, Hint] = {}
        self._depth = 0

    def made(self, advertised: Mapping[str, Json]) -> type[BaseModel]:
        """The root's model, and with it every model that it needs."""
        root = self._document.root
        self._make(root, self._names[id(root)], _advertising(advertised))
        while self._waiting:
            self._make(*self._waiting.pop(0), _Part)
        for model in self._models.values():
            model.model_rebuild(force=True, _types_namespace=self._models)
        return self._models[self._names[id(root)]]

    def _make(self, schema: Mapping[str, Json], name: str, base: type[BaseModel]) -> None:
        known = properties(self._document, schema)
        needed = required(self._document, schema)
        fields: dict[str, Any] = {
            field: self._field(known[prop], (name, prop), field, required=prop in needed)
            for prop, field in _field_names(known).items()
        }

        def exactly(cls: type[BaseModel], sent: Json) -> Json:
            return sent if isinstance(sent, cls) else self._admitted(schema, plain(sent))

        validators: dict[str, Any] = {"exactly": model_validator(mode="before")(exactly)}
        self._models[name] = create_model(
            name, __base__=base, __module__=__name__, __validators__=validators, **fields
        )

    def _field(
        self, held_to: list[Subschema], place: tuple[str, str], field: str, *, required: bool
    ) -> tuple[Hint, Any]:
        parent, prop = place
        hint = self._hint_of_all(held_to, parent, prop)
        said = [schema for schema in held_to if isinstance(schema, Mapping)]
        default = next((schema["default"] for schema in said if "default" in schema), None)
        description = next((schema.get("description") for schema in said), None)
        if not required and default is None:
            hint = Optional[hint]  # noqa: UP045 - a forward reference knows no `|`
        return Annotated[hint, Unchecked()], Field(
            default=... if required else default,
            alias=None if field == prop else prop,
            description=description if isinstance(description, str) else None,
        )

    def _hint_of_all(self, schemas: Iterable[Subschema], parent: str, name: str) -> Hint:
        """What the property `name` of the model `parent` may be, by the first schema that tells."""
        telling = next((schema for schema in schemas if schema is not True), True)
        return self._hint(telling, parent, name)

    def _hint(self, schema: Subschema, parent: str, name: str) -> Hint:
        if isinstance(schema, bool) or self._depth == DEEPEST:
            return Any
        if id(schema) not in self._hints:
            # A recursion that passes through no model cannot be said in Python.
            self._hints[id(schema)] = Any
            self._depth += 1
            self._hints[id(schema)] = _union(
                [self._typed(one, schema, parent, name) for one in types_of(self._document, schema)]
            )
            self._depth -= 1
        return self._hints[id(schema)]

    def _typed(self, one: Type, schema: Mapping[str, Json], parent: str, name: str) -> Hint:
        match one.kind:
            case "scalar":
                return self._bounded(SCALARS.get(one.name, Any), one.name, schema)
            case "literals":
                if not any(isinstance(value, float) for value in one.values):
                    return Literal[one.values]
                # A number with a fraction is no literal in Python.
                are_numbers = all(isinstance(value, (int, float)) for value in one.values)
                return float if are_numbers else Any
            case "array":
                inside = [self._hint(inner, parent, f"{name} item") for inner in one.inside]
                elements = list[_union(inside)]  # type: ignore[misc, valid-type]  # made as we go
                return self._bounded(elements, "array", schema)
            case "map":
                values = self._hint_of_all(one.inside, parent, name)
                return dict[str, values]  # type: ignore[valid-type]  # made as we go
            case "record":
                return ForwardRef(self._promised(referenced(self._document, schema), parent, name))
            case "alternative":
                return self._hint(one.inside[0], parent, name)
            case _:
                return Any

    def _bounded(self, hint: Hint, kind: str, schema: Mapping[str, Json]) -> Hint:
        known = BOUNDS.get(kind, {})
        said = {
            argument: part[keyword]
            for part in reversed(list(conjunction(self._document, schema)))
            for keyword, argument in known.items()
            if keyword in part and not isinstance(part[keyword], bool)
        }
        return Annotated[hint, Field(**said)] if said else hint

    def _promised(self, schema: Mapping[str, Json], parent: str, name: str) -> str:
        """The name of the model of `schema`, which is the property `name` of the model `parent`."""
        if id(schema) not in self._names:
            taken = set(self._names.values())
            wanted = chosen = parent + (camel_case(name) or "Part")
            number = 2
            while chosen in taken:
                chosen, number = f"{wanted}{number}", number + 1
            self._names[id(schema)] = chosen
            self._waiting.append((schema, chosen))
        return self._names[id(schema)]

    def _admitted(self, schema: Mapping[str, Json], sent: Json) -> dict[str, Json]:
        """`sent`, which `schema` admits, with models in place of objects that have one.

        Raises:
            ValueError: The schema does not admit it.
        """
        try:
            if schema is self._document.root:
                self._schema.check(sent, strict=True)
            else:
                self._check_part(schema, sent)
        except CallError as error:
            raise ValueError(str(error)) from None
        inside: dict[str, Json] = self._inside(
            [schema], sent, self._schema.explainer(LIMITS.model_units)
        )
        return inside

    def _check_part(self, schema: Mapping[str, Json], sent: Json) -> None:
        refuse_what_is_not_json(sent)
        is_valid = self._schema.part_validator(schema)
        if is_valid is not None and is_valid(sent):
            return
        faults = self._schema.explainer(LIMITS.model_units).find_faults(schema, sent)
        if faults or is_valid is not None:
            faults = faults or (build_unexplained(schema, sent),)
            raise build_argument_error(self._document, faults)

    def _inside(self, schemas: list[Subschema], value: Json, explainer: Explainer) -> Json:
        """`value`, held to all of `schemas`, with models in it, though not itself one."""
        parts = (
            explainer.collect_applicable(schemas, value) if isinstance(value, (dict, list)) else []
        )
        if isinstance(value, dict):
            return {
                name: self._modelled(
                    [held for part in parts for held in explainer.find_properties(part, name)],
                    inner,
                    explainer,
                )
                for name, inner in value.items()
            }
        if isinstance(value, list):
            return [
                self._modelled([find_element(part, index) for part in parts], inner, explainer)
                for index, inner in enumerate(value)
            ]
        return value

    def _modelled(self, schemas: list[Subschema], value: Json, explainer: Explainer) -> Json:
        """`value` as the model of the first of its schemas that has one."""
        inside = self._inside(schemas, value, explainer)
        parts = explainer.collect_applicable(schemas, value) if isinstance(value, dict) else ()
        name = next((self._names[id(part)] for part in parts if id(part) in self._names), None)
        if name is None:
            return inside
        # Made without asking anyone again.
        model = self._models[name]
        fields = {field.alias or name: name for name, field in model.model_fields.items()}
        known = {fields[name]: inner for name, inner in inside.items() if name in fields}
        made = model.model_construct(_fields_set=set(known), **known)
        made.__pydantic_extra__ = {n: one for n, one in inside.items() if n not in fields}
        return made


class _Part(BaseModel):
    """What all models share: other properties are kept, and no name is reserved."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())


def _advertising(schema: Mapping[str, Json]) -> type[BaseModel]:
    """A base whose own JSON Schema is `schema`, because pydantic could not say it exactly."""

    class Advertising(_Part):
        @classmethod
        def model_json_schema(cls, *_: object, **__: object) -> dict[str, Json]:
            """The author's schema."""
            own: dict[str, Json] = copied(schema, Limits().json_depth)
            return own

    return Advertising


def plain(value: Json) -> Json:
    """`value` with their arguments in place of the models in it."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


_NOT_OF_A_WORD = compile_pattern(r"\W")
_PLAIN_WORD = compile_pattern(r"[A-Za-z0-9]+")


def _union(hints: list[Hint]) -> Hint:
    return Any if Any in hints or not hints else Union[tuple(hints)]  # noqa: UP007 - made as we go


def _field_names(properties: Iterable[str]) -> dict[str, str]:
    """The field name of each property: `from` → `from_`, `_x` → `x`, `a-b` → `a_b`."""
    properties = list(properties)
    # A property that can keep its name has the better right to it.
    names = {name: name for name in properties if _is_usable(name)}
    taken = set(names)
    for name in properties:
        if name not in names:
            field = _NOT_OF_A_WORD.sub("_", name).strip("_") or "field"
            field = field if field.isidentifier() else f"field_{field}"
            while field in taken or not _is_usable(field):
                field += "_"
            names[name] = field
            taken.add(field)
    return {name: names[name] for name in properties}


def _is_parameter(name: str) -> bool:
    """Whether a function can have a parameter called `name`."""
    return name.isidentifier() and not keyword.iskeyword(name)


def camel_case(text: str) -> str:
    """`text` as part of a class name: `flight_tracker` and `flight-tracker` → `FlightTracker`."""
    words = _PLAIN_WORD.findall(anyascii(text))
    joined = "".join(word[0].upper() + word[1:] for word in words)
    return "_" + joined if joined[:1].isdigit() else joined


def _is_usable(name: str) -> bool:
    return _is_parameter(name) and not name.startswith("_") and not hasattr(BaseModel, name)
