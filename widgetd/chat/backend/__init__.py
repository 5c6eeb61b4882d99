"""A ChatKit server whose agent shows widgets: the worked example, and the daemon's own."""

from __future__ import annotations

from widgetd.core.widget.components.vocabulary import load_chatkit_widgets

# The first import of ChatKit warns of classes that it deprecates itself; this one is silent.
load_chatkit_widgets()
