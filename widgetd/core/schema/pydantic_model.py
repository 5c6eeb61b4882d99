"""Convert a JSON Schema into a pydantic model, the Python type of a widget's arguments.

The model admits exactly the arguments of the schema, because a `before` validator calls the exact
validator. The fields' types only describe, and a number stays as it was sent. A property keeps
its name if Python and pydantic allow it, and becomes an alias otherwise. No tool call uses this.
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

from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.explain import Explainer
from widgetd.core.schema.json_values import Json, copy_json, steps
from widgetd.core.schema.keywords import Subschema
from widgetd.core.schema.limits import LIMITS
from widgetd.core.schema.phrase import build_argument_error
from widgetd.core.schema.types import (
    ValueType,
    collect_properties,
    collect_required,
    find_types,
    follow_references,
)
from widgetd.core.schema.validator import (
    Schema,
    build_unexplained,
    compile_schema,
    refuse_non_json,
)

# A type, or a reference to a future model.
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
# The keywords with bounds for a type, and pydantic's names for them.
BOUNDS: Mapping[str, Mapping[str, str]] = {
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "integer": _NUMERIC,
    "number": _NUMERIC,
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}


def json_schema_to_pydantic(
    schema: Mapping[str, Json], model_name: str, schema_title: str | None = None
) -> type[BaseModel]:
    """Return the model of the arguments described by `schema`.

    Args:
        schema: A JSON Schema of an object.
        model_name: The name of the class. Nested classes append their fields' names.
        schema_title: The title in the model's own JSON Schema, `model_name` by default.

    Returns:
        A class whose instances give the arguments back unchanged from
        `model_dump(by_alias=True, exclude_unset=True)`. The same class for the same schema.

    Raises:
        WidgetError: The schema cannot be used.
    """
    text = json.dumps(copy_json(schema, Limits().json_depth))
    return _build_model(text, model_name, schema_title or model_name)


def build_signature(model: type[BaseModel]) -> inspect.Signature:
    """Build the signature of the constructor call of `model`: each property is a keyword.

    A property without a possible parameter name is passed in `**arguments`.
    """
    parameters = []
    for name, field in model.model_fields.items():
        if _is_parameter(field.alias or name):
            metadata = tuple(item for item in field.metadata if not isinstance(item, Unchecked))
            parameters.append(
                inspect.Parameter(
                    field.alias or name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if field.is_required() else field.default,
                    annotation=Annotated[(field.annotation, *metadata)]
                    if metadata
                    else field.annotation,
                )
            )
    if len(parameters) < len(model.model_fields):
        rest = inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD, annotation=Any)
        parameters.append(rest)
    return inspect.Signature(parameters)


@lru_cache(maxsize=1024)
def _build_model(text: str, model_name: str, title: str) -> type[BaseModel]:
    schema = compile_schema(json.loads(text))
    return _Models(schema, model_name).build({**schema.advertised, "title": title})


class Unchecked:
    """Metadata for a field without conversion: 1 stays an integer and 1.0 a float."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()


