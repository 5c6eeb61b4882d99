"""Bind an action to a tool of an upstream: its question, its request, its answer.

    payload -> question -> request -> (another server) -> answer -> the widget's new arguments

Pure: other modules talk to the upstream. Expressions read the widget's arguments and `payload`,
which hides an argument of the same name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core import template as templates
from widgetd.core.schema.json_values import error_at, pointer
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.local_state import PAYLOAD
from widgetd.core.widget.query import Query, compile_queries
from widgetd.core.widget.sidecar import ActionNote, Sidecar
from widgetd.core.widget.summary import remove_paths, shorten_at_word

if TYPE_CHECKING:
    from widgetd.core.template import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundAction:
    """An action done by a tool of an upstream.

    Attributes:
        type: The action's type.
        note: The sidecar's settings.
        confirm: The question for the user. None: a question about the tool and its arguments.
        arguments: The request's arguments. None: those of the payload.
        result: The widget's new arguments, over the answer.
        sensitive: Dotted paths of arguments, sent only by expressions that name them.
    """

    type: str
    note: ActionNote
    confirm: Template | None
    arguments: Mapping[str, Query] | None
    result: Mapping[str, Query]
    sensitive: tuple[str, ...]

    def reads(self, name: str) -> bool:
        if self.confirm is not None and name in self.confirm.names:
            return True
        queries = (self.arguments or {}).values()
        return any(query.reads_all or name in query.names for query in queries)

    def question(
        self, arguments: Mapping[str, Any], payload: Mapping[str, Any], hidden: Collection[str]
    ) -> str:
        """Return the author's question for the user, or an empty text.

        Args:
            arguments: The widget's arguments.
            payload: The accepted payload.
            hidden: Dotted paths in the payload hidden from every reader, such as passwords.
        """
        if self.confirm is None:
            return ""
        public = remove_paths({**arguments, PAYLOAD: payload}, self._list_hidden(hidden))
        try:
            text = self.confirm.render(public)
        except CallError:
            return ""
        return shorten_at_word(text, LIMITS.question_chars)

    def request(
        self,
        arguments: Mapping[str, Any],
        payload: Mapping[str, Any],
        hidden: Collection[str],
        *,
        is_shown: bool = False,
    ) -> dict[str, Any]:
        """Build the arguments of the upstream's tool, without absent values.

        A sensitive value is in it only where an expression names its field.

        Args:
            arguments: The widget's arguments.
            payload: The accepted payload.
            hidden: Further sensitive paths, in the payload.
            is_shown: Whether a person reads it, so no sensitive value may be in it.

        Raises:
            CallError: An expression cannot be evaluated on this (W5007).
        """
        paths, scope = self._list_hidden(hidden), {**arguments, PAYLOAD: payload}
        if self.arguments is None:
            sent: Mapping[str, Any] = remove_paths(scope, paths)[PAYLOAD]
            return dict(sent)
        values = {}
        for name, query in self.arguments.items():
            named = () if is_shown else query.names
            removed = [path for path in paths if path.rpartition(".")[2] not in named]
            values[name] = query.find(dict(remove_paths(scope, removed)))
        return {name: value for name, value in values.items() if value is not None}

    def merge(self, arguments: Mapping[str, Any], answer: Any) -> dict[str, Any]:
        """Return the widget's arguments updated by the answer. Absent values change nothing.

        Raises:
            CallError: An expression cannot be evaluated on this (W5007).
        """
        values = {name: query.find(answer) for name, query in self.result.items()}
        return {**arguments, **{name: value for name, value in values.items() if value is not None}}

    def _list_hidden(self, hidden: Collection[str]) -> list[str]:
        in_payload = (f"{PAYLOAD}.{path}" for path in (*self.sensitive, *hidden))
        return [*self.sensitive, *in_payload]


def compile_bound_actions(sidecar: Sidecar, *, limits: Limits) -> Mapping[str, BoundAction]:
    """Compile the sidecar's actions with tools of upstreams, by type.

    Raises:
        WidgetError: An action names only a part of its tool (W1606), its question cannot be
            compiled (W1607), or an expression cannot (W1602).
    """
    bound = {}
    for name, note in sidecar.actions.items():
        at = f"/actions{pointer(name)}"
        is_partial = note.confirm is not None or note.arguments is not None or note.result
        if bool(note.upstream) != bool(note.tool) or (is_partial and not note.upstream):
            missing = "upstream" if not note.upstream else "tool"
            problem = f"the action '{name}' does not say which {missing} does it"
            raise error_at("W1606", at, problem, f"write '{missing}'")
        if not note.is_bound:
            continue
        confirm = None
        if note.confirm is not None:
            try:
                confirm = templates.compile_text(note.confirm, limits=limits)
            except WidgetError as error:
                problem = error.finding.problem
                raise error_at("W1607", f"{at}/confirm", problem, error.finding.advice) from None
        arguments = note.arguments
        bound[name] = BoundAction(
            type=name,
            note=note,
            confirm=confirm,
            arguments=None if arguments is None else compile_queries(arguments, f"{at}/arguments"),
            result=compile_queries(note.result, f"{at}/result"),
            sensitive=sidecar.sensitive,
        )
    return MappingProxyType(bound)
