"""Error codes, one table per thousand, each for one reader.

A code is a stable name for one kind of fault; a retired code is never used again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["fault", "warning"]


@dataclass(frozen=True, slots=True)
class Code:
    """One row of a table.

    Attributes:
        code: `W`, the thousand of its table, and three digits.
        level: A fault keeps a file or a call from being served; a warning does not.
        meaning: The mistake, as a clause.
        correctable: Whether a model can correct its call: an argument, a file, a pattern, a target.
    """

    code: str
    level: Level
    meaning: str
    correctable: bool = False


DAEMON = (
    Code("W0001", "fault", "a setting, a command or an option is unknown"),
    Code("W0002", "fault", "a setting has a value that cannot be used"),
    Code("W0003", "fault", "the widgets folder does not exist"),
    Code("W0004", "fault", "the widgets folder is not a folder"),
    Code("W0005", "fault", "the address is in use or cannot be bound"),
    Code("W0006", "fault", "a permission is missing"),
    Code("W0007", "fault", "an installed library has a version that widgetd was not tested with"),
    Code("W0008", "fault", "the widgets folder has disappeared or been emptied"),
    Code("W0009", "fault", "an address that other machines can reach has no token"),
    Code("W0010", "fault", "the token file cannot be used"),
    Code("W0011", "fault", "a program that the command needs is not installed"),
    Code("W0012", "fault", "the chat's model cannot be used"),
    Code("W0015", "fault", "an operator's file lies in the served folder"),
    Code("W0030", "fault", "the server already has widgets registered"),
    Code("W0031", "fault", "two built-in tools have the same name"),
    Code("W0032", "fault", "no generation, or more than one, is meant"),
    Code("W0033", "fault", "the content of a generation is lost"),
    Code("W0034", "fault", "the daemon refused a rollback"),
)
"""Faults of the daemon and its settings, for the operator."""

WIDGETS = (
    # W10xx: files
    Code("W1001", "fault", "a file cannot be read"),
    Code("W1002", "fault", "a file is too large"),
    Code("W1003", "fault", "a file links outside the widgets folder"),
    Code("W1004", "fault", "a file's name is not UTF-8"),
    Code("W1005", "fault", "widgetd failed on a file because of a bug"),
    Code("W1006", "fault", "an upload cannot be stored under its name", correctable=True),
    Code("W1010", "fault", "an upload would change a file that its token cannot see"),
    Code("W1011", "fault", "the folder holds as many widgets as uploads may create"),
    Code("W1013", "fault", "a file takes too much processor time or memory to draw"),
    Code("W1014", "fault", "widgetd ended while rendering these arguments"),
    # W11xx: the .widget document
    Code("W1101", "fault", "the file is not JSON"),
    Code("W1102", "fault", "an object contains a key twice"),
    Code("W1103", "fault", "the JSON nests too deeply"),
    Code("W1104", "fault", "a number or a character cannot be represented"),
    Code("W1105", "fault", "a required key is missing"),
    Code("W1106", "fault", "a key has a value of the wrong type"),
    Code("W1107", "fault", "the version is unknown"),
    Code("W1108", "fault", "the tool name is taken by another file"),
    Code("W1109", "fault", "the tool name is reserved"),
    Code("W1110", "warning", "encodedWidget cannot be decoded"),
    Code("W1111", "fault", "a sidecar or theme is not TOML"),
    Code("W1112", "fault", "a key of a sidecar or theme is unknown"),
    Code("W1113", "fault", "a key of a sidecar or theme has a value that cannot be used"),
    Code("W1114", "warning", "an unknown key resembles a known one"),
    Code("W1115", "warning", "a name or a description contains invisible characters"),
    Code("W1116", "warning", "there is no description"),
    Code("W1117", "warning", "the description is too long"),
    Code("W1118", "fault", "a check of an action reads something else than its payload"),
    Code("W1119", "fault", "a derived argument reads or names what the schema does not declare"),
    Code("W1120", "warning", "a sidecar has no widget beside it"),
    Code("W1121", "warning", "a file's name keeps its widget from being served"),
    Code("W1122", "fault", "the tests that were sent with a widget do not pass"),
    Code("W1123", "warning", "a key of an object, or an attribute, is written twice"),
    # W12xx: the argument schema
    Code("W1201", "fault", "the schema is not valid JSON Schema"),
    Code("W1202", "fault", "the schema refers to something outside the file"),
    Code("W1203", "fault", "the schema is too large"),
    Code("W1204", "fault", "the schema does not describe an object"),
    Code("W1205", "fault", "a pattern cannot be matched in linear time"),
    Code("W1206", "fault", "the schema would break the tool list for other widgets"),
    Code("W1207", "fault", "the schema admits no arguments"),
    Code("W1210", "warning", "a field of the schema is never used"),
    Code("W1211", "warning", "a sample does not fit the schema"),
    Code("W1212", "warning", "some hosts cannot read this schema"),
    Code("W1213", "warning", "the sidecar names a field that the schema lacks"),
    Code("W1214", "warning", "the sidecar describes an action that the template lacks"),
    Code("W1215", "warning", "there is no schema, so the arguments are inferred"),
    # W13xx: the template
    Code("W1301", "fault", "the template cannot be parsed"),
    Code("W1302", "fault", "the template uses something that templates cannot use"),
    Code("W1303", "fault", "the template is too large"),
    Code("W1305", "fault", "the template's output is not JSON"),
    Code("W1306", "fault", "the template's root is not a widget root"),
    Code("W1307", "warning", "the exporter lost a value"),
    Code("W1308", "warning", "the index of a loop is never bound"),
    Code("W1309", "warning", "a comma is missing or superfluous"),
    Code("W1310", "fault", "the template fails on any arguments"),
    Code("W1320", "warning", "the template reads a field that the schema does not declare"),
    Code(
        "W1321",
        "fault",
        "under strict rules, the template reads a field that the schema does not declare",
    ),
    Code("W1322", "warning", "the template fails on arguments that the schema admits"),
    Code("W1323", "warning", "a sample renders differently from the preview"),
    Code("W1324", "warning", "the exporter turned data into components"),
    Code("W1325", "warning", "the file has no usable template, so its JSX is rendered"),
    Code("W1326", "warning", "the template and the JSX were not exported together"),
    Code("W1327", "fault", "the JSX cannot be compiled"),
    Code("W1328", "warning", "other template engines cannot read all of this template"),
    Code("W1329", "warning", "an export for Studio lacks something of the widget"),
    Code("W1330", "warning", "a space is so wide that it was meant in pixels"),
    Code("W1331", "warning", "an absent argument leaves a gap in a sentence"),
    Code("W1332", "warning", "the page lacks an operation, so that the server alone draws"),
    # W14xx: the tree of components
    Code("W1401", "warning", "a component is unknown"),
    Code("W1402", "warning", "a property is unknown"),
    Code("W1403", "warning", "a property has an unknown value"),
    Code("W1404", "warning", "an icon is unknown"),
    Code("W1405", "warning", "a property has a value of the wrong type"),
    Code("W1406", "warning", "a component is not allowed in this place"),
    Code("W1407", "warning", "a component lacks a required property"),
    Code("W1408", "warning", "an action's payload hides a field of the form"),
    Code("W1410", "warning", "hosts do not load images from these origins"),
    Code("W1411", "warning", "a color is hard to read in one theme"),
    Code("W1415", "warning", "a button has no name, or does nothing"),
    Code("W1416", "warning", "the address of an image is relative"),
    Code("W1417", "warning", "a text is hard to read under the theme"),
    # W15xx: breaking changes
    Code("W1501", "warning", "a field was removed"),
    Code("W1502", "warning", "a field became required"),
    Code("W1503", "warning", "a field accepts fewer values"),
    Code("W1504", "warning", "a tool was renamed"),
    Code("W1505", "warning", "a tool was removed"),
    # W16xx: feeds and bound actions
    Code("W1601", "warning", "a feed names an upstream that is not declared"),
    Code("W1602", "fault", "an expression of the sidecar is not usable JMESPath"),
    Code("W1603", "warning", "a feed fills a field that the schema lacks"),
    Code("W1604", "fault", "neither callers nor the feed supply a required field"),
    Code("W1605", "warning", "the operator does not allow a tool that an action calls"),
    Code("W1606", "fault", "an action names only a part of the tool that does it"),
    Code("W1607", "fault", "the question of an action cannot be compiled"),
    Code("W1608", "warning", "an action fills a field that the schema lacks"),
    # W161x: local state
    Code("W1610", "fault", "a name of the local state is an argument's, or no name"),
    Code("W1611", "fault", "an action is local and described in the sidecar's actions"),
    Code("W1612", "fault", "a local action assigns a name that the state lacks"),
    Code("W1613", "warning", "a local action reads a name that does not exist"),
    Code("W1614", "warning", "nothing reads a name of the local state"),
    Code("W1615", "warning", "the template offers no action of a local action's type"),
    # W1623 to W1629: several feeds
    Code("W1623", "fault", "one of several feeds has no name of its own"),
    Code("W1624", "fault", "several feeds have no mapping"),
    Code("W1625", "fault", "two feeds fill the same field"),
    # W1626 to W1629: wishes
    Code("W1626", "fault", "a sidecar's never names a widget that does not exist"),
    Code("W1627", "warning", "a search for a wish does not find the widget among the first three"),
    Code("W1628", "warning", "a search for a wish finds a widget first that it must not"),
)
"""Faults of files and widgets, for the author of a file."""

CALLS = (
    # W2xxx: calls
    Code("W2001", "fault", "there is no such tool", correctable=True),
    Code("W2002", "fault", "the arguments do not fit the schema", correctable=True),
    Code("W2003", "fault", "the arguments nest too deeply"),
    Code("W2004", "fault", "the template failed on these arguments"),
    Code("W2005", "fault", "rendering exceeded its budget"),
    Code(
        "W2006",
        "fault",
        "a call's _meta, a header or the address requests something that does not exist",
    ),
    Code("W2007", "fault", "there is no such render, or it has expired"),
    Code("W2008", "fault", "the body of a request is too large"),
    Code("W2009", "fault", "the body of a request is not JSON"),
    Code("W2010", "fault", "a client is too old for the widget"),
    Code("W2011", "fault", "the arguments are too many to validate against the schema"),
    # W22xx: limits
    Code("W2201", "fault", "a principal exceeds its rate of calls"),
    Code("W2202", "fault", "a principal has too many concurrent calls"),
    Code("W2203", "fault", "a client has too many subscriptions"),
    Code("W2204", "fault", "the maximum number of sessions is in use"),
    # W23xx: access
    Code("W2301", "fault", "a token lacks a scope"),
    # W24xx: actions
    Code("W2401", "fault", "a render offers no such action"),
    Code("W2402", "fault", "too many actions are unread"),
    Code("W2403", "fault", "an action's payload is too large", correctable=True),
    Code(
        "W2404",
        "fault",
        "an action's payload does not fit what the render offers",
        correctable=True,
    ),
    Code("W2405", "fault", "an action reached a process that is shutting down"),
    Code(
        "W2406",
        "fault",
        "the render has been replaced in the meantime, or a press would send something else",
    ),
    Code("W2420", "fault", "an address of a render is unknown, has expired or is badly signed"),
    Code("W2421", "fault", "the controls of a widget are in another browser"),
    # W25xx: the chat
    Code("W2501", "fault", "a turn of the chat takes too long"),
    Code("W2502", "fault", "the chat's model does not answer"),
    Code("W2503", "fault", "a message to the chat is too long"),
    Code("W2504", "fault", "the answer of the chat's model is too long"),
)
"""Faults of calls, for the caller of a tool."""

GUIDE = (
    # W30xx: the guide, drafts and saved files
    Code("W3001", "fault", "the guide has no such page"),
    Code("W3002", "fault", "there is no such component or property"),
    Code("W3003", "fault", "a request asks for too much at once"),
    Code("W3004", "fault", "saving is not allowed here"),
    Code("W3005", "fault", "the file to replace has changed", correctable=True),
    Code("W3006", "fault", "the user declined a change, or could not be asked"),
    # W31xx: logs and usage, and calls that a person must allow
    Code("W3101", "fault", "a pattern cannot be matched in linear time", correctable=True),
    Code("W3102", "fault", "a cursor is unknown"),
    Code("W3103", "fault", "nothing has been recorded"),
    Code("W3104", "fault", "a call was to be allowed by something other than its user's press"),
    Code("W3105", "fault", "a card was answered before, or has expired"),
    Code("W3106", "fault", "the chat's model has no such tool"),
    # W32xx: pictures
    Code("W3201", "fault", "no browser is available"),
    Code("W3202", "fault", "a picture was not rendered in time"),
    Code("W3203", "fault", "a picture is too large"),
    Code("W3204", "fault", "all places in the browser are in use"),
)
"""Faults of the tools that write widgets and operate the daemon, for their callers."""

SESSIONS = (
    # W40xx: the session
    Code("W4001", "fault", "there is no such session"),
    Code("W4002", "fault", "there are too many sessions"),
    Code("W4003", "fault", "the browser ended"),
    Code("W4004", "fault", "a page does not answer"),
    # W41xx: keywords
    Code("W4101", "fault", "there is no such keyword", correctable=True),
    Code("W4102", "fault", "a keyword's arguments do not fit", correctable=True),
    # W42xx: targets
    Code("W4201", "fault", "a target matches no element", correctable=True),
    Code("W4202", "fault", "a target matches several elements", correctable=True),
    Code("W4203", "fault", "a step did not finish in time"),
    # W43xx: expectations
    Code("W4301", "fault", "an expectation was not met"),
    Code("W4302", "fault", "there is no baseline to compare with"),
    # W44xx: test files
    Code("W4401", "fault", "a test file cannot be read"),
    Code("W4402", "fault", "a test uses an unknown name", correctable=True),
)
"""Faults of sessions and tests, for their callers and authors."""

UPSTREAMS = (
    # W50xx: calls to an upstream
    Code("W5001", "fault", "there is no such upstream", correctable=True),
    Code("W5002", "fault", "an upstream is not available"),
    Code("W5003", "fault", "an upstream is too slow"),
    Code(
        "W5004",
        "fault",
        "an upstream has no such tool, or none that may be called",
        correctable=True,
    ),
    Code("W5005", "fault", "an upstream's tool rejects these arguments", correctable=True),
    Code("W5006", "fault", "an upstream's answer is not JSON"),
    Code("W5007", "fault", "an upstream's answer does not fit the widget", correctable=True),
    Code("W5008", "fault", "an upstream's answer is too large"),
    Code("W5009", "fault", "an upstream's answer is no longer kept"),
    Code("W5010", "fault", "an upstream's tool reported an error"),
    Code("W5011", "fault", "the operator does not allow an action"),
    Code("W5012", "fault", "only a person can take an action"),
    Code("W5013", "fault", "it is unknown whether an action was done"),
    Code("W5014", "fault", "an action was done, but its answer does not fit the widget"),
    Code("W5015", "fault", "a confirmation is for something else, or has expired"),
    Code("W5016", "fault", "an upstream's answer has too many blocks"),
    Code("W5017", "fault", "an action could be done twice now"),
    Code("W5020", "fault", "an upstream's answer is not valid MCP"),
    # W51xx: the upstreams file
    Code("W5101", "fault", "the upstreams file cannot be used"),
    Code("W5102", "fault", "a secret is missing"),
)
"""Faults of upstreams, for the operator who declares them and the caller of a widget they fill."""

TABLES = (DAEMON, WIDGETS, CALLS, GUIDE, SESSIONS, UPSTREAMS)
"""All tables, by thousand from 0."""
