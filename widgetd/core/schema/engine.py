"""Validate with jsonschema-rs, imported by no other module.

Its `is_valid` decides, and caches its answers by schema and value, so a recursive union is cheap.
Its `validate`, `iter_errors` and `evaluate` do not, and are never called on arguments. Nothing is
fetched, formats are asserted, and a pattern without linear matching is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import quote

import jsonschema_rs

from widgetd.base.errors import WidgetError
from widgetd.base.text_search import nearest
from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.json_values import Json, error_at, pointer, resolve_pointer, size
from widgetd.core.schema.keywords import Subschema, find_element, list_parts, split_elements
from widgetd.core.schema.limits import LIMITS
from widgetd.core.schema.phrase import TYPES, shorten, shorten_json

IsValid: TypeAlias = Callable[[Json], bool]


# Most patterns compile to a hundredth of the smaller size.
SMALL = jsonschema_rs.RegexOptions(size_limit=64 * 1024)
LARGE = jsonschema_rs.RegexOptions(size_limit=4 * 1024 * 1024)
OPTIONS: dict[str, Any] = {"offline": True, "validate_formats": True, "pattern_options": LARGE}


# The draft of a schema without `$schema`.
DEFAULT_DRAFT = "https://json-schema.org/draft/2020-12/schema"

# The address of a schema without its own, while its parts are compiled.
ADDRESS = "https://schema.invalid/"

# The keywords about a value without its parts. The library knows their meaning in each draft.
LEAVES = frozenset(
    {
        *("type", "const", "enum", "format", "pattern", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
        *("contentEncoding", "contentMediaType"),  # asserted in drafts 6 and 7
    }
)

# Advice on keywords often written in another form.
ADVICE: Mapping[str, str] = {
    "items": "write 'prefixItems' for a list of schemas, one for each place",
    "required": "write it as a list of names, beside 'properties'",
}


def compile_validator(schema: dict[str, Json]) -> IsValid:
    """Compile the validator of `schema`, with its references resolved.

    Raises:
        WidgetError: A keyword is not as JSON Schema requires it (W1201).
    """
    try:
        return jsonschema_rs.validator_for(schema, **OPTIONS).is_valid
    except jsonschema_rs.ValidationError as error:
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Referencing):
            # Either the draft is unknown, or a resolved reference is not a valid URI.
            if not _accepts({"$schema": schema.get("$schema", "")}, LARGE):
                problem = f"{shorten_json(schema.get('$schema'))} is no known draft of JSON Schema"
                advice = f'write "{DEFAULT_DRAFT}", or leave it out'
                raise error_at("W1201", "/$schema", problem, advice) from None
            problem = f"a reference is no URI ({_shorten_message(error)})"
            advice = "write %20 for a space and %25 for a percent sign"
            raise error_at("W1201", "", problem, advice) from None
        raise _build_keyword_error(error) from None


def refuse_invalid_parts(document: SchemaDocument, schema: Mapping[str, Json]) -> None:
    """Refuse parts of `schema` that are no schemas, where only a reference leads to them.

    The library examines the other parts, but takes these as they are.

    Raises:
        WidgetError: A keyword is not as JSON Schema requires it (W1201).
    """
    for at in document.apart:
        try:
            draft = document.root.get("$schema", DEFAULT_DRAFT)
            jsonschema_rs.meta.validate({**resolve_pointer(schema, at), "$schema": draft})
        except jsonschema_rs.ValidationError as error:
            raise _build_keyword_error(error).within(at) from None


def _shorten_message(error: jsonschema_rs.ValidationError) -> str:
    return error.message.partition("\n")[0][:200]


def _build_keyword_error(error: jsonschema_rs.ValidationError) -> WidgetError:
    path = error.instance_path
    if path and path[-1] == "type":
        return _build_type_error(pointer(*path), error.instance)
    keyword = str(path[-1]) if path else ""
    advice = ADVICE.get(keyword, "write the keyword as JSON Schema wants it")
    return error_at("W1201", pointer(*path), _shorten_message(error), advice)


def _build_type_error(at: str, written: Json) -> WidgetError:
    names = written if isinstance(written, list) else [written]
    wrong = next((n for n in names if not isinstance(n, str) or n not in TYPES), written)
    meant = nearest(wrong, tuple(TYPES)) if isinstance(wrong, str) else None
    advice = f"did you mean '{meant}'?" if meant else f"write one of {', '.join(TYPES)}"
    problem = (
        f"'{wrong}' is no type" if isinstance(wrong, str) else f"{shorten_json(wrong)} is no type"
    )
    return error_at("W1201", at, problem, advice)


def compile_part(document: SchemaDocument, part: Subschema) -> IsValid | None:
    """Compile the validator of a part of a schema, or return None if nothing can refer to it.

    A part with dynamic references has none: their targets depend on the way there. Compiling
    a part compiles everything below it, so it may cost as much as the whole schema. Compiling all
    parts at once, as `validator_map_for` does, may cost the square.
    """
    if document.is_dynamic:
        return None
    address = document.root.get("$id", ADDRESS)
    whole = jsonschema_rs.Registry([(address, dict(document.root))])
    reference = {**_get_draft(document), "$ref": f"{address}#{quote(document.at(part))}"}
    try:
        return jsonschema_rs.validator_for(reference, registry=whole, **OPTIONS).is_valid
    except jsonschema_rs.ValidationError:  # a relative address without a base
        return None


def matches(pattern: str, text: str) -> bool:
    return _compile_for_text("pattern", pattern)(text)


def has_format(name: str, text: str) -> bool:
    return _compile_for_text("format", name)(text)


@lru_cache(maxsize=1024)
def _compile_for_text(keyword: str, argument: str) -> IsValid:
    return jsonschema_rs.validator_for({keyword: argument}, **OPTIONS).is_valid


class LeafValidator:
    """Validates the keywords of a document's parts that hold no further schemas."""

    def __init__(self, document: SchemaDocument) -> None:
        self._draft = _get_draft(document)
        # The part is kept: an identity is unique only while its object lives.
        self._known: dict[int, tuple[Mapping[str, Json], list[str], IsValid | None]] = {}

    def find_failing(self, part: Mapping[str, Json], value: Json) -> str | None:
        compiled = self._known.get(id(part))
        if compiled is None:
            leaves = [keyword for keyword in part if keyword in LEAVES]
            leaves.sort(key="type".__ne__)
            is_valid = self._compile({leaf: part[leaf] for leaf in leaves}) if leaves else None
            compiled = self._known[id(part)] = (part, leaves, is_valid)
        _, leaves, is_valid = compiled
        if is_valid is None or is_valid(value):
            return None
        # If none fails alone, they fail together, and the last stands for them.
        return next((leaf for leaf in leaves[:-1] if self._fails(part, leaf, value)), leaves[-1])

    def _fails(self, part: Mapping[str, Json], leaf: str, value: Json) -> bool:
        alone = {leaf: part[leaf]}
        exclusive = "exclusive" + leaf.capitalize()
        if part.get(exclusive) is True:  # draft 4 marks the bound itself as exclusive
            alone[exclusive] = True
        if leaf == "contentMediaType" and "contentEncoding" in part:  # of the decoded text
            alone["contentEncoding"] = part["contentEncoding"]
        is_valid = self._compile(alone)
        return is_valid is not None and not is_valid(value)

    def _compile(self, leaves: dict[str, Json]) -> IsValid | None:
        try:
            return jsonschema_rs.validator_for({**self._draft, **leaves}, **OPTIONS).is_valid
        except jsonschema_rs.ValidationError:  # a part reached only by a pointer may be invalid
            return None


