"""The limits and timeouts of the chat."""

from __future__ import annotations

from dataclasses import dataclass

MESSAGE_TOO_LONG = "W2503"

_KIB = 1024
_MIB = 1024 * _KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """Limits of a user.

    Conversations are kept in SQLite, on disk or in memory. Where a user's share is used up, the
    user's oldest make room. Where the total is, those of the user with most.

    Attributes:
        request_bytes: A request to `/chatkit`: a form's payload may be larger than a message.
        message_bytes: A message of a user, or an action for the agent.
        answer_bytes: The text of a turn's answer.
        item_bytes: A stored item of a conversation.
        threads_each: Conversations of a user.
        items_each: Items of a conversation.
        thread_bytes: A conversation.
        user_bytes: All conversations of a user.
        total_bytes: All conversations. Without a state folder they take memory.
        thread_ttl_s: Time after the last change until a conversation is deleted.
        listed: Threads or items in an answer.
        title_chars: The title of a conversation.
        turn_cost: A turn's price in calls of `--rate`. Calls of its agent are charged besides.
        turns_at_once: Turns of a user at the same time, if `--at-once` allows no fewer.
        turn_s: A turn, with all calls of tools.
        turn_steps: Requests to the model in a turn.
        input_items: Items at the end of a conversation for the model.
        input_bytes: Their size for the model. Older items are left out first.
        last_turns: Turns with their model input in memory for `/chat/seen`.
        last_turn_bytes: Such a turn. Older items are left out first.
        last_turns_bytes: All of them.
        last_turn_s: Time for which such a turn is kept.
        follow_s: Time for which a widget with a live feed is kept up to date after its drawing.
        tool_call_s: A call of a tool: longer than a tool waits for a user.
        tool_text_chars: A tool's answer in a conversation, and an upstream's for a model.
        silence_s: Time of silence of an endpoint. It is asked twice.
        endpoint_error_chars: The passed on part of an endpoint's own error message.
    """

    request_bytes: int = _MIB
    message_bytes: int = 32 * _KIB
    answer_bytes: int = 128 * _KIB
    item_bytes: int = 256 * _KIB
    threads_each: int = 500
    items_each: int = 1_000
    thread_bytes: int = 4 * _MIB
    user_bytes: int = 16 * _MIB
    total_bytes: int = 64 * _MIB
    thread_ttl_s: float = 30 * 24 * 3600.0
    listed: int = 100
    title_chars: int = 60
    turn_cost: float = 5.0
    turns_at_once: int = 8
    turn_s: float = 120.0
    turn_steps: int = 12
    input_items: int = 100
    input_bytes: int = 512 * _KIB
    last_turns: int = 1_000
    last_turn_bytes: int = 256 * _KIB
    last_turns_bytes: int = 16 * _MIB
    last_turn_s: float = 3600.0
    follow_s: float = 600.0
    tool_call_s: float = 75.0
    tool_text_chars: int = 16_384
    silence_s: float = 50.0
    endpoint_error_chars: int = 300


LIMITS = ChatLimits()
