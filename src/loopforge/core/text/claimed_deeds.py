"""Sentences in which somebody says that they did something that only a tool can do.

    claimed_deeds("I have sent it. Shall I book?")  ->  (("I have sent it.", "changed"),)

English, German, French and Spanish, by their verbs: what is done to the world ("changed": sent,
booked, saved) and what is found out there ("looked": looked up, checked). Offers, plans, questions,
denials, conditions, quotes and what others did are none. A note for readers, no guard: it knows
words and no meaning, so that of what is told in a story it may take some for a claim. Pure.
"""

import re
from typing import Literal, NamedTuple

Deed = Literal["changed", "looked"]


class ClaimedDeed(NamedTuple):
    """A sentence, and whether it claims that something was changed or only looked at."""

    sentence: str
    deed: Deed


def _one_of(words: str) -> str:
    """Any of these, which stand apart by spaces; "_" stands for a space."""
    return f"(?:{'|'.join(words.split())})".replace("_", " ")


CHANGED_EN = _one_of(
    r"""sent e-?mailed texted messaged posted published booked reserved ordered bought paid filed
    scheduled cancell?ed saved stored deleted removed updated created uploaded submitted forwarded
    invited installed notified registered renamed archived downloaded added(?!_up) shared set_up
    (?:turned|switched)_(?:on|off) set_(?:a|an|the|your)_(?:reminder|alarm|timer)
    (?:turned|switched|signed)_(?:it|them|you|the_\w+)_(?:on|off|up)
    put_(?:it|that|this)_(?:on|in)
    (?:made|put_in)_(?:the|your|a)_(?:booking|reservation|order|payment|appointment|change)"""
)
LOOKED_EN = _one_of(
    r"""looked_(?:(?:it|that|this|them)_)?up looked_(?:at|in|into|through)_(?:the|your) checked
    searched googled verified fetched read_through consulted pulled_up"""
)
CHANGED_DE = _one_of(
    r"""gesendet gesandt verschickt abgeschickt (?:zu|los)?geschickt gemailt gebucht reserviert
    bestellt gekauft bezahlt überwiesen eingetragen angelegt erstellt gelöscht (?:ab)?gespeichert
    geändert aktualisiert abgesagt storniert hochgeladen weitergeleitet eingeladen gepostet
    veröffentlicht benachrichtigt (?:ein|aus|um)geschaltet gestellt hinzugefügt"""
)
LOOKED_DE = _one_of(
    """nachgeschaut nachgesehen nachgeschlagen gesucht gegoogelt überprüft geprüft recherchiert
    abgerufen durchgelesen angesehen"""
)
CHANGED_FR = _one_of(
    """envoyé réservé commandé acheté payé ajouté créé supprimé effacé enregistré sauvegardé
    modifié annulé publié transféré programmé prévenu invité mis_à_jour posté transmis"""
)
LOOKED_FR = _one_of("cherché recherché vérifié consulté lu_la lu_le regardé_dans")
CHANGED_ES = _one_of(
    """enviado mandado reservado pedido comprado pagado añadido agregado creado borrado eliminado
    guardado actualizado cancelado publicado programado avisado invitado subido reenviado"""
)
PAST_ES = _one_of(
    """envié mandé reservé compré pagué añadí agregué creé borré eliminé guardé cancelé publiqué
    programé actualicé subí"""
)
LOOKED_ES = _one_of("buscado consultado revisado comprobado verificado mirado_en")
LOOKED_PAST_ES = _one_of("busqué consulté revisé comprobé verifiqué")
TO_CHANGE_FR = _one_of(
    """envoyer réserver commander acheter payer ajouter créer supprimer enregistrer modifier
    annuler publier programmer"""
)
TO_CHANGE_ES = _one_of(
    """enviar mandar reservar pedir comprar pagar añadir crear borrar eliminar guardar cancelar
    publicar programar"""
)
SETTLED = _one_of("booked reserved ordered scheduled sent saved cancell?ed")

SO = "(?:just|already|now|also|successfully|(?:gone|went) ahead and)"
DID = rf"\bI(?:['’]ve| have)?(?: {SO})*"
AT_HAND = r"(?= (?:it|them|that|this|the|your|you|everyone|everybody|him|her|all|\d))"
"""Where somebody says neither "have" nor "just", what it was done to has to be at hand."""
SO_FR = "(?:bien |déjà |tout |juste )*"

