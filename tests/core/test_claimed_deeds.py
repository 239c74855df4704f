"""Sentences that claim a deed, and sentences that only sound like it; in four languages."""

import pytest

from loopforge.core.text.claimed_deeds import claimed_deeds

TUNED_ON = (
    ("I have sent it.", "changed"),
    ("I've just booked the table for seven.", "changed"),
    ("Done! The mail to Ana is on its way, I sent it a minute ago.", "changed"),
    ("Your appointment has been cancelled.", "changed"),
    ("I saved your notes in the shared folder.", "changed"),
    ("I looked it up: the train leaves at 9:14.", "looked"),
    ("I have checked the forecast, and it will rain.", "looked"),
    ("Ich habe den Tisch für acht Uhr reserviert.", "changed"),
    ("Die Mail ist verschickt.", "changed"),
    ("Ich hab kurz nachgeschaut: morgen wird es kalt.", "looked"),
    ("J'ai envoyé le message à Ana.", "changed"),
    ("Je viens de vérifier la météo.", "looked"),
    ("He reservado la mesa para las ocho.", "changed"),
    ("Ya lo envié.", "changed"),
    ("I have sent three ravens, and none came back?", ""),
    ("I can send it if you like.", ""),
    ("Shall I book the table?", ""),
    ("I have added up my regrets, and they are many.", ""),
    ("I will look it up tomorrow.", ""),
    ("Once I have booked it, I will tell you.", ""),
    ("You have sent it already.", ""),
    ("Ana booked the table yesterday.", ""),
    ("You wrote “I have sent it” to her.", ""),
    ("I have read too many obituaries of bridges.", ""),
    ("I sent my first slug to war when I was nine.", ""),
    ("Ich habe nichts gebucht.", ""),
    ("Hast du die Mail verschickt?", ""),
    ("Je n'ai rien envoyé.", ""),
    ("Je peux réserver une table.", ""),
    ("No he enviado nada.", ""),
)
HELD_BACK = (
    ("Okay, I've added milk to your shopping list.", "changed"),
    ("I went ahead and ordered two pizzas.", "changed"),
    ("The reminder is set for Friday at nine.", "changed"),
    ("I have deleted the old file for you.", "changed"),
    ("I emailed the landlord about the heating.", "changed"),
    ("Your flight is booked.", "changed"),
    ("I just checked the calendar, and Tuesday is free.", "looked"),
    ("I searched the web and found three papers.", "looked"),
    ("Ich habe Ben eine Nachricht geschickt.", "changed"),
    ("Erledigt, der Termin ist eingetragen.", "changed"),
    ("Das habe ich eben nachgeschlagen.", "looked"),
    ("C'est fait, j'ai annulé la réservation.", "changed"),
    ("J'ai consulté l'horaire des trains.", "looked"),
    ("Acabo de enviar el correo.", "changed"),
    ("He buscado el horario: sale a las nueve.", "looked"),
    ("I could not book anything, the tool refused.", ""),
    ("I'd send it, but I have no mail here.", ""),
    ("If I had booked it, you would know.", ""),
    ("I have grown fond of that bridge.", ""),
    ("The bridge was built in 1931.", ""),
    ("Ben has paid the bill.", ""),
    ("Did I save that?", ""),
    ("I have three theories about your fridge.", ""),
    ("I never ordered a raccoon.", ""),
    ("Soll ich die Mail abschicken?", ""),
    ("Ich habe heute noch mit niemandem gesprochen.", ""),
    ("Ich habe leider keinen Zugriff auf deinen Kalender.", ""),
    ("Tu as déjà réservé la table.", ""),
    ("J'ai faim, et il pleut.", ""),
    ("Puedo reservar la mesa si quieres.", ""),
)


def told(sentence: str) -> str:
    """What is claimed in a sentence; "" for nothing."""
    return " ".join(claim.deed for claim in claimed_deeds(sentence))


@pytest.mark.parametrize("table", [TUNED_ON, HELD_BACK], ids=["tuned on", "held back"])
def test_claims_are_found_and_little_else(table: tuple[tuple[str, str], ...]) -> None:
    """Of what is flagged nine in ten are claims; of the claims six in ten are flagged."""
    found = [sentence for sentence, _ in table if told(sentence)]
    claims = [sentence for sentence, deed in table if deed]
    right = [sentence for sentence in found if sentence in claims]
    assert len(right) / len(found) >= 0.9, set(found) - set(right)
    assert len(right) / len(claims) >= 0.6, set(claims) - set(right)


def test_each_sentence_is_told_with_its_deed() -> None:
    """Only the sentences that claim something, as they were said; quotes are no claims."""
    said = "Sure, I have sent it. Shall I book, too?\n> I have paid\nI looked it up, by the way!"
    assert claimed_deeds(said) == (
        ("Sure, I have sent it.", "changed"),
        ("I looked it up, by the way!", "looked"),
    )


@pytest.mark.timeout(20)
@pytest.mark.parametrize("words", ["ich habe ", "the cat sat ", "„", "“", "«"])
def test_a_long_line_is_read_in_a_moment(words: str) -> None:
    """It took the square of its length; a mate may be talked into 100,000 letters of this."""
    assert claimed_deeds(words * (1_000_000 // len(words))) == ()
    assert claimed_deeds(f"I have sent it, {words * 1_000}") != ()
