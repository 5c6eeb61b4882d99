"""Words for the search in four languages: stop words, and groups of synonyms."""

from __future__ import annotations

_STOP_WORDS = """
a about after all already also am an and any are as at be been but by can client could customer did
display do does each eight every find five for four from get give got had has have having he help
her here hers him his how i if in into is it its just know last let like ll many may me might more
most much must my need next nine no not nothing now of on onto or our out over please put re s see
seven she should show six so some someone something still t tell ten than that the their them then
there these they thing this those three through to too two up us use user ve very view want was way
we went were what when where whether which while who whom whose why will with would yet you your
das dass der ein eine ist wie el la las los mi que un una une c est du je le les mon
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words of a question that say nothing about what is wanted."""

_SYNONYMS = """
weather wetter tiempo clima meteo temperature temperatur temperatura outside draussen afuera dehors
forecast vorhersage wettervorhersage pronostico previsions tomorrow morgen manana demain wochenende
flight flug flugzeug vuelo avion vol avion delay verspatung retraso retard landet aterriza atterrit
taxi fahrt fahrer viaje conductor course chauffeur
music musik lied musica cancion musique chanson playlist wiedergabeliste
player spieler fussballspieler jugador joueur football fussball futbol
cart warenkorb einkaufswagen carrito cesta panier
product produkt artikel producto articulo produit article detail einzelheiten detalles details
shop laden buscar suche productos produits produkte kaufen comprar acheter
pay zahlen bezahlen pagar payer zahlung pago paiement
receipt bestellung pedido commande delivery lieferung entrega livraison
chart diagramm grafico graphique verlauf evolucion evolution
table tabelle tabla tableau compare vergleiche comparar comparer
task aufgabe tarea tache todo erledigen
email mail correo courriel schreibe redacta redige write
event termin veranstaltung evento evenement meeting besprechung reunion reunion
new neue neuer neuen nueva nuevo nouvelle nouveau create erstelle anlegen crea crear creer
free frei freie libre libres disponible slot hora horaire
error fehler fehlgeschlagen fallo echec echoue erreur
success erfolg erfolgreich geklappt exito reussi succes
notify benachrichtigen benachrichtigung avisame notificacion previens notification
upload hochladen subir televerser file datei archivo fichier
choice wahl auswahl elige elegir choisir choix
software lizenz licencia licence
chart graph plot diagram histogram curve trend growth grow rise statistic revenue profit develop
chart metric kpi dashboard sales statistics progress decline visualization
chart development percentage proportion visualise visualize turnover draw
table spreadsheet grid row column compare comparison versus better differ difference list ranking
table inventory leaderboard
table standings scoreboard matrix breakdown expense budget
flight plane airplane aeroplane airline airport depart departure arrival takeoff gate terminal delay
flight airfare pilot boarding landing
taxi cab uber ride car lift driver chauffeur pickup eta hail
song music track playlist play listen album band artist singer tune mix concert radio
player team football soccer basketball athlete striker goal goalkeeper scorer league match season
player career squad quarterback pitcher
cart basket trolley checkout
shop store buy bought purchase order sell browse catalogue catalog recommend recommendation
shop collection similar
shop price cheap discount sale bargain euro dollar pound below present gift afford bestseller
product item article goods gadget phone laptop shoe clothes jacket headphone furniture sneaker dress
product shirt watch camera
detail description specification spec size colour color material weight datasheet
receipt order purchase bought paid delivery deliver parcel ship
pay paid payment money credit card charge settle collect bill fee owe deposit donate donation tip
pay transfer purchase
invoice bill payment table
task todo remind reminder chore errand ticket issue bug assign deadline due checklist homework duty
email mail letter write written wrote compose reply answer forward inbox recipient subject
message post wrote written said chat channel thread comment slack discord announcement mention
message reaction emoji
event calendar meeting appointment agenda party birthday wedding concert lunch dinner invitation
event vacation holiday ceremony
new create add make plan schedule arrange organise organize book block invite propose put reschedule
new postpone register
free available slot reserve reservation booking appointment schedule
session talk lecture conference workshop keynote speaker seminar panel breakout webinar class course
session lesson track
weather temperature outside umbrella warm cold hot degree sun sunny cloudy wet dry wind storm
weather humidity fog heatwave frost sunshine thunderstorm climate
rain snow forecast wet dry drier
forecast tomorrow weekend ahead
error fail failure wrong problem decline deny reject refuse broken break crash outage sorry invalid
error timeout unavailable apologise apologize mistake trouble
success worked done saved save confirm change update complete finish congratulate sent accepted
success approved
choice choose pick option select dropdown radio prefer favourite favorite vote poll survey ask
choice decide feedback agree disagree answer
question quiz mcq qcm survey poll ask
multi multiple several
one single
toggle switch checkbox tick
file document upload download attachment attach scan photo passport certificate licence resume cv
file contract certificate
photo picture image portrait
notify notification push alert warn remind permission subscribe mute opt
licence license subscription subscribe seat software saas renew tier upgrade pricing
contact person people lead prospect visitor newsletter signup company callback trial demo register
contact waitlist enquiry inquiry quote interest
form input field collect fill questionnaire
eat food meal dish menu dinner lunch
cat kitten pet
news article blog post
map place location address
review rating star
"""

SYNONYMS = tuple(tuple(line.split()) for line in _SYNONYMS.strip().splitlines())
"""Groups of words that users take for each other."""
