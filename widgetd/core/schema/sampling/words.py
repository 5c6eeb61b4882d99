"""Choose plausible words by a property's name, so an example reads naturally.

A `city` gets a city. Nothing here knows schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from widgetd.base.text_search import compile_pattern, read_tokens

WORDS: Mapping[str, tuple[str, ...]] = {
    "account": ("DE02 1203 0000", "GB33 BUKB 2020"),
    "address": ("12 Harbour Street", "7 Mill Lane", "3 Station Road"),
    "airline": ("Blue Sky Air", "North Wind"),
    "album": ("Slow Tides", "Paper Moons"),
    "alt": ("A harbour at dusk", "A red bicycle"),
    "artist": ("The Lanterns", "Mira Sol"),
    "author": ("Ada Lovelace", "Alan Turing", "Grace Hopper"),
    "background": ("surface-secondary", "surface"),
    "body": ("We meet on Friday at ten.", "The parcel is on its way."),
    "category": ("Travel", "Kitchen", "Garden"),
    "channel": ("#general", "#design"),
    "city": ("Lisbon", "Kyoto", "Nairobi", "Quito"),
    "code": ("LIS", "KIX", "NBO"),
    "color": ("blue", "green", "orange"),
    "colour": ("blue", "green", "orange"),
    "company": ("Acme Ltd", "Globex"),
    "condition": ("Partly cloudy", "Light rain"),
    "country": ("Portugal", "Japan", "Kenya"),
    "currency": ("EUR", "USD", "JPY"),
    "date": ("14 March", "15 March", "16 March"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday"),
    "description": ("A short walk along the river.", "Freshly baked every morning."),
    "driver": ("Sam", "Noor"),
    "duration": ("1h 20m", "45m"),
    "email": ("ada@example.com", "alan@example.com", "grace@example.com"),
    "end": ("11:00", "12:30"),
    "eta": ("5 min", "12 min"),
    "event": ("Design review", "Team lunch"),
    "filename": ("report.pdf", "photo.png"),
    "first": ("Ada", "Alan", "Grace"),
    "flight": ("BS 204", "NW 17"),
    "from": ("Lisbon", "Kyoto", "Nairobi"),
    "gate": ("B12", "A4"),
    "headline": ("Harbour reopens", "A warm spring"),
    "icon": ("calendar", "star", "info"),
    "id": ("a1", "b2", "c3", "d4"),
    "image": ("https://example.com/a.png", "https://example.com/b.png"),
    "key": ("a1", "b2", "c3"),
    "label": ("First choice", "Second choice", "Third choice"),
    "language": ("en", "pt", "ja"),
    "last": ("Lovelace", "Turing", "Hopper"),
    "link": ("https://example.com/a", "https://example.com/b"),
    "location": ("Lisbon", "Kyoto", "Nairobi"),
    "message": ("See you at ten.", "All done.", "Thank you!"),
    "month": ("March", "April", "May"),
    "name": ("Ada", "Alan", "Grace", "Edsger"),
    "note": ("Bring a coat.", "Ring twice."),
    "number": ("BS 204", "NW 17", "KL 61"),
    "option": ("First choice", "Second choice"),
    "person": ("Ada Lovelace", "Alan Turing"),
    "phone": ("+351 555 0100", "+81 555 0101"),
    "place": ("Lisbon", "Kyoto", "Nairobi"),
    "player": ("Mira Sol", "Jon Park"),
    "price": ("€19.50", "€7.20"),
    "product": ("Desk lamp", "Teapot", "Notebook"),
    "progress": ("40%", "75%"),
    "question": ("Which one suits you?", "How many people?"),
    "reason": ("Fewer messages, only when it matters.", "To keep you up to date."),
    "room": ("Room 4", "Main hall"),
    "source": ("example.com", "example.org"),
    "src": ("https://example.com/a.png", "https://example.com/b.png"),
    "start": ("10:00", "11:30"),
    "status": ("On time", "Delayed"),
    "subject": ("Friday's meeting", "Your order"),
    "subtitle": ("In the old harbour", "At the river"),
    "summary": ("A short walk along the river.", "Two choices, one evening."),
    "tag": ("travel", "food", "music"),
    "tax": ("€3.90", "€1.40"),
    "team": ("North End", "Rovers"),
    "temperature": ("18°", "22°"),
    "text": ("A short walk along the river.", "See you at ten."),
    "time": ("10:30", "14:15", "18:00"),
    "timezone": ("Europe/Lisbon", "Asia/Tokyo"),
    "title": ("A day in Lisbon", "A night in Kyoto", "Morning in Nairobi"),
    "to": ("Kyoto", "Nairobi", "Quito"),
    "total": ("€23.40", "€8.60"),
    "track": ("Slow Tides", "Paper Moons", "Low Sun"),
    "type": ("standard", "extra"),
    "unit": ("C", "F"),
    "url": ("https://example.com/a", "https://example.com/b"),
    "user": ("Ada", "Alan", "Grace"),
    "value": ("one", "two", "three"),
    "vendor": ("Acme Ltd", "Globex"),
    "venue": ("Main hall", "Rooftop"),
}
NUMBERS: Mapping[str, float] = {
    "age": 36,
    "amount": 19.5,
    "day": 14,
    "hour": 10,
    "index": 0,
    "lat": 38.7,
    "latitude": 38.7,
    "lng": -9.1,
    "longitude": -9.1,
    "minute": 30,
    "month": 3,
    "percent": 40,
    "price": 19.5,
    "progress": 40,
    "temperature": 18,
    "total": 23,
    "year": 2026,
    "zoom": 12,
}
# Words that say less than the word before them in a name.
GENERIC = frozenset({"label", "name", "number", "text", "title", "type", "value"})
OTHERS = ("Example", "Another", "Third", "Fourth")

LONG = (
    "A long walk along the river, past the old harbour and the market halls, "
    "over both bridges and back again before the lamps are lit; "
)
# Text that breaks strings, scripts, templates and lines, the worst first, for short fields.
NASTY = "\"\\\n</script>{{ x }}{% y %}\u2028😀 '&<b>\t\u202eمرحبا "

FORMATS: Mapping[str, tuple[str, ...]] = {
    "date": ("2026-03-14", "2026-03-15", "2026-03-16"),
    "date-time": ("2026-03-14T09:30:00Z", "2026-03-15T10:45:00Z"),
    "time": ("09:30:00Z", "10:45:00Z"),
    "duration": ("PT1H30M", "PT45M"),
    "email": ("ada@example.com", "alan@example.com"),
    "idn-email": ("ada@example.com", "alan@example.com"),
    "hostname": ("example.com", "example.org"),
    "idn-hostname": ("example.com", "example.org"),
    "ipv4": ("192.0.2.1", "192.0.2.2"),
    "ipv6": ("2001:db8::1", "2001:db8::2"),
    "uri": ("https://example.com/a", "https://example.com/b"),
    "uri-reference": ("https://example.com/a", "/b"),
    "iri": ("https://example.com/a", "https://example.com/b"),
    "iri-reference": ("https://example.com/a", "/b"),
    "uri-template": ("https://example.com/{id}", "/{name}"),
    "uuid": ("3f2b8c1e-5d47-4a60-9c1b-0e7f6a2d4b10", "3f2b8c1e-5d47-4a60-9c1b-0e7f6a2d4b11"),
    "json-pointer": ("/a/0", "/b"),
    "relative-json-pointer": ("0/a", "1/b"),
    "regex": ("^a+$", "^b+$"),
}


_WORD = compile_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def choose_word(name: str, ordinal: int) -> str:
    """Return the word number `ordinal` for the property `name`, as `city` or `airline.name`."""
    parts = [part for part in _split_name(name) if part in WORDS]
    # The name of a product is a product, and a price text is a price.
    telling = [part for part in parts if part not in GENERIC]
    words = WORDS[(telling or parts)[0]] if parts else OTHERS
    # After the last, words are numbered, so none repeats.
    again, index = divmod(ordinal, len(words))
    return words[index] if not again else f"{words[index]} {again + 1}"


def choose_number(name: str, ordinal: int) -> float:
    return next((NUMBERS[part] for part in _split_name(name) if part in NUMBERS), 2) + ordinal


def _split_name(name: str) -> Iterator[str]:
    """Yield the words in `name`, the last first, each also without its plural ending."""
    for word in reversed([*read_tokens(_WORD, name)]):
        yield word[0].lower()
        yield word[0].lower().removesuffix("s")


def make_formatted(name: str, ordinal: int) -> str | None:
    examples = FORMATS.get(name)
    return examples[ordinal % len(examples)] if examples else None
