"""What claims a deed, and what only sounds like it: sixty sentences in four languages."""

from __future__ import annotations

import pytest

from loopforge.core.text.claimed_deeds import claimed

CLAIMS = (
    "I have sent it.",
    "I've just emailed Ana the plan.",
    "I sent your message to the whole team.",
    "I have gone ahead and booked the table for eight.",
    "Your flight has been booked.",
    "The reminder has been set for nine.",
    "I deleted the old files.",
    "I've added it to your calendar!",
    "I set a reminder for Friday.",
    "I just checked the weather: it will rain.",
    "I looked it up for you.",
    "I ran the tests, and all of them pass.",
    "Done!",
    "Email sent.",
    "I have already paid the invoice, so relax.",
    "The lights are now turned off.",
    "I've updated the spreadsheet with your numbers.",
    "I searched the web and found three shops.",
    "I forwarded it to Ben.",
    "I rebooted the server for you.",
    "Ich habe die Mail gerade abgeschickt.",
    "Die Erinnerung wurde eingetragen.",
    "Ich hab den Tisch für acht reserviert.",
    "Erledigt!",
    "J'ai envoyé le message à Ana.",
    "La table a été réservée.",
    "He enviado el correo.",
    "Ya lo he borrado.",
    "Your order is on its way to you.",
    "I emptied the bin and your desk is tidy.",  # no form knows it
    "Consider it handled.",  # nor this
    "I'm sending it right now.",  # nor this
)
NONE = (
    "I have not sent it.",
    "I haven't booked anything yet.",
    "Have I sent it?",
    "Once I have sent it, I will tell you.",
    "If I booked it, you would have to pay.",
    "I could have deleted it.",
    "I will send it tomorrow.",
    "I can't send mail from here.",
    "You sent it, I think.",
    "Ana has sent it to Ben.",
    "I sent letters by raven when I was young, years ago.",
    "I have thought about it.",
    "I told you so.",
    "I wrote you a poem.",
    "I have read what Ben said.",
    "I would like to book a table.",
    "Shall I send it?",
    "He wrote: “I have sent it.”",
    "Tell Ben: done is better than perfect.",
    "Ich habe es nicht gesendet.",
    "Wenn ich es gesendet habe, sage ich es dir.",
    "Soll ich es senden?",
    "Je n'ai rien envoyé.",
    "No he enviado nada.",
    "I never deleted a thing.",
    "Let me check that for you.",
    "It was paid by you last week.",
    "I imagine I have sent it, and feel better.",
)


@pytest.mark.parametrize("sentence", NONE)
def test_what_only_sounds_like_it(sentence: str) -> None:
    """Asked, denied, supposed, quoted, of long ago, of somebody else, or a deed of words."""
    assert claimed(sentence) == []


def test_most_claims_are_found() -> None:
    """Of sixty sentences nine in ten of those found claim a deed, and six in ten of the claims are."""
    assert len(CLAIMS) + len(NONE) == 60
    found = [sentence for sentence in (*CLAIMS, *NONE) if claimed(sentence)]
    right = [sentence for sentence in found if sentence in CLAIMS]
    assert len(right) / len(found) >= 0.9
    assert len(right) / len(CLAIMS) >= 0.6
    assert set(CLAIMS) - set(found) == set(CLAIMS[-3:])


def test_the_sentence_is_named() -> None:
    """Of several the one that claims, as it stands there."""
    said = "Good morning, Ana! I've sent it to Ben. He will like it."
    assert claimed(said) == ["I've sent it to Ben."]
