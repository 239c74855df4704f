"""Presses of buttons under lines, and the form that asks for the reason of a no.

    a press of yes  --> answered --> told to whoever pressed, alone
    a press of no   --> may they? --> a form for the reason --> answered

Everything stands in the ids of buttons and forms, which Discord gives back: discord.py keeps no
view, and a press after a restart is a press like any other. Discord wants an answer within three
seconds. Does not know what a press comes to (in platforms/).
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeGuard

import discord
from loopforge.chat.commands.approval_commands import LONGEST_REASON
from loopforge.errors import LoopforgeError
from loopforge.io.discord.connection.api_errors import FAILURES, redact_tokens
from loopforge.io.discord.connection.gateway_client import GatewayClient
from loopforge.io.discord.mate_threads import Threads
from loopforge.io.discord.receiving.slash_commands import (
    SOON,
    Asked,
    answer_interaction,
    keeps_place,
)
from loopforge.io.platforms.incoming_lines import IncomingLines
from loopforge.io.platforms.line_buttons import (
    NO_QUESTION,
    ButtonPress,
    Press,
    Presser,
    press_of,
)
from loopforge.runtime.background_tasks import BackgroundTasks

log = logging.getLogger(__name__)
KINDS = (discord.InteractionType.component, discord.InteractionType.modal_submit)


class ButtonPresses:
    """Answers presses for all clients."""

    def __init__(self, reception: IncomingLines, threads: Threads) -> None:
        self._buttons, self._threads, self._tasks = reception.buttons, threads, BackgroundTasks()

    async def close(self) -> None:
        """Answer nothing any more."""
        await self._tasks.close()

    def listen(self, client: GatewayClient) -> None:
        """Be told from now on what is pressed under messages of this client."""
        setattr(client, "on_interaction", partial(self._take))  # noqa: B010 (discord.py's way)

    async def _take(self, interaction: Asked) -> None:
        if interaction.type not in KINDS:
            return
        data: Mapping[str, Any] = interaction.data or {}
        press = press_of(str(data.get("custom_id", "")))
        try:
            if _denies(press) and not _is_form(interaction):
                await self._ask_why(interaction, press)
            else:
                await answer_interaction(
                    self._tasks, interaction, self._done(interaction, press), private=True
                )
        except FAILURES as error:
            log.info("a press on Discord could not be answered: %s", redact_tokens(error))

    async def _done(self, interaction: Asked, press: Press | None) -> str:
        where = await self._where(interaction)
        if press is None or where is None:
            return NO_QUESTION
        data: Mapping[str, Any] = interaction.data or {}
        reason = next(_written(data.get("components", ())), "")
        return await self._buttons.pressed(*where, press, reason.strip())

    async def _ask_why(self, interaction: Asked, press: ButtonPress) -> None:
        """Show the form, unless it is clear by now that the press does not count."""
        task = self._tasks.spawn(self._refused(interaction, press), "a press on Discord")
        done, _ = await asyncio.wait([task], timeout=SOON)
        if done and (refused := task.result()):
            await interaction.response.send_message(refused, ephemeral=True)
            return
        form = discord.ui.Modal(title="Say no", custom_id=press.data, timeout=None)
        why: discord.ui.TextInput[Any] = discord.ui.TextInput(
            custom_id="why",
            style=discord.TextStyle.paragraph,
            required=False,
            max_length=LONGEST_REASON,
        )
        told = "The mate is told. You may leave it empty."
        form.add_item(discord.ui.Label(text="Why not?", description=told, component=why))
        form.stop()  # else discord.py would keep it; what comes back says all
        await interaction.response.send_modal(form)

    async def _refused(self, interaction: Asked, press: ButtonPress) -> str:
        try:
            where = await self._where(interaction)
            return (
                NO_QUESTION
                if where is None
                else await self._buttons.questions.refused(*where, press)
            )
        except LoopforgeError as error:
            return str(error)

    async def _where(self, interaction: Asked) -> tuple[list[str], str, Presser] | None:
        """The places and the message under which was pressed, and by whom."""
        message, user = interaction.message, interaction.user
        if message is None or interaction.channel_id is None:
            return None
        by = Presser(
            account=str(user.id),
            name=user.display_name,
            keeper=interaction.guild_id is None or keeps_place(interaction),
            bot=user.bot,
        )
        places = await self._threads.places(interaction.channel_id, message.id)
        return list(places), str(message.id), by


def _denies(press: Press | None) -> TypeGuard[ButtonPress]:
    return isinstance(press, ButtonPress) and press.verb == "deny"


def _is_form(interaction: Asked) -> bool:
    return interaction.type is discord.InteractionType.modal_submit


def _written(components: Any) -> Iterator[str]:
    """What was written into the fields of a form."""
    for one in components:
        if isinstance(one.get("value"), str):
            yield one["value"]
        yield from _written([one["component"]] if "component" in one else one.get("components", ()))
