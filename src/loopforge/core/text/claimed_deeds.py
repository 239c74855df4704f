"""Claims of deeds: sentences that say somebody did what words alone do not do.

    claimed("Hello Ana! I have sent it to Ben.") -> ["I have sent it to Ben."]

English, German, French and Spanish; the perfect, the plain past, the passive, and a bare "Sent!".
What is asked, denied, supposed, quoted or told of long ago claims nothing. It goes by words alone:
a figure in a story that sends a raven claims so too. Does not know what was done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class ClaimingForms(NamedTuple):
    """How a language claims a deed, and which words up to there take that back."""

    claims: re.Pattern[str]
    excuses: re.Pattern[str]


def _forms(claims: str, excuses: str) -> ClaimingForms:
    return ClaimingForms(re.compile(claims, re.IGNORECASE), re.compile(excuses, re.IGNORECASE))


_ENGLISH = (
    "sent|e-?mailed|messaged|texted|forwarded|posted|published|submitted|notified|contacted|phoned"
    "|booked|reserved|ordered|bought|purchased|paid|transferred|refunded|cancell?ed|rescheduled"
    "|scheduled|subscribed|unsubscribed|registered|signed you up|saved|stored|deleted|removed"
    "|erased|created|added|updated|uploaded|downloaded|installed|uninstalled|deployed|merged|committed"
    "|pushed|rebooted|restarted|renamed|archived|printed|locked|unlocked|muted|banned|invited"
    "|switched (?:it |them )?(?:on|off)|turned (?:it |them |\\w+ \\w+ )?(?:on|off)|backed up"
    "|looked (?:\\w+ )?up|searched|googled|checked|verified|ran|executed|tested"
    "|set (?:up|(?:an?|the|your) (?:\\w+ )?(?:reminder|alarm|timer|event|meeting|temperature))"
)
_SOON = "(?:just|now|already|also|gone ahead and|successfully|even)"
_GERMAN = (
    "gesendet|geschickt|abgeschickt|verschickt|weitergeleitet|gemailt|gebucht|reserviert|bestellt"
    "|gekauft|bezahlt|überwiesen|storniert|abgesagt|eingetragen|angelegt|erstellt|gespeichert"
    "|gelöscht|entfernt|hochgeladen|heruntergeladen|installiert|aktualisiert|benachrichtigt"
    "|veröffentlicht|gestellt|eingestellt|eingerichtet|eingeschaltet|ausgeschaltet|gesucht"
    "|nachgeschaut|nachgesehen|geprüft|überprüft|ausgeführt|gestartet|hinzugefügt|angemeldet"
)
_FRENCH = (
    "envoyée?s?|transmise?s?|réservée?s?|commandée?s?|achetée?s?|payée?s?|annulée?s?|supprimée?s?"
    "|effacée?s?|enregistrée?s?|créée?s?|ajoutée?s?|programmée?s?|téléchargée?s?|installée?s?"
    "|mise?s? à jour|publiée?s?|prévenue?s?|vérifiée?s?|cherchée?s?|lancée?s?|allumée?s?|éteinte?s?"
)
_SPANISH = (
    "enviad[oa]s?|mandad[oa]s?|reservad[oa]s?|pedid[oa]s?|comprad[oa]s?|pagad[oa]s?|cancelad[oa]s?"
    "|borrad[oa]s?|eliminad[oa]s?|guardad[oa]s?|cread[oa]s?|añadid[oa]s?|programad[oa]s?|subid[oa]s?"
    "|descargad[oa]s?|instalad[oa]s?|actualizad[oa]s?|publicad[oa]s?|avisad[oa]s?|comprobad[oa]s?"
    "|buscad[oa]s?|ejecutad[oa]s?|encendid[oa]s?|apagad[oa]s?"
)
_BARE = (
    "done|sent|booked|ordered|paid|saved|deleted|cancell?ed|submitted|posted|all set|erledigt"
    "|gesendet|gebucht|gespeichert|gelöscht|fait|envoyé|réservé|hecho|enviado|reservado|borrado"
)

LANGUAGES = (
    _forms(
        rf"\bI(?:['’]ve| have)? (?:{_SOON} )*(?:{_ENGLISH})\b"
        rf"|\b(?:has|have) (?:{_SOON} )*been (?:{_SOON} )*(?:{_ENGLISH}|set)\b"
        rf"|\b(?:is|are) now (?:{_ENGLISH})\b|\bis on its way to (?:you|your)\b",
        r"\b(?:not|never|no longer|nobody|nothing|if|once|unless|until|before|whenever|would|could"
        r"|should|might|may|must have|wish|imagine|pretend|suppose|as though|can|will|had I|were)\b"
        r"|n['’]t\b",
    ),
    _forms(
        rf"\bich (?:hab|habe)\b.*\b(?:{_GERMAN})\b|\bhabe ich\b.*\b(?:{_GERMAN})\b"
        rf"|\b(?:wurde|wurden|ist|sind) (?:\w+ ){{0,4}}(?:{_GERMAN})\b",
        r"\b(?:nicht|nie|niemals|kein\w*|wenn|falls|hätte|könnte|würde|sobald|bevor|werde"
        r"|als ob)\b",
    ),
    _forms(
        rf"\bj['’](?:y )?ai\b.{{0,30}}\b(?:{_FRENCH})\b"
        rf"|\bje (?:te |vous )?l['’]?ai\b.*\b(?:{_FRENCH})\b"
        rf"|\b(?:a|ont) été (?:\w+ )?(?:{_FRENCH})\b",
        r"\b(?:pas|jamais|rien|si|quand|dès que|avant|aurais|pourrais|comme si)\b",
    ),
    _forms(
        rf"\bhe (?:{_SPANISH})\b|\b(?:ha|han) sido (?:\w+ )?(?:{_SPANISH})\b"
        r"|\b(?:envié|mandé|reservé|compré|pagué|cancelé|borré|guardé|creé|añadí|subí)\b",
        r"\b(?:no|nunca|jamás|nada|si|cuando|antes|habría|podría|como si|ojalá)\b",
    ),
)
_NOT_NOW = re.compile(
    r"\b(?:yesterday|last (?:week|month|year|night|summer|winter|spring|time)|ago|long since"
    r"|when I was|used to|in my (?:youth|day|life)|by (?:you|them|him|her)|gestern|damals|früher"
    r"|letzte[rsn]?|vor (?:\w+ )?(?:jahren?|wochen?|tagen?|monaten?)|hier soir|autrefois|il y a"
    r"|ayer|hace)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_QUOTED = re.compile(r"“[^”]*”|„[^“]*“|«[^»]*»|\"[^\"]*\"|`[^`]*`|(?m:^>.*$)")
_ALONE = re.compile(rf"\W*(?:\w+ )?(?:{_BARE})\s*[.!…✓✅]*\W*", re.IGNORECASE)


def claimed(text: str) -> list[str]:
    """The sentences of a text that claim a deed, in order, as they stand there."""
    return list(_claims(_QUOTED.sub("…", text)))


def _claims(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = found[0].strip()
        if sentence.endswith("?") or _NOT_NOW.search(sentence):
            continue
        if _ALONE.fullmatch(sentence) or any(_holds(forms, sentence) for forms in LANGUAGES):
            yield sentence


def _holds(forms: ClaimingForms, sentence: str) -> bool:
    found = forms.claims.search(sentence)
    return found is not None and forms.excuses.search(sentence, 0, found.end()) is None