def _get_draft(document: SchemaDocument) -> dict[str, Json]:
    return {"$schema": document.root["$schema"]} if "$schema" in document.root else {}


def refuse_patterns(document: SchemaDocument) -> None:
    """Refuse patterns of `document` that are too slow, too large or too many.

    Raises:
        WidgetError: A pattern is unusable (W1205), or there are too many (W1203).
    """
    large = 0
    for count, (at, pattern) in enumerate(_list_patterns(document), start=1):
        if count > LIMITS.patterns:
            problem = f"there are more than {LIMITS.patterns} patterns"
            raise error_at("W1203", at, problem, "use formats")
        if _accepts({"pattern": pattern}, SMALL):
            continue
        if not _accepts({"pattern": pattern}, LARGE):
            text = shorten(pattern, 80)
            if _accepts({"pattern": pattern}, jsonschema_rs.FancyRegexOptions()):
                problem = f"the pattern '{text}' needs look-around or a back reference"
                advice = "write it without, so that it can be matched in linear time"
            else:
                problem = f"the pattern '{text}' is no regular expression, or too large a one"
                advice = "write one that can be matched in linear time"
            raise error_at("W1205", at, problem, advice)
        large += 1
        if large > LIMITS.large_patterns:
            problem = f"more than {LIMITS.large_patterns} patterns are large once written out"
            raise error_at("W1203", at, problem, "use maxLength for long repetitions")


def _list_patterns(document: SchemaDocument) -> Iterator[tuple[str, str]]:
    for schema in document.subschemas():
        at = document.at(schema)
        if isinstance(pattern := schema.get("pattern"), str):
            yield at + pointer("pattern"), pattern
        if isinstance(named := schema.get("patternProperties"), dict):
            for pattern in named:
                yield at + pointer("patternProperties", pattern), pattern


