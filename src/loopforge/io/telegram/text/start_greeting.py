"""Start greeting: what a bot says to who presses *Start*, or brings it into a group by its link.

Pure. Does not know rooms, nor whether the bot may be answered there.
"""

from collections.abc import Sequence

from loopforge.core.text.spoken_lists import join_as_prose

SHOWN = 5
"""Names of mates that are said, of a bot that is there for many."""
HELP = "/help lists what else there is."
PRIVACY = (
    "Other lines do not reach the bot, since its privacy mode is on: /setprivacy at "
    "https://t.me/BotFather changes that, for groups into which it is brought afterwards."
)


def start_greeting(
    mates: Sequence[str], username: str, *, private: bool, hears_all: bool = True
) -> str:
    """How to talk with these `mates` (names) here; in a group the bot may not hear every line."""
    here = f"Here {'are' if len(mates) > 1 else 'is'} {join_as_prose(mates, SHOWN)}"
    if private:
        return f"{here}: whatever you write is answered. {HELP}"
    if hears_all:
        return f"{here}: say the name, mention @{username} or answer one of its lines. {HELP}"
    return f"{here}: mention @{username} or answer one of its lines. {PRIVACY} {HELP}"
