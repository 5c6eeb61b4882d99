"""Wishes in sidecars are checked against the search index, and the bundled ones are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.widgets import build_widget, snapshot_of, widget_file
from widgetd.base.files.folder import bundled_folder
from widgetd.cli import main
from widgetd.daemon.loading import build_catalog
from widgetd.server.catalog.loader import Loader
from widgetd.server.render.entry import tool_entry
from widgetd.server.search.search import Search
from widgetd.server.search.wishes import check_wishes
from widgetd.settings import Settings


def test_bundled_wishes_find_their_widgets() -> None:
    snapshot = build_catalog(
        Settings(), bundled_folder(), Loader(tool_entry).load, quiet_ms=0
    ).scan()
    search, found = Search(), {}
    for tool, widget in snapshot.widgets.items():
        assert list(check_wishes(widget, snapshot, search)) == []
        for wish in widget.definition.sidecar.wishes:
            hits, _ = search.find(snapshot, wish, 1)
            found[wish] = hits[0].widget.tool == tool

    assert len(found) == 60
    assert sum(found.values()) >= 56, [wish for wish, is_first in found.items() if not is_first]


WISHES = {
    "weather_current": (
        "Wie ist das Wetter gerade draußen?",
        "¿Qué tiempo hace ahora en Madrid?",
        "Quelle météo fait-il dehors ?",
    ),
    "weather_forecast": (
        "Wettervorhersage für das Wochenende",
        "Pronóstico para mañana",
        "Prévisions pour demain",
    ),
    "flight_tracker": (
        "Hat mein Flug Verspätung?",
        "¿Mi vuelo tiene retraso?",
        "Mon vol a-t-il du retard ?",
    ),
    "playlist": (
        "Mach eine Wiedergabeliste mit ruhiger Musik",
        "Una playlist de música tranquila",
        "Une liste de musique calme",
    ),
    "purchase_items": (
        "Was liegt in meinem Warenkorb?",
        "¿Qué hay en mi carrito?",
        "Que contient mon panier ?",
    ),
    "draft_email": (
        "Schreibe eine Mail an meinen Chef",
        "Redacta un correo para mi jefe",
        "Rédige un courriel à mon chef",
    ),
    "create_task": (
        "Lege eine neue Aufgabe an",
        "Crea una tarea nueva",
        "Créer une nouvelle tâche",
    ),
    "chart": ("Ein Diagramm des Umsatzes", "Un gráfico de las ventas", "Un graphique des ventes"),
    "table": ("Eine Tabelle der Preise", "Una tabla de precios", "Un tableau des prix"),
    "payment_form": ("Ich will 20 Euro bezahlen", "Quiero pagar", "Je veux payer"),
    "error_notice": ("La acción falló", "La sauvegarde a échoué"),
    "booking_calendar": (
        "Welche Termine sind frei?",
        "Horas libres para una cita",
        "Créneaux disponibles",
    ),
    "player_card": ("Zeig mir den Fußballspieler", "¿Quién es ese jugador?", "Montre le joueur"),
    "ride_status": (
        "Wo ist mein Taxi, wo ist der Fahrer?",
        "¿Dónde está mi taxi?",
        "Où est mon chauffeur ?",
    ),
    "success_notice": (
        "Das hat geklappt, sag dass es erfolgreich war",
        "Fue un éxito",
        "C'est réussi",
    ),
    "file_upload": ("Eine Datei hochladen", "Subir un archivo", "Téléverser un fichier"),
    "create_event": (
        "Neuer Termin am Freitag",
        "Crear un evento nuevo",
        "Créer un nouvel événement",
    ),
}


@pytest.mark.parametrize("tool", WISHES)
def test_wishes_in_german_spanish_and_french_find_bundled_widgets(tool: str) -> None:
    snapshot = build_catalog(
        Settings(), bundled_folder(), Loader(tool_entry).load, quiet_ms=0
    ).scan()

    first = [Search().find(snapshot, wish, 1)[0][0].widget.tool for wish in WISHES[tool]]

    assert first == [tool] * len(first)


def test_wish_that_finds_another_widget_is_a_warning_with_the_text_that_won() -> None:
    greeting = build_widget(
        "Greeting", sidecar='wishes = ["a free seat", "zebra"]\nnever = ["seats"]'
    )
    seats = build_widget("Seats", sidecar='keywords = ["free seat"]')

    seat, zebra = check_wishes(greeting, snapshot_of(greeting, seats), Search())

    assert str(seat) == (
        "Greeting.widget.toml#/wishes/0: 'a free seat' finds seats; "
        "add its words to keywords or to the description; seats has 'free seat'"
    )
    assert (seat.code, seat.level) == ("W1627", "warning")
    assert zebra.problem == "'zebra' finds nothing"


def test_wish_must_not_find_a_widget_of_never_first() -> None:
    sidecar = 'keywords = ["vacant seat"]\nwishes = ["a vacant seat"]\nnever = ["seats"]'
    greeting = build_widget("Greeting", sidecar=sidecar)
    seats = build_widget("Seats", sidecar='keywords = ["vacant seat"]')

    (finding,) = check_wishes(greeting, snapshot_of(greeting, seats), Search())

    assert (finding.code, finding.problem) == ("W1628", "'a vacant seat' finds seats first")


def test_empty_wish_and_unknown_tool_are_faults_with_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file("Greeting"))
    sidecar = tmp_path / "Greeting.widget.toml"
    sidecar.write_text('wishes = [\n  "greet her",\n  " ",\n]\n')
    assert main(["check", str(tmp_path)]) == 1
    assert f"{sidecar}:3:3: fault W1113: 'wishes.2' cannot be ' '\n" in capsys.readouterr().out

    sidecar.write_text('wishes = ["greeting"]\nnever = [\n  "x",\n  "greting",\n]\n')
    assert main(["check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{sidecar}:3:3: fault W1626: there is no widget 'x'" in out
    assert f"{sidecar}:4:3: fault W1626: there is no widget 'greting'" in out
    assert "did you mean 'greeting'?" in out
