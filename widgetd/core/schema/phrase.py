"""Put faults into words: the expectation of a schema, and the error of a call.

Written for people and models after a mistake: a phrase is short before it is complete, an
error fits on one line, and neither contains a sensitive value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from widgetd.base.errors import CallError, InvalidArgument
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.json_values import (
    MISSING,
    Json,
    Path,
    is_number,
    join_path,
    kind,
    path_names,
    replace_at,
)
from widgetd.core.schema.keywords import Subschema, guess_type, list_types
from widgetd.core.schema.limits import LIMITS

LONGEST_ENDING = LIMITS.message_chars * 2 // 3
SAFE_INTEGER = 2**53 - 1

TYPES: Mapping[str, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
FORMATS: Mapping[str, str] = {
    "date": "a date as 2026-01-31",
    "date-time": "a date and time as 2026-01-31T09:30:00Z",
    "time": "a time as 09:30:00Z",
    "duration": "a duration as PT1H30M",
    "email": "an email address",
    "idn-email": "an email address",
    "hostname": "a host name",
    "idn-hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "uri": "an absolute URI as https://example.com/a",
    "uri-reference": "a URI or a relative reference",
    "iri": "an absolute IRI as https://example.com/a",
    "iri-reference": "an IRI or a relative reference",
    "uri-template": "a URI template",
    "uuid": "a UUID",
    "json-pointer": "a JSON pointer",
    "relative-json-pointer": "a relative JSON pointer",
    "regex": "a regular expression",
}
_STEPS = compile_pattern(r"([^.\[\]]+)|\[(\d+)\]")

Trail: TypeAlias = "tuple[()] | tuple[str | int, Trail]"


class ArgumentFault(NamedTuple):
    """A place at which a value does not fit.

    Attributes:
        trail: The steps from the explained value to the value at fault, as nested pairs, so a
            step is put in front without copying the others.
        keyword: The failing keyword, if any was identified.
        value: The value there, or `MISSING`.
        schema: The violated schema.
        phrase: The expectation, if the schema alone does not state it.
    """

    trail: Trail
    keyword: str
    value: object
    schema: Subschema
    phrase: str = ""

    @property
    def path(self) -> Path:
        """The steps from the explained value to the value at fault."""
        steps = []
        trail = self.trail
        while trail:
            step, trail = trail
            steps.append(step)
        return tuple(steps)

    def expected(self, document: SchemaDocument) -> str:
        return self.phrase or describe(document, self.schema)


Faults = tuple[ArgumentFault, ...]


def shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def shorten_json(value: object, longest: int = 40) -> str:
    if isinstance(value, str) and len(value) > longest:
        return json.dumps(shorten(value, longest), ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= longest + 2 else text[: longest - 1] + "…"


def join_alternatives(phrases: Sequence[str]) -> str:
    """Join `phrases`, each once, with commas and a final "or"."""
    unique = list(dict.fromkeys(phrases))
    if len(unique) == 1:
        return unique[0]
    return f"{', '.join(unique[:-1])} or {unique[-1]}"


def join_choices(phrases: Sequence[str]) -> str:
    """Join `phrases` with "or", without repetition, and count them beyond the first few."""
    unique = list(dict.fromkeys(phrases))
    if len(unique) <= LIMITS.choices:
        return join_alternatives(unique)
    return _one_of(unique, len(unique))


def _one_of(phrases: Sequence[str], count: int) -> str:
    more = f" and {count - LIMITS.choices} more" if count > LIMITS.choices else ""
    return f"one of {', '.join(phrases[: LIMITS.choices])}{more}"


def describe(document: SchemaDocument, schema: Subschema) -> str:
    """Describe what `schema`, a part of `document`, expects: `an integer from 0 to 9`."""
    phrase = _describe(document, schema, LIMITS.phrase_depth)
    return shorten(phrase, LIMITS.phrase_chars)


def _describe(document: SchemaDocument, schema: Subschema, depth: int) -> str:
    if isinstance(schema, bool):
        return "a value" if schema else "nothing"
    if "const" in schema:
        return shorten_json(schema["const"])
    if isinstance(values := schema.get("enum"), list):
        if len(values) == 1:
            return shorten_json(values[0])
        return _one_of([shorten_json(value, 24) for value in values[: LIMITS.choices]], len(values))
    if names := list_types(schema):
        return join_alternatives([_describe_type(name, schema) for name in names])
    inner = [*document.targets(schema), *_list_branches(schema)]
    if inner and depth:
        return join_alternatives([_describe(document, part, depth - 1) for part in inner])
    if name := guess_type(schema):
        return _describe_type(name, schema)
    return "another value" if "not" in schema else "a value"


def _list_branches(schema: Mapping[str, Json]) -> list[Subschema]:
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(branches := schema.get(keyword), list):
            return branches[:1] if keyword == "allOf" else branches
    return []


def _describe_type(name: str, schema: Mapping[str, Json]) -> str:
    if name in ("integer", "number"):
        step = schema.get("multipleOf")
        multiple = "" if step is None else f" that is a multiple of {shorten_json(step)}"
        return TYPES[name] + _describe_range(schema) + multiple
    if name == "string":
        noun = FORMATS.get(str(schema.get("format")), TYPES[name])
        noun += _describe_count(schema, "Length", "character")
        if isinstance(media_type := schema.get("contentMediaType"), str):
            noun += f" that holds {media_type}"
        if isinstance(encoding := schema.get("contentEncoding"), str):
            noun += f" encoded as {encoding}"
        pattern = schema.get("pattern")
        if not isinstance(pattern, str):
            return noun
        return f"{noun} that matches {shorten(pattern, 40)}"
    if name == "array":
        unique = " without duplicates" if schema.get("uniqueItems") is True else ""
        return TYPES[name] + _describe_count(schema, "Items", "element") + unique
    if name == "object":
        return TYPES[name] + _describe_count(schema, "Properties", "property")
    return TYPES.get(name, name)


def _describe_range(schema: Mapping[str, Json]) -> str:
    # Generators of schemas bound every integer by the range of a browser, which says nothing.
    low, high = (
        None if end in (-SAFE_INTEGER, SAFE_INTEGER) else end
        for end in (schema.get("minimum"), schema.get("maximum"))
    )
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if above is True:  # draft 4 marks `minimum` itself as exclusive
        low, above = None, low
    if below is True:
        high, below = None, high
    if low is not None and high is not None:
        return f" from {shorten_json(low)} to {shorten_json(high)}"
    bounds = {"of at least": low, "above": above, "of at most": high, "below": below}
    clauses = [f"{word} {shorten_json(end)}" for word, end in bounds.items() if is_number(end)]
    return f" {' and '.join(clauses)}" if clauses else ""


def _describe_count(schema: Mapping[str, Json], suffix: str, noun: str) -> str:
    low, high = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"
    if low is not None and high is not None and low != high:
        return f" of {shorten_json(low)} to {shorten_json(high)} {plural}"
    bound = high if low is None else low
    word = "" if low == high else "at least " if high is None else "at most "
    noun = noun if bound == 1 else plural
    return "" if bound is None else f" of {word}{shorten_json(bound)} {noun}"


def build_argument_error(
    document: SchemaDocument,
    faults: Iterable[ArgumentFault],
    *,
    sensitive: Collection[str] = (),
    examples: Iterable[tuple[str, Json]] = (),
    admits: Callable[[Json], bool] = bool,
    more: bool = False,
) -> CallError:
    """Build the error of invalid arguments.

    Args:
        document: The schema.
        faults: At least one. The first five places go with the error. The message names as many
            as it has room for, and counts the others.
        sensitive: Dotted paths of properties whose values must not appear.
        examples: Valid arguments for the end of the message, each after its name, best first.
        admits: Decides whether arguments are valid.
        more: Whether further faults may exist.
    """
    by_path: dict[str, InvalidArgument] = {}
    for fault in faults:
        argument = _to_invalid_argument(document, fault, sensitive)
        by_path.setdefault(argument.path, argument)
    arguments = tuple(by_path.values())
    message = str(arguments[0])
    room = LIMITS.message_chars - len(message) - len(_count_others(len(arguments), more=more))
    ending = _write_example(arguments[0].path, examples, admits, min(room, LONGEST_ENDING))
    named = 1
    for argument in arguments[1 : LIMITS.invalid_arguments]:
        others = _count_others(len(arguments) - named - 1, more=more)
        if len(f"{message}; {argument}{others}{ending}") >= LIMITS.message_chars:
            break
        message += f"; {argument}"
        named += 1
    message += _count_others(len(arguments) - named, more=more) + ending
    return CallError(
        "W2002",
        message,
        path=arguments[0].path,
        invalid_arguments=arguments[: LIMITS.invalid_arguments],
    )


def _to_invalid_argument(
    document: SchemaDocument, fault: ArgumentFault, sensitive: Collection[str]
) -> InvalidArgument:
    path = fault.path
    visible = _count_visible_steps(path, sensitive)
    # An undeclared property may be a misspelt sensitive property.
    is_secret = visible is not None or (bool(sensitive) and fault.keyword == "additionalProperties")
    if fault.value is MISSING:
        got = "nothing"
    elif isinstance(fault.value, list):
        got = f"an array of {len(fault.value)}"
    elif is_secret or isinstance(fault.value, dict):
        got = kind(fault.value)
    else:
        got = shorten_json(fault.value)
    return InvalidArgument(
        path=_cut_middle(join_path(path[:visible]), LIMITS.path_chars),
        expected=_cut_middle(fault.expected(document), LIMITS.expected_chars),
        got=got,
    )


def _count_visible_steps(path: Path, sensitive: Collection[str]) -> int | None:
    """Return how many steps of a sensitive `path` may be shown, or None if it is not sensitive.

    The ancestors of a sensitive property are hidden too: they may have been sent as a string.
    """
    lengths = [length for length, step in enumerate(path, start=1) if isinstance(step, str)]
    names = tuple(path[length - 1] for length in lengths)
    for entry in sensitive:
        secret = path_names(entry)
        shared = min(len(names), len(secret))
        if names[:shared] == secret[:shared]:
            return lengths[len(secret) - 1] if len(secret) <= len(lengths) else len(path)
    return None


def _cut_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[1 - longest // 2 :]}"


def _count_others(count: int, *, more: bool) -> str:
    if not count:
        return ""
    return f"; and at least {count} more" if more else f"; and {count} more"


def _write_example(
    path: str, examples: Iterable[tuple[str, Json]], admits: Callable[[Json], bool], room: int
) -> str:
    for name, arguments in examples:
        for place, value in _list_excerpts(arguments, path, admits):
            of = f" of {place}" if place else ""
            # Not orjson, because it writes no integer beyond 64 bits.
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            ending = f". {name}{of}: {text}"
            if len(ending) < room:
                return ending
    return ""


def _list_excerpts(
    arguments: Json, path: str, admits: Callable[[Json], bool]
) -> Iterator[tuple[str, Json]]:
    """Yield `arguments`, then ever smaller parts of them towards `path`, with their places.

    An array is reduced to its first element if it still fits then.
    """
    yield "", arguments
    value: Json = arguments
    at: Path = ()
    for token in read_tokens(_STEPS, path):
        step = token[1] or 0
        try:
            value, at = value[step], (*at, step)
        except (LookupError, TypeError):
            return
        if isinstance(value, list) and len(value) > 1:
            excerpt = value[:1]
            value = excerpt if admits(replace_at(arguments, {at: excerpt})) else value
        yield join_path(at), value
