"""The codes of calls: for the caller of a tool."""

from __future__ import annotations

from widgetd.errors.code import Code

CODES = (
    # W2xxx: calls
    Code("W2001", "fault", "no such tool"),
    Code("W2002", "fault", "the arguments do not fit the schema"),
    Code("W2003", "fault", "the arguments nest too deeply"),
    Code("W2004", "fault", "the template failed on these arguments"),
    Code("W2005", "fault", "rendering exceeded its budget"),
    Code("W2006", "fault", "a call's _meta asks for what does not exist"),
    Code("W2007", "fault", "there is no such render, or not any more"),
    Code("W2008", "fault", "the body of a request is too large"),
    Code("W2009", "fault", "the body of a request is not JSON"),
    Code("W2010", "fault", "a client is too old for the widget"),
    Code("W2011", "fault", "there are too many arguments for the schema to be decided about"),
    # W22xx: limits
    Code("W2201", "fault", "a principal calls too often"),
    Code("W2202", "fault", "a principal has too many calls running at the same time"),
    Code("W2203", "fault", "a client subscribes to too many resources"),
    Code("W2204", "fault", "as many sessions as may be are in use"),
    # W23xx: access
    Code("W2301", "fault", "a token lacks a scope"),
    # W24xx: actions
    Code("W2401", "fault", "a render offers no such action"),
    Code("W2402", "fault", "too many actions are unread"),
    Code("W2403", "fault", "an action's payload is too large"),
    Code("W2404", "fault", "an action's payload is not one that the render offers"),
    Code("W2405", "fault", "an action comes to a process that ends, and would be lost with it"),
    Code("W2406", "fault", "a render was replaced meanwhile"),
    # W25xx: the chat
    Code("W2501", "fault", "a turn of the chat takes too long"),
    Code("W2502", "fault", "the chat's model does not answer"),
)