class _Models:
    """The models of a schema, while they are built and filled."""

    def __init__(self, schema: Schema, name: str) -> None:
        self._schema = schema
        self._document = schema.document
        self._models: dict[str, type[BaseModel]] = {}
        # The name of every schema's model, built or waiting.
        self._names: dict[int, str] = {id(schema.document.root): name}
        self._waiting: list[tuple[Mapping[str, Json], str]] = []
        self._hints: dict[int, Hint] = {}
        self._depth = 0

    def build(self, advertised: Mapping[str, Json]) -> type[BaseModel]:
        root = self._document.root
        self._build(root, self._names[id(root)], _advertise(advertised))
        while self._waiting:
            self._build(*self._waiting.pop(0), _ArgumentsModel)
        for model in self._models.values():
            model.model_rebuild(force=True, _types_namespace=self._models)
        return self._models[self._names[id(root)]]

    def _build(self, schema: Mapping[str, Json], name: str, base: type[BaseModel]) -> None:
        properties = collect_properties(self._document, schema)
        needed = collect_required(self._document, schema)
        fields: dict[str, Any] = {
            field: self._build_field(properties[prop], (name, prop), field, required=prop in needed)
            for prop, field in _choose_field_names(properties).items()
        }

        def exactly(cls: type[BaseModel], sent: Json) -> Json:
            return sent if isinstance(sent, cls) else self._fill(schema, unwrap_models(sent))

        validators: dict[str, Any] = {"exactly": model_validator(mode="before")(exactly)}
        self._models[name] = create_model(
            name, __base__=base, __module__=__name__, __validators__=validators, **fields
        )

    def _build_field(
        self, held_to: list[Subschema], place: tuple[str, str], field: str, *, required: bool
    ) -> tuple[Hint, Any]:
        parent, prop = place
        hint = self._build_property_hint(held_to, parent, prop)
        texts = [schema for schema in held_to if isinstance(schema, Mapping)]
        default = next((schema["default"] for schema in texts if "default" in schema), None)
        description = next((schema.get("description") for schema in texts), None)
        if not required and default is None:
            hint = Optional[hint]  # noqa: UP045 - a forward reference knows no `|`
        return Annotated[hint, Unchecked()], Field(
            default=... if required else default,
            alias=None if field == prop else prop,
            description=description if isinstance(description, str) else None,
        )

    def _build_property_hint(self, schemas: Iterable[Subschema], parent: str, name: str) -> Hint:
        telling = next((schema for schema in schemas if schema is not True), True)
        return self._build_hint(telling, parent, name)

    def _build_hint(self, schema: Subschema, parent: str, name: str) -> Hint:
        if isinstance(schema, bool) or self._depth == LIMITS.type_depth:
            return Any
        if id(schema) not in self._hints:
            # A recursion that passes through no model cannot be expressed in Python.
            self._hints[id(schema)] = Any
            self._depth += 1
            self._hints[id(schema)] = _build_union(
                [
                    self._convert_type(kind, schema, parent, name)
                    for kind in find_types(self._document, schema)
                ]
            )
            self._depth -= 1
        return self._hints[id(schema)]

    def _convert_type(
        self, kind: ValueType, schema: Mapping[str, Json], parent: str, name: str
    ) -> Hint:
        match kind.kind:
            case "scalar":
                return self._add_bounds(SCALARS.get(kind.name, Any), kind.name, schema)
            case "literals":
                if not any(isinstance(value, float) for value in kind.values):
                    return Literal[kind.values]
                # A float is not allowed in `Literal`.
                are_numbers = all(isinstance(value, (int, float)) for value in kind.values)
                return float if are_numbers else Any
            case "array":
                inside = [self._build_hint(inner, parent, f"{name} item") for inner in kind.inside]
                elements = list[_build_union(inside)]  # type: ignore[misc, valid-type]  # made as we go
                return self._add_bounds(elements, "array", schema)
            case "map":
                values = self._build_property_hint(kind.inside, parent, name)
                return dict[str, values]  # type: ignore[valid-type]  # made as we go
            case "record":
                return ForwardRef(
                    self._reserve_name(follow_references(self._document, schema), parent, name)
                )
            case "alternative":
                return self._build_hint(kind.inside[0], parent, name)
            case _:
                return Any

    def _add_bounds(self, hint: Hint, kind: str, schema: Mapping[str, Json]) -> Hint:
        arguments = BOUNDS.get(kind, {})
        bounds = {
            argument: part[keyword]
            for part in reversed(list(self._document.reach(schema, "allOf")))
            for keyword, argument in arguments.items()
            if keyword in part and not isinstance(part[keyword], bool)
        }
        return Annotated[hint, Field(**bounds)] if bounds else hint

    def _reserve_name(self, schema: Mapping[str, Json], parent: str, name: str) -> str:
        if id(schema) not in self._names:
            used = set(self._names.values())
            wanted = chosen = parent + (camel_case(name) or "Part")
            number = 2
            while chosen in used:
                chosen, number = f"{wanted}{number}", number + 1
            self._names[id(schema)] = chosen
            self._waiting.append((schema, chosen))
        return self._names[id(schema)]

    def _fill(self, schema: Mapping[str, Json], sent: Json) -> dict[str, Json]:
        """Validate `sent`, and replace its objects by their models.

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
        explainer = self._schema.explainer(LIMITS.model_units)
        filled: dict[str, Json] = self._fill_inside([schema], sent, explainer, as_model=False)
        return filled

    def _check_part(self, schema: Mapping[str, Json], sent: Json) -> None:
        refuse_non_json(sent)
        is_valid = self._schema.compile_part(schema)
        if is_valid is not None and is_valid(sent):
            return
        faults = self._schema.explainer(LIMITS.model_units).find_faults(schema, sent)
        if faults or is_valid is not None:
            faults = faults or (build_unexplained(schema, sent),)
            raise build_argument_error(self._document, faults)

    def _fill_inside(
        self, schemas: list[Subschema], value: Json, explainer: Explainer, *, as_model: bool = True
    ) -> Json:
        """Replace the objects in `value`, to which all of `schemas` apply, by models.

        An object becomes the model of the first of its schemas that has one.
        """
        if not isinstance(value, (dict, list)):
            return value
        parts = explainer.collect_applicable(schemas, value)
        filled: dict[Any, Json] = {
            step: self._fill_inside(explainer.find_inside(parts, step), inner, explainer)
            for step, inner in steps(value)
        }
        if isinstance(value, list):
            return list(filled.values())
        name = next((self._names[id(part)] for part in parts if id(part) in self._names), None)
        if name is None or not as_model:
            return filled
        # Without validating again.
        model = self._models[name]
        fields = {field.alias or name: name for name, field in model.model_fields.items()}
        declared = {fields[name]: inner for name, inner in filled.items() if name in fields}
        instance = model.model_construct(_fields_set=set(declared), **declared)
        instance.__pydantic_extra__ = {n: inner for n, inner in filled.items() if n not in fields}
        return instance


class _ArgumentsModel(BaseModel):
    """A base of all models: other properties are kept, and no name is reserved."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())


