"""A home on a platform, made to be killed; `main` runs in a process of its own.

    python -m tests.delivery.child HOME

The folder holds order.json (tokens, servers). Says "ready" once, and runs until it is killed. The
scripted mate repeats the marks of the lines it has not answered yet, with a token of its own.
"""

import asyncio
import dataclasses
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.app import open_app
from loopforge.host import run_surfaces
from loopforge.io.platforms.bot_tokens import BotTokens
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from loopforge.runtime.system_clock import SystemDice
from loopforge.settings import load_settings
from tests.delivery.tally import marks
from tests.discord.loopback import point
from tests.elsewhere import elsewhere
from tests.hurried_clock import HurriedClock
from tests.said_now import said_now


class Order(Struct, kw_only=True):
    """How to be there: tokens by variable; where Telegram is, and Discord's REST and gateway.

    `pace`: how fast its clock is.
    """

    tokens: dict[str, str]
    telegram: str = ""
    rest: str = ""
    gateway: str = ""
    pace: float = 1.0


def answer(question: Question, token: str) -> ScriptedAnswer:
    """The marks that were not answered yet; if there are none, the newest again."""
    heard = [mark for text in said_now(question) for mark in marks(text)]
    said = {mark for role, text in question.messages if role == "assistant" for mark in marks(text)}
    left = [mark for mark in dict.fromkeys(heard) if mark not in said] or heard[-1:]
    text = " ".join(f"[k{mark}]" for mark in left) + f" <{token}>"
    return ScriptedAnswer(text=text, data={"again": False, "note": "", "tool": ""})


async def main(home: Path) -> None:
    """Be there until killed."""
    order = msgspec.json.decode((home / "order.json").read_bytes(), type=Order)
    if order.rest:
        point(order.rest, order.gateway)
    settings = load_settings(home, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    changes: dict[str, Any] = {"debounce_seconds": 0.05, "energy_capacity": 50}
    changes |= dict.fromkeys(("telegram_dm", "telegram_groups"), "open")
    changes |= dict.fromkeys(("discord_dm", "discord_places"), "open")
    settings = dataclasses.replace(settings, **changes)
    clock, dice = HurriedClock(order.pace), SystemDice()
    models = ScriptedModels(lambda asked: answer(asked, dice.bytes(6).hex()), clock=clock)
    tokens = BotTokens(settings.data, order.tokens)
    there = elsewhere(settings, telegram=order.telegram)
    async with (
        open_app(settings, models=models, clock=clock, dice=dice) as app,
        run_surfaces(app, tokens, there, manners=SurfaceOptions()),
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