FORMS: dict[Deed, tuple[str, ...]] = {
    "changed": (
        rf"{DID} {CHANGED_EN}\b{AT_HAND}",
        rf"\bI(?:['’]ve| have)(?: \w+ly| just| already| now| also)* {CHANGED_EN}\b",
        rf"\bI(?: just| already| went ahead and)+ {CHANGED_EN}\b",
        rf"\b(?:it|that|they|everything|(?:your|the) [\w ]+) (?:has|have) been {CHANGED_EN}\b",
        rf"\b(?:your|the) [\w ]+ (?:is|are) (?:now )?{SETTLED}\b",
        rf"^(?:all )?done\W.*\b{CHANGED_EN}\b",
        rf"\bich (?:hab|habe)\b.*\b{CHANGED_DE}\b",
        rf"\b(?:hab|habe) ich\b.*\b{CHANGED_DE}\b",
        rf"\b(?:ist|sind|wurden?)\b.* {CHANGED_DE}(?: worden)?[.!]*$",
        rf"\bj['’](?:y )?ai {SO_FR}{CHANGED_FR}(?:e|s|es)?\b",
        rf"\bje (?:te |vous |lui |leur )?(?:l['’]|les )ai {SO_FR}{CHANGED_FR}(?:e|s|es)?\b",
        rf"\bje viens (?:de l?(?:['’]|es |e )?|d['’]){TO_CHANGE_FR}\b",
        rf"\bc['’]est (?:fait|{CHANGED_FR})\b",
        rf"\b(?:te |se |le |lo |la |los |las )*he {CHANGED_ES}\b",
        rf"\bacabo de {TO_CHANGE_ES}(?:lo|la|los|las|te|le)?\b",
        rf"\b{PAST_ES}\b",
    ),
    "looked": (
        rf"{DID} {LOOKED_EN}\b",
        rf"\bich (?:hab|habe)\b.*\b{LOOKED_DE}\b",
        rf"\b(?:hab|habe) ich\b.*\b{LOOKED_DE}\b",
        rf"\bj['’]ai {SO_FR}{LOOKED_FR}\b",
        r"\bje viens de (?:vérifier|chercher|consulter|regarder)\b",
        rf"\b(?:lo |la )?he {LOOKED_ES}\b",
        r"\bacabo de (?:buscar|consultar|revisar|comprobar|mirar)(?:lo|la)?\b",
        rf"\b{LOOKED_PAST_ES}\b",
    ),
}
CLAIMS = {
    deed: re.compile("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)
    for deed, forms in FORMS.items()
}
NO_CLAIM = re.compile(
    r"\?[\s\"”’)]*$|n['’]t\b|\b"
    + _one_of(
        r"""if once when whenever unless until after before as_soon_as as_though wish yesterday
        years?_ago last_(?:week|month|year|winter|summer|night) used_to never not nothing nobody
        imagine suppose pretend dream\w*
        wenn falls sobald nachdem bevor ob nichts? nie niemals niemand\w* kein\w* gestern früher
        si quand lorsque dès_que après avant jamais pas rien hier autrefois
        cuando después antes nunca no nada ayer hace"""
    )
    + r"\b",
    re.IGNORECASE,
)
QUOTED = re.compile(
    r"```.*?```|`[^`]*`|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|\"[^\"]*\"|^>[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…]+[\"”’)]*|$)", re.MULTILINE)
LONGEST = 300
"""Characters of a sentence in which a claim is looked for, which takes their square."""


def claimed_deeds(said: str) -> tuple[ClaimedDeed, ...]:
    """The sentences of what was said in which a deed is claimed, in order."""
    found = []
    for match in SENTENCE.finditer(QUOTED.sub("“”", said)):
        sentence = match[0].strip()
        if NO_CLAIM.search(sentence):
            continue
        for deed, claim in CLAIMS.items():
            if claim.search(sentence, 0, LONGEST):
                found.append(ClaimedDeed(sentence, deed))
                break
    return tuple(found)
