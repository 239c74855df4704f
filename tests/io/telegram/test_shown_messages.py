"""What a message without words is, in words: so a mate knows what was put before it."""

from typing import Any

import pytest

import telegram
from loopforge.io.telegram.text.incoming_message import words

CHAT = {"id": 1, "type": "private", "first_name": "Ana"}
POINT = {"longitude": 13.4, "latitude": 52.5}


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"location": POINT}, "[a place: 52.5, 13.4]"),
        (
            {
                "venue": {"location": POINT, "title": "Mill", "address": "High Street 1"},
                "location": POINT,
            },
            "[a place: Mill, High Street 1]",
        ),
        (
            {"contact": {"phone_number": "+1", "first_name": "Ben", "last_name": "Lee"}},
            "[a contact: Ben Lee, +1]",
        ),
        ({"dice": {"emoji": "🎲", "value": 6}}, "[🎲 6]"),
        (
            {
                "poll": {
                    "id": "1",
                    "question": "Rye?",
                    "options": [
                        {"text": "yes", "voter_count": 0, "persistent_id": "a"},
                        {"text": "no", "voter_count": 0, "persistent_id": "b"},
                    ],
                    "total_voter_count": 0,
                    "is_closed": False,
                    "is_anonymous": True,
                    "type": "regular",
                    "allows_multiple_answers": False,
                    "allows_revoting": False,
                    "members_only": False,
                }
            },
            "[asks: Rye? (yes, no)]",
        ),
        (
            {
                "checklist": {
                    "title": "Bread",
                    "tasks": [{"id": 1, "text": "knead"}, {"id": 2, "text": "bake"}],
                }
            },
            "[to do: Bread (knead, bake)]",
        ),
        ({}, ""),
    ],
)
def test_what_is_no_text_is_told(part: dict[str, Any], shown: str) -> None:
    """A poll, a list, a place by its name or by where it lies, somebody's number, a throw."""
    message = telegram.Message.de_json({"message_id": 1, "date": 1, "chat": CHAT, **part})
    assert words(message, {}) == shown
