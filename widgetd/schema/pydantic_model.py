"""Turn a JSON Schema into a pydantic model: the Python face of a widget's arguments.

The model admits exactly what the schema admits, because a `before` validator
asks the exact validator; the fields' types describe, and change nothing: a
number stays as it came. It refuses to be in the path of a tool call.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Optional

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from widgetd.errors import CallError
from widgetd.limits import Limits
from widgetd.schema.applicators import element_part, held_to, property_parts
from widgetd.schema.argument_errors import refusal, slips
from widgetd.schema.document import Subschema
from widgetd.schema.explain import Explainer
from widgetd.schema.faults import unexplained
from widgetd.schema.field_names import class_name, field_names, is_parameter
from widgetd.schema.json_values import Json, copied
from widgetd.schema.type_hints import AsItCame, Hint, Hints
from widgetd.schema.type_shapes import properties, required
from widgetd.schema.validator import Schema, compile_schema, refuse_what_is_not_json

JUDGEMENTS = 500_000


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
    parameters = [
        inspect.Parameter(
            field.alias or name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.is_required() else field.default,
            annotation=_described(field.annotation, field.metadata),
        )
        for name, field in model.model_fields.items()
        if is_parameter(field.alias or name)
    ]
    if len(parameters) < len(model.model_fields):
        rest = inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD, annotation=Any)
        parameters.append(rest)
    return inspect.Signature(parameters)


def _described(annotation: Hint, metadata: list[object]) -> Hint:
    said = tuple(entry for entry in metadata if not isinstance(entry, AsItCame))
    return Annotated[(annotation, *said)] if said else annotation


@lru_cache(maxsize=1024)
def _cached(text: str, model_name: str, title: str) -> type[BaseModel]:
    schema = compile_schema(json.loads(text))
    return _Maker(schema, model_name).made({**schema.advertised, "title": title})


class _Maker:
    """The models of one schema, while they are being made and when they are filled."""

    def __init__(self, schema: Schema, name: str) -> None:
        self._schema = schema
        self._document = schema.document
        self._hints = Hints(schema.document, self._promised)
        self._models: dict[str, type[BaseModel]] = {}
        # The name of every schema's model, whether made or still waiting.
        self._names: dict[int, str] = {id(schema.document.root): name}
        self._waiting: list[tuple[Mapping[str, Json], str]] = []
        self._root = name

    def made(self, advertised: Mapping[str, Json]) -> type[BaseModel]:
        """The root's model, and with it every model that it needs."""
        self._make(self._document.root, self._root, _advertising(advertised))
        while self._waiting:
            self._make(*self._waiting.pop(0), _Part)
        for model in self._models.values():
            model.model_rebuild(force=True, _types_namespace=self._models)
        return self._models[self._root]

    def _promised(self, schema: Mapping[str, Json], parent: str, name: str) -> str:
        if id(schema) not in self._names:
            chosen = class_name(parent, name, self._names.values())
            self._names[id(schema)] = chosen
            self._waiting.append((schema, chosen))
        return self._names[id(schema)]

    def _make(self, schema: Mapping[str, Json], name: str, base: type[BaseModel]) -> None:
        known = properties(self._document, schema)
        needed = required(self._document, schema)
        fields: dict[str, Any] = {
            field: self._field(known[prop], (name, prop), field, required=prop in needed)
            for prop, field in field_names(known).items()
        }

        def exactly(cls: type[BaseModel], sent: Json) -> Json:
            return sent if isinstance(sent, cls) else self._admitted(schema, _plain(sent))

        validators: dict[str, Any] = {"exactly": model_validator(mode="before")(exactly)}
        self._models[name] = create_model(
            name, __base__=base, __module__=__name__, __validators__=validators, **fields
        )

    def _field(
        self, held_to: list[Subschema], place: tuple[str, str], field: str, *, required: bool
    ) -> tuple[Hint, Any]:
        parent, prop = place
        hint = self._hints.of(held_to, parent, prop)
        said = [schema for schema in held_to if isinstance(schema, Mapping)]
        default = next((schema["default"] for schema in said if "default" in schema), None)
        description = next((schema.get("description") for schema in said), None)
        if not required and default is None:
            hint = Optional[hint]  # noqa: UP045 - a forward reference knows no `|`
        return Annotated[hint, AsItCame()], Field(
            default=... if required else default,
            alias=None if field == prop else prop,
            description=description if isinstance(description, str) else None,
        )

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
        inside: dict[str, Json] = self._inside([schema], sent, self._schema.explainer(JUDGEMENTS))
        return inside

    def _check_part(self, schema: Mapping[str, Json], sent: Json) -> None:
        refuse_what_is_not_json(sent)
        decides = self._schema.part_validator(schema)
        if decides is not None and decides(sent):
            return
        faults = self._schema.explainer(JUDGEMENTS).faults(schema, sent)
        if faults or decides is not None:
            told = faults or (unexplained(schema, sent),)
            raise refusal(slips(self._document, told, ()), None)

    def _inside(self, schemas: list[Subschema], value: Json, judge: Explainer) -> Json:
        """`value`, held to all of `schemas`, with models in it, though not itself one."""
        parts = held_to(judge, schemas, value) if isinstance(value, (dict, list)) else []
        if isinstance(value, dict):
            return {
                name: self._modelled(
                    [held for part in parts for held in property_parts(judge, part, name)],
                    inner,
                    judge,
                )
                for name, inner in value.items()
            }
        if isinstance(value, list):
            return [
                self._modelled([element_part(part, index) for part in parts], inner, judge)
                for index, inner in enumerate(value)
            ]
        return value

    def _modelled(self, schemas: list[Subschema], value: Json, judge: Explainer) -> Json:
        """`value` as the model of the first of its schemas that has one."""
        inside = self._inside(schemas, value, judge)
        if isinstance(value, dict):
            for part in held_to(judge, schemas, value):
                if name := self._names.get(id(part)):
                    return _filled(self._models[name], inside)
        return inside


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


def _filled(model: type[BaseModel], values: dict[str, Json]) -> BaseModel:
    """An instance made without asking anyone again."""
    fields = {field.alias or name: name for name, field in model.model_fields.items()}
    known = {fields[name]: value for name, value in values.items() if name in fields}
    made = model.model_construct(_fields_set=set(known), **known)
    made.__pydantic_extra__ = {name: value for name, value in values.items() if name not in fields}
    return made


def _plain(value: Json) -> Json:
    """`value` with the arguments of the models in it."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
