"""What an empty folder shows: the first three steps."""

from __future__ import annotations

from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.layout import text_block
from widgetd.web.gallery.markup import Markup, el


def welcome(gallery: Gallery) -> Markup:
    """How a first widget comes here, and how an agent comes to it."""
    drop = ", or drop it onto this page" if gallery.upload else ""
    return el(
        "section",
        el("h1", "No widgets yet"),
        el("p", "This page fills itself: no restart, no reload.", class_="lead"),
        el(
            "ol",
            _step(
                "Export a widget",
                el(
                    "p",
                    "In ChatKit Studio, open a widget and choose Download. You get a ",
                    el("code", ".widget"),
                    " file.",
                ),
            ),
            _step(
                "Put it into the folder",
                el(
                    "p",
                    "Save it in ",
                    el("code", gallery.folder.name + "/"),
                    f"{drop}. It appears here in the same moment.",
                ),
            ),
            _step(
                "Connect an agent",
                el("p", "It gets one typed tool for each widget."),
                text_block(f"claude mcp add --transport http widgetd {gallery.url}"),
            ),
            class_="steps",
        ),
        class_="welcome",
        id="welcome",
    )


def _step(heading: str, *body: Markup) -> Markup:
    return el("li", el("h2", heading), *body)
