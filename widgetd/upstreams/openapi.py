"""OpenAPI documents, reduced to what calling their operations takes.

FastMCP resolves every schema for every operation: a document of Stripe's size keeps it busy for a
minute. Most of such a document describes responses, and nothing here validates those.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import orjson

from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.json_values import is_too_deep
from widgetd.upstreams.limits import LIMITS

READ_ONLY_METHODS = frozenset({"get", "head"})
_METHODS = frozenset({*READ_ONLY_METHODS, "put", "post", "delete", "options", "patch", "trace"})
_HEAD = ("openapi", "info", "servers")
_OPERATION = ("operationId", "summary", "description", "parameters", "requestBody")
_RESOLVED_REFERENCES = 8


def parse_document(text: str) -> dict[str, Any] | None:
    """Parse an OpenAPI document.

    Returns:
        The document, or None where it is not JSON, nests too deeply, or has no `paths`.
    """
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        return None
    return None if is_too_deep(document, LIMITS.document_depth) else document


def reduce_document(
    document: Mapping[str, Any], *, only_reading: bool, actions: Collection[str] = ()
) -> dict[str, Any]:
    """Return the document without what no call needs.

    Args:
        document: The document, as `parse_document` returns it.
        only_reading: Whether to leave out operations with effects.
        actions: Ids of operations to keep nevertheless.
    """
    paths: dict[str, Any] = {}
    for path, item in document["paths"].items():
        if not isinstance(item, dict):
            continue
        operations = {
            method: _reduce_operation(operation, document)
            for method, operation in item.items()
            if method in _METHODS
            and isinstance(operation, dict)
            and (
                not only_reading
                or method in READ_ONLY_METHODS
                or operation.get("operationId") in actions
            )
        }
        if operations:
            shared = {"parameters": item["parameters"]} if "parameters" in item else {}
            paths[path] = {**shared, **operations}
    head = {key: document[key] for key in _HEAD if key in document}
    return {**head, "paths": paths, "components": _reachable_components(paths, document)}


def count_operations(document: Mapping[str, Any]) -> int:
    items = (item for item in document["paths"].values() if isinstance(item, dict))
    return sum(len(_METHODS & item.keys()) for item in items)


def _reduce_operation(operation: dict[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    responses = operation.get("responses")
    outcomes = {
        status: _reduce_response(response, document)
        for status, response in (responses.items() if isinstance(responses, dict) else ())
        if str(status).startswith("2")
    }
    operation_parts = {key: operation[key] for key in _OPERATION if key in operation}
    return {**operation_parts, "responses": outcomes or {"200": {"description": ""}}}


def _reduce_response(response: Any, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response reduced to whether its body is an object.

    FastMCP wraps every other body as `{"result": ...}`, and feeds rely on it.
    """
    response = _resolve(response, document)
    content = response.get("content")
    reduced = {}
    for kind, media in content.items() if isinstance(content, dict) else ():
        schema = _resolve(media.get("schema"), document) if isinstance(media, dict) else {}
        shape: dict[str, Any] = {k: schema[k] for k in ("type", "nullable") if k in schema}
        reduced[kind] = {"schema": shape or ({"title": "any"} if schema else {})}
    return {"description": "", **({"content": reduced} if reduced else {})}


def _resolve(value: Any, document: Mapping[str, Any]) -> dict[str, Any]:
    for _ in range(_RESOLVED_REFERENCES):
        if not isinstance(value, dict):
            return {}
        if not isinstance(reference := value.get("$ref"), str):
            return value
        value = _component(reference, document)
    return {}


def _component(reference: str, document: Mapping[str, Any]) -> Any:
    steps = reference.split("/")
    value: Any = document.get("components") if steps[:2] == ["#", "components"] else None
    for step in steps[2:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _reachable_components(paths: dict[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    components: dict[str, Any] = {}
    waiting = list(_references(paths))
    seen = set(waiting)
    while waiting:
        reference = waiting.pop()
        value = _component(reference, document)
        kind, _, name = reference.removeprefix("#/components/").partition("/")
        if not isinstance(value, dict) or not name or "/" in name:
            continue
        components.setdefault(kind, {})[name.replace("~1", "/").replace("~0", "~")] = value
        referenced = set(_references(value)) - seen
        seen |= referenced
        waiting += referenced
    return components


def _references(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(reference := node.get("$ref"), str):
                yield reference
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


_VARIABLE = compile_pattern(r"\{(\w+)\}")


def document_of_endpoints(name: str, endpoints: Mapping[str, Any]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for tool, endpoint in endpoints.items():
        variables = [token[1] for token in read_tokens(_VARIABLE, endpoint.get)]
        parameters = [
            {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}
            for place, names in (("path", variables), ("query", endpoint.query))
            for name in names
        ]
        responses = {"200": {"description": "JSON"}}
        operation = {"operationId": tool, "parameters": parameters, "responses": responses}
        paths[endpoint.get] = {"get": operation}
    return {"openapi": "3.1.0", "info": {"title": name, "version": "1"}, "paths": paths}
