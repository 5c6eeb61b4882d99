"""The types of a program's values, by the argument schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from widgetd.core.template.ir import Expr, Op

if TYPE_CHECKING:
    from widgetd.core.template.ir import Program

Type = Mapping[str, Any]
"""A resolved schema; empty if nothing is known."""

_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("js`", "~", "String", "|join", "|lower", "|upper", "|string"), "string"),
    **dict.fromkeys(("#", "js-", "js*", "js/", "js%", "jsneg", "jspos", "-", "*", "/"), "number"),
    **dict.fromkeys(("|length", "|sum", "|round", "|int", "|float", "loop"), "number"),
    **dict.fromkeys(("js===", "js!==", "js==", "js!=", "js<", "js<=", "js>", "js>="), "boolean"),
    **dict.fromkeys(("js!", "not", "eq", "ne", "lt", "lteq", "gt", "gteq", "in"), "boolean"),
    **dict.fromkeys(("?defined", "?none"), "boolean"),
    **dict.fromkeys(("js[,]", "[,]"), "array"),
    **dict.fromkeys(("js{}", "{}"), "object"),
}
_WORD_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("join", "toFixed", "toLowerCase", "toString", "toUpperCase"), "string"),
    **dict.fromkeys(("trim", "String"), "string"),
    **dict.fromkeys(("Math.abs", "Math.ceil", "Math.floor", "Math.max", "Math.min"), "number"),
    **dict.fromkeys(("Math.round", "Number", "reduce", "indexOf"), "number"),
    **dict.fromkeys(("includes", "some", "every"), "boolean"),
    **dict.fromkeys(("map", "filter", "Object.keys", "Object.values"), "array"),
}
"""The kinds of JavaScript's methods and functions."""

_SAME_LIST: Final = frozenset({"filter", "slice"})


class ArgumentTypes:
    """The types of a program's slots.

    Args:
        program: Its arguments have the types of `schema`.
        schema: The advertised argument schema.
    """

    def __init__(self, program: Program, schema: Type) -> None:
        self._schema = schema
        properties, required = schema.get("properties", {}), schema.get("required", ())
        self._types = {slot: properties.get(name) for name, slot in program.arguments}
        self._present = {slot for name, slot in program.arguments if name in required}

    def bind(self, slot: int, value: Any, *, is_present: bool) -> None:
        self._types[slot] = value
        if is_present:
            self._present.add(slot)

    def type_of(self, expr: Expr) -> Type:
        if type(expr) is int:
            return self._resolve(self._types.get(expr))
        if type(expr) is not Op:
            return {}
        if expr.name == ".":
            type_ = self.type_of(expr.operands[0])
            for key in expr.operands[1:]:
                type_ = self.property_type(type_, key)
            return type_
        if expr.name in {"[]", "js[]"}:
            return self.item_type(expr.operands[0])
        if expr.name in {"jsm", "jsloop"} and expr.operands[0] in _SAME_LIST:
            return self.type_of(expr.operands[1])
        if expr.name in {"js??", "js||", "or", "|default", "[:]"}:
            return self.type_of(expr.operands[0])
        return {}

    def property_type(self, holder: Type, key: Any) -> Type:
        return self._resolve(holder.get("properties", {}).get(key))

    def item_type(self, items: Expr) -> Type:
        return self._resolve(self.type_of(items).get("items"))

    def kind(self, expr: Expr) -> str:
        if isinstance(expr, str):
            return "string"
        if isinstance(expr, bool):
            return "boolean"
        if type(expr) is Op:
            if expr.name in {"js+", "+"}:
                both = {self.kind(operand) for operand in expr.operands}
                return "string" if "string" in both else "number" if both == {"number"} else ""
            if expr.name in {"js?:", "?:"} and len({*map(self.kind, expr.operands[1:])}) == 1:
                return self.kind(expr.operands[1])
            if expr.name == "." and expr.operands[-1] == "length":
                return "number"
            word = expr.operands[0] if expr.name in {"jsm", "jsfn", "jsloop"} else None
            kind = _WORD_KINDS.get(word, "") if word else _KINDS.get(expr.name, "")
            if kind:
                return kind
        type_ = self.type_of(expr)
        kinds: Any = type_.get("type", "")
        if isinstance(kinds, list):
            kinds = kinds[0] if len(kinds) == 1 else ""
        if not kinds and isinstance(type_.get("enum"), list):
            is_text = all(isinstance(value, str) for value in type_["enum"])
            return "string" if is_text else ""
        return "number" if kinds == "integer" else kinds

    def is_present(self, expr: Expr) -> bool:
        if type(expr) is int:
            return expr in self._present
        *path, key = expr.operands
        holder = path[0] if len(path) == 1 else Op(".", tuple(path))
        is_required = key in self.type_of(holder).get("required", ())
        return is_required and self.is_present(holder) and not self.may_be_null(holder)

    def may_be_null(self, expr: Expr) -> bool:
        type_ = self.type_of(expr)
        return not type_ or bool(type_.get("nullable")) or not {"type", "enum"} & type_.keys()

    def _resolve(self, schema: Any) -> Type:
        for _ in range(8):  # references may go in a circle
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                break
            at: Any = self._schema
            for key in schema["$ref"].removeprefix("#/").split("/"):
                at = at.get(key) if isinstance(at, Mapping) else None
            schema = at
        if not isinstance(schema, Mapping):
            return {}
        kinds = schema.get("type")
        if isinstance(kinds, list) and "null" in kinds:
            return {**schema, "type": [kind for kind in kinds if kind != "null"], "nullable": True}
        if kinds is None:
            options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
            choices = [self._resolve(option) for option in options if isinstance(option, Mapping)]
            values = [choice for choice in choices if choice.get("type") != "null"]
            if len(values) == 1:
                return {**values[0], "nullable": True}
        return schema
