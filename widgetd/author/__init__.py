"""Tools for authors of widgets: gallery, guide, browser, tests, types, uploads."""

COMMANDS = {
    "new": "widgetd.author.commands.new:new",
    "test": "widgetd.author.commands.test:test",
    "shot": "widgetd.author.commands.publish:shot",
    "export": "widgetd.author.commands.publish:export",
    "build": "widgetd.author.commands.publish:build",
    "types": "widgetd.author.commands.publish:types",
    "schema": "widgetd.author.commands.schemas:schema",
    "guide": "widgetd.author.commands.guide:guide",
}
"""Commands of this wing, each imported when it is needed."""
