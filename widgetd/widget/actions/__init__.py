"""What a user can do in a widget, and what is sent when they do.

An action is offered at a place in a tree; how it is taken is up to clients, and
who waits for it is up to others. Nothing here waits or keeps anything.
"""

from __future__ import annotations

from widgetd.widget.actions.known import KnownAction, known_actions
from widgetd.widget.actions.offered import Offered, actions_of
from widgetd.widget.actions.offers import Offer, offers, offers_any

__all__ = ["KnownAction", "Offer", "Offered", "actions_of", "known_actions", "offers", "offers_any"]
