"""English words for the search: those that say nothing, and those that mean the same."""

from __future__ import annotations

_STOP_WORDS = """
a about after all also am an and any are as at be been but by can could did do does for from
get give got had has have having he help her here hers him his how i if in into is it its just let
like ll many may me might more most much must my need next no not now of on onto or our
out over please put re s see she should show so some someone something t tell than that the
their them then there these they thing this those through to too up us use user ve very view
want was way we went were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words of a question that say nothing about what is wanted."""

_SYNONYMS = """
chart graph plot diagram histogram trend revenue profit development develop
table spreadsheet grid compare comparison versus list
flight plane airplane aeroplane
taxi cab uber ride car lift
song music track playlist play playing album listen
cart basket trolley
shop store buy purchase order
shop present gift shoe clothes jacket headphone cheap euro dollar
todo task remind reminder chore
email mail message
reply answer email message
meeting appointment event calendar
put plan invite propose new
slot appointment time
eat food meal dish menu dinner lunch
phone laptop gadget product item
cat kitten pet
weather temperature outside umbrella
rain snow forecast weekend
error fail failure wrong problem
success worked done saved
pay payment checkout money credit card collect
invoice bill payment table
survey poll question ask vote choice
dropdown select choose pick option choice radio
multi multiple several
one single
add create new make
mcq qcm quiz question
toggle switch checkbox tick
photo picture image product
notify notification push alert
file document upload download attachment scan
team player football soccer basketball athlete
licence license subscription seat software
talk session lecture conference
news article blog post
map place location address
contact person people lead prospect newsletter signup company
review rating star
spec specification detail datasheet
slack discord chat channel
form input field collect
"""

SYNONYMS = tuple(tuple(line.split()) for line in _SYNONYMS.strip().splitlines())
"""Groups of words that users take for each other."""