def _advertise(schema: Mapping[str, Json]) -> type[BaseModel]:
    class Advertising(_ArgumentsModel):
        @classmethod
        def model_json_schema(cls, *_: object, **__: object) -> dict[str, Json]:
            own: dict[str, Json] = copy_json(schema, Limits().json_depth)
            return own

    return Advertising


def unwrap_models(value: Json) -> Json:
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, dict):
        return {name: unwrap_models(inner) for name, inner in value.items()}
    return [unwrap_models(inner) for inner in value] if isinstance(value, list) else value


_NOT_OF_A_WORD = compile_pattern(r"\W")
_PLAIN_WORD = compile_pattern(r"[A-Za-z0-9]+")


def _build_union(hints: list[Hint]) -> Hint:
    return Any if Any in hints or not hints else Union[tuple(hints)]  # noqa: UP007 - made as we go


def _choose_field_names(properties: Iterable[str]) -> dict[str, str]:
    properties = list(properties)
    # First the properties with possible names.
    names = {name: name for name in properties if _is_usable(name)}
    used = set(names)
    for name in properties:
        if name not in names:
            field = _NOT_OF_A_WORD.sub("_", name).strip("_") or "field"
            field = field if field.isidentifier() else f"field_{field}"
            while field in used or not _is_usable(field):
                field += "_"
            names[name] = field
            used.add(field)
    return {name: names[name] for name in properties}


def _is_parameter(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def camel_case(text: str) -> str:
    words = read_tokens(_PLAIN_WORD, anyascii(text))
    joined = "".join(word[0][:1].upper() + word[0][1:] for word in words)
    return "_" + joined if joined[:1].isdigit() else joined


def _is_usable(name: str) -> bool:
    return _is_parameter(name) and not name.startswith("_") and not hasattr(BaseModel, name)