def _accepts(
    schema: dict[str, Json], patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions
) -> bool:
    try:
        jsonschema_rs.validator_for(schema, offline=True, pattern_options=patterns)
    except jsonschema_rs.ValidationError:
        return False
    return True


class Work:
    """The work of validating values against a document, counted before it is done.

    jsonschema-rs holds the interpreter lock while it validates, in whatever thread. The work is
    counted by walking the value together with the subschemas of each place, without deciding
    anything: every alternative and condition counts.
    """

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._places: dict[frozenset[int], _ArgumentPlace] = {}
        self._left = 0
        # An upper bound: a comparison reads everything inside, as do those a few levels above it.
        compared = max(map(_count_comparisons, document.subschemas()), default=0)
        self._at_most = (document.size + 1) * (1 + 8 * compared)

    def is_too_much(self, value: Json) -> bool:
        most = LIMITS.validation_values
        if size(value, most) * self._at_most <= most:
            return False
        self._left = most
        try:
            self._charge(value, self._place((self._document.root,)))
        except _TooMuchError:
            return True
        return False

    def _charge(self, value: Json, place: _ArgumentPlace) -> int:
        count = 1
        per_value = LIMITS.validation_characters
        self._left -= place.parts
        if isinstance(value, str):
            self._left -= place.parts * (len(value) // per_value)
        elif isinstance(value, dict):
            keys = len(value) + sum(map(len, value)) // per_value if place.keyed else 0
            self._left -= place.keyed * keys
            for name, inner in value.items():
                count += self._charge(inner, self._enter(place, name))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                count += self._charge(inner, self._enter(place, min(index, place.positioned)))
        self._left -= place.compared * count
        if self._left < 0:
            raise _TooMuchError
        return count

    def _enter(self, place: _ArgumentPlace, step: str | int) -> _ArgumentPlace:
        inner = place.inside.get(step)
        if inner is None:
            inner = self._place(part for held in place.held for part in _find_inner(held, step))
            place.inside[step] = inner
        return inner

    def _place(self, schemas: Iterable[Subschema]) -> _ArgumentPlace:
        # The engine caches what it held against what, so each schema counts once.
        entered = {id(schema): schema for schema in schemas if isinstance(schema, Mapping)}
        key = frozenset(entered)
        if key not in self._places:
            place = _ArgumentPlace(list(self._expand(entered.values())))
            place.keyed += sum(
                len(list(self._expand([part["propertyNames"]])))
                for part in place.held
                if "propertyNames" in part
            )
            self._left -= place.parts
            self._places[key] = place
        return self._places[key]

    def _expand(self, schemas: Iterable[Subschema]) -> Iterator[Mapping[str, Json]]:
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, Mapping):
                yield schema
                waiting += self._document.targets(schema)
                waiting += [part.schema for part in list_parts(schema) if part.reach == "same"]


class _TooMuchError(Exception):
    """The work exceeds the limit."""


class _ArgumentPlace:
    """The schemas of a value at a place in the arguments.

    Attributes:
        held: The schemas.
        parts: Their number.
        keyed: The number of schemas with patterns for each key.
        compared: The number of times the whole value is hashed, or compared with another.
        positioned: The first index of the elements with the same schemas.
        inside: The places inside, by name or index.
    """

    __slots__ = ("compared", "held", "inside", "keyed", "parts", "positioned")

    def __init__(self, held: list[Mapping[str, Json]]) -> None:
        self.held = held
        self.parts = len(held)
        self.keyed = sum(len(part.get("patternProperties", ())) for part in held)
        self.compared = sum(map(_count_comparisons, held))
        self.positioned = max((len(split_elements(part)[0]) for part in held), default=0)
        self.inside: dict[str | int, _ArgumentPlace] = {}


def _count_comparisons(part: Mapping[str, Json]) -> int:
    values = part["enum"] if isinstance(part.get("enum"), list) else [part.get("const")]
    return (part.get("uniqueItems") is True) + sum(isinstance(v, (dict, list)) for v in values)


def _find_inner(schema: Mapping[str, Json], step: str | int) -> Iterator[Subschema]:
    if isinstance(step, int):
        yield find_element(schema, step)
        yield schema.get("contains", True)
        yield schema.get("unevaluatedItems", True)
        return
    properties = schema.get("properties", {})
    if step in properties:
        yield properties[step]
    else:
        yield schema.get("additionalProperties", True)
    yield from schema.get("patternProperties", {}).values()
    yield schema.get("unevaluatedProperties", True)
