"""Errors of the argument parser, in the words of every other fault."""

from __future__ import annotations

from typing import get_args

from cyclopts import CycloptsError
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    ValidationError,
)

from widgetd.base.errors.expected import EXPECTED
from widgetd.base.text_search import did_you_mean

UNKNOWN, UNUSABLE = "W0001", "W0002"


def describe_usage_error(error: CycloptsError) -> str:
    command = " ".join(["widgetd", *(error.command_chain or ())])
    listed = f"`{command} --help` lists what there is"
    argument, token = error.argument, getattr(error, "token", None)
    subject = getattr(error, "keyword", None) or (token.keyword if token else None)
    subject = subject or (argument.name.lstrip("-").upper() if argument else command)
    match error:
        case UnknownCommandError():
            word = (error.unused_tokens or [""])[0]
            names = [part for part in error.app or () if not part.startswith("-")]
            problem = f"there is no command '{word}'"
            return f"{problem}; {did_you_mean(word, names, listed)} [{UNKNOWN}]"
        case UnknownOptionError():
            option = (error.token.keyword or error.token.value).partition("=")[0]
            names = [name for argument in error.argument_collection for name in argument.names]
            problem = f"`{command}` has no option {option}"
            return f"{problem}; {did_you_mean(option, names, listed)} [{UNKNOWN}]"
        case UnusedCliTokensError():
            words = " ".join(error.unused_tokens or ())
            return f"`{command}` takes no further '{words}'; {listed} [{UNKNOWN}]"
        case MissingArgumentError():
            what = f"{subject} needs a value" if error.keyword else f"{subject} is missing"
            return f"{what}; {listed} [{UNUSABLE}]"
        case RepeatArgumentError():
            return f"{subject} is written more than once; write it once [{UNUSABLE}]"
        case CoercionError() if error.token is not None:
            choices = [choice for choice in get_args(error.target_type) if isinstance(choice, str)]
            kind = f"{getattr(error.target_type, '__name__', '')}_parsing"
            value = error.token.value
            advice = did_you_mean(
                value, choices, f"write {', '.join(choices) or EXPECTED.get(kind, 'another value')}"
            )
            return f"{subject} cannot be '{value}'; {advice} [{UNUSABLE}]"
        case ValidationError() if argument is not None:
            value = " ".join(part.value for part in argument.tokens)
            return f"{argument.name} cannot be {value}; write 1 or more [{UNUSABLE}]"
        case _:
            return f"`{command}` cannot be read as it is written; {listed} [{UNUSABLE}]"
