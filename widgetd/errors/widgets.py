"""The codes of files and widgets: for the author of a file."""

from __future__ import annotations

from widgetd.errors.code import Code

CODES = (
    # W10xx: files
    Code("W1001", "fault", "a file cannot be read"),
    Code("W1002", "fault", "a file is too large"),
    Code("W1003", "fault", "a file leads out of the widgets folder"),
    Code("W1004", "fault", "a file's name is not UTF-8"),
    Code("W1005", "fault", "widgetd itself failed on a file"),
    Code("W1006", "fault", "an upload cannot be put into the folder under its name"),
    Code("W1010", "fault", "an upload would touch, or make, what its token does not see"),
    Code("W1011", "fault", "the folder holds as many widgets as uploads may bring it to"),
    Code("W1012", "fault", "widgetd was ended twice in a row while it drew this content"),
    # W11xx: the .widget document
    Code("W1101", "fault", "the file is not JSON"),
    Code("W1102", "fault", "a key stands twice in one object"),
    Code("W1103", "fault", "the JSON nests too deeply"),
    Code("W1104", "fault", "a number or a character cannot be represented"),
    Code("W1105", "fault", "a required key is missing"),
    Code("W1106", "fault", "a key has a value of the wrong type"),
    Code("W1107", "fault", "the version is unknown"),
    Code("W1108", "fault", "the tool name is taken by another file"),
    Code("W1109", "fault", "the tool name is reserved"),
    Code("W1110", "warning", "encodedWidget cannot be decoded"),
    Code("W1111", "fault", "the sidecar is not TOML"),
    Code("W1112", "fault", "a key of the sidecar is unknown"),
    Code("W1113", "fault", "a key of the sidecar has a value that cannot be used"),
    Code("W1114", "warning", "a key is unknown, and close to a known one"),
    Code("W1115", "warning", "a name or a description holds characters that nobody sees"),
    Code("W1116", "warning", "there is no description"),
    Code("W1117", "warning", "the description is too long"),
    Code("W1120", "warning", "a sidecar stands beside no widget"),
    Code("W1121", "warning", "a widget has a name under which it is not served"),
    # W12xx: the argument schema
    Code("W1201", "fault", "the schema is not valid JSON Schema"),
    Code("W1202", "fault", "the schema refers to something outside the file"),
    Code("W1203", "fault", "the schema is too large"),
    Code("W1204", "fault", "the schema does not describe an object"),
    Code("W1205", "fault", "a pattern cannot be matched in linear time"),
    Code("W1206", "fault", "the schema would break the tool list of other widgets"),
    Code("W1207", "fault", "the schema admits no arguments"),
    Code("W1210", "warning", "a field of the schema is never used"),
    Code("W1211", "warning", "a sample does not fit the schema"),
    Code("W1212", "warning", "some hosts cannot read this schema"),
    Code("W1213", "warning", "the sidecar names a field that the schema lacks"),
    Code("W1214", "warning", "the sidecar describes an action that the template lacks"),
    # W13xx: the template
    Code("W1301", "fault", "the template cannot be parsed"),
    Code("W1302", "fault", "the template uses what templates may not use"),
    Code("W1303", "fault", "the template is too large"),
    Code("W1305", "fault", "the template's output is not JSON"),
    Code("W1306", "fault", "the template's root is not a widget root"),
    Code("W1307", "warning", "the exporter lost a value"),
    Code("W1308", "warning", "an index of a loop is never bound"),
    Code("W1309", "warning", "a comma is missing or stands where none belongs"),
    Code("W1310", "fault", "the template fails whatever it is given"),
    Code("W1320", "warning", "the template reads what the schema does not declare"),
    Code(
        "W1321", "fault", "under strict rules, the template reads what the schema does not declare"
    ),
    Code("W1322", "warning", "the template fails on arguments that the schema admits"),
    Code("W1323", "warning", "a sample renders otherwise than the preview shows"),
    Code("W1324", "warning", "the exporter made components of what is data"),
    # W14xx: the tree of components
    Code("W1401", "warning", "a component is unknown"),
    Code("W1402", "warning", "a property is unknown"),
    Code("W1403", "warning", "a property has an unknown value"),
    Code("W1404", "warning", "an icon is unknown"),
    Code("W1405", "warning", "a property has a value of the wrong type"),
    Code("W1406", "warning", "a component stands where it may not"),
    Code("W1407", "warning", "a component lacks a property"),
    Code("W1408", "warning", "an action's payload hides a field of the form"),
    # W15xx: changes that callers may stumble over
    Code("W1501", "warning", "a field was removed"),
    Code("W1502", "warning", "a field is required now"),
    Code("W1503", "warning", "a field admits less"),
    Code("W1504", "warning", "the tool has another name"),
    Code("W1505", "warning", "a tool was removed"),
)
