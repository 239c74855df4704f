"""Slash commands: what a room may be asked for; and "Why?" and "Talk in a thread" on any message.

Made from the table of the room's commands (chat/commands/command_catalogue.py), whatever stands
there. Discord wants an answer within three seconds: what takes longer is announced first. Does not
know what a command does.
"""

import asyncio
import io
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import discord
from discord import app_commands
from loopforge.chat.commands.command_catalogue import COMMANDS, RoomCommand
from loopforge.errors import LoopforgeError
from loopforge.io.discord.connection.api_errors import FAILURES, redact_tokens
from loopforge.io.discord.connection.bot_accounts import place_of
from loopforge.io.discord.connection.gateway_client import NOBODY, GatewayClient
from loopforge.io.discord.mate_threads import NOT_YOURS, UNANSWERED, UNSAID, Threads
from loopforge.io.discord.text.incoming_message import ground_of, is_spoken_message, spot_of
from loopforge.io.discord.text.markdown import LIMIT
from loopforge.io.platforms.incoming_lines import IncomingLines
from loopforge.io.platforms.place_allowlist import NOT_HERE
from loopforge.runtime.background_tasks import BackgroundTasks

log = logging.getLogger(__name__)
SOON = 1.5
"""Seconds after which an answer is announced rather than given."""
ACKNOWLEDGED = 40060
"""Discord's code where an answer or its announcement is there already."""
EXPIRED = (10062, 10015, 50027)
"""Its codes where nothing can be answered any more: 15 minutes after the command, for one."""
TOO_LATE = "The answer came too late to be shown to you alone; please ask again."
TALK = "Talk in a thread"
CHOICES = 25
"""Completions that Discord shows."""
Asked = discord.Interaction[GatewayClient]
Opening = Callable[[GatewayClient, discord.Message, discord.abc.User], Awaitable[str]]
"""Opens a thread on a message, as somebody asks, and says what is to be told of it."""


class SlashCommands:
    """Gives each client its commands, and answers them."""

    def __init__(self, reception: IncomingLines, threads: Threads) -> None:
        self._reception, self._threads = reception, threads
        self._offered: set[int] = set()
        self._tasks = BackgroundTasks()

    async def close(self) -> None:
        """Answer nothing any more."""
        await self._tasks.close()

    def equip(self, client: GatewayClient, opening: Opening) -> None:
        """Give a client its commands, before it connects; `opening` opens threads on messages."""
        client.tree.on_error = _failed  # type: ignore[method-assign]
        for command in COMMANDS:
            try:
                client.tree.add_command(self._made(command))
            except (ValueError, TypeError, discord.DiscordException) as error:
                log.warning("/%s cannot be a command on Discord: %s", command.name, error)
        client.tree.add_command(app_commands.ContextMenu(name="Why?", callback=self._why))
        client.tree.add_command(app_commands.ContextMenu(name=TALK, callback=self._talk(opening)))

    def offer(self, client: GatewayClient) -> None:
        """Tell Discord of the commands of a client that is connected, once in a process."""
        if client.id not in self._offered:
            self._offered.add(client.id)
            self._tasks.spawn(self._sync(client), f"commands of {client.user}")

    async def _sync(self, client: GatewayClient) -> None:
        try:
            await client.tree.sync()
        except FAILURES as error:
            self._offered.discard(client.id)
            log.warning("Discord did not take the commands: %s", redact_tokens(error))

    # ------------------------------------------------------------ a command of the table

    def _made(self, command: RoomCommand) -> app_commands.Command[Any, ..., None]:
        async def bare(interaction: Asked) -> None:
            await self._run(interaction, command, "")

        async def needing(interaction: Asked, argument: str) -> None:
            await self._run(interaction, command, argument)

        async def offering(interaction: Asked, argument: str = "") -> None:
            await self._run(interaction, command, argument)

        taking = offering if command.argument.startswith("[") else needing
        callback: Callable[..., Coroutine[Any, Any, None]] = taking if command.argument else bare
        made: app_commands.Command[Any, ..., None] = app_commands.Command(
            name=command.name, description=command.help[:100], callback=callback
        )
        if command.argument:
            app_commands.rename(argument=_parameter(command.argument))(made)
            app_commands.describe(argument=command.argument[:100])(made)
            made.autocomplete("argument")(self._completing(command))
        return made

    async def _run(self, interaction: Asked, command: RoomCommand, argument: str) -> None:
        private = bool(getattr(command, "private", False))
        work = self._done(interaction, command.name, argument)
        await answer_interaction(self._tasks, interaction, work, private=private)

    async def _done(self, interaction: Asked, name: str, argument: str) -> str:
        """Do it, and say what was done. Raises LoopforgeError for what cannot be done."""
        channel = interaction.client.met(interaction.channel)
        if channel is None:
            return "There is no talk here that a command could be for."
        client, user = interaction.client, interaction.user
        if not await self._served(interaction):
            return NOT_HERE
        mates = await self._threads.mates(client, channel)
        spot = spot_of(channel, user.display_name)
        keeper = keeps_place(interaction) or spot.kind == "private"
        return await self._reception.command(
            spot, mates, str(user.id), user.display_name, name, argument, keeper=keeper
        )

    def _completing(self, command: RoomCommand) -> Any:
        async def complete(interaction: Asked, current: str) -> list[app_commands.Choice[str]]:
            place = place_of(interaction.channel_id or 0)
            channel = interaction.client.met(interaction.channel)
            mates = await self._threads.mates(interaction.client, channel) if channel else ()
            found = await self._reception.complete(
                place, str(interaction.user.id), command.name, current, mates
            )
            return [app_commands.Choice(name=each[:100], value=each[:100]) for each in found][
                :CHOICES
            ]

        return complete

    # ------------------------------------------------------------ on a message

    async def _why(self, interaction: Asked, message: discord.Message) -> None:
        await answer_interaction(
            self._tasks, interaction, self._record(interaction, message), private=True
        )

    async def _record(self, interaction: Asked, message: discord.Message) -> str:
        """The flight record of the line that a message is, as far as who asks may see it."""
        place = place_of(message.channel.id)
        line = await self._reception.sessions.channels.line(place, str(message.id))
        if not line:
            return "This message is no line of a room here; there is nothing to explain."
        return await self._done(interaction, "why", line)

    def _talk(self, opening: Opening) -> Any:
        async def talk(interaction: Asked, message: discord.Message) -> None:
            work = self._opened(interaction, message, opening)
            await answer_interaction(self._tasks, interaction, work, private=True)

        return talk

    async def _opened(self, interaction: Asked, message: discord.Message, opening: Opening) -> str:
        """Open a thread on a message, for somebody who might do so by hand."""
        if not is_spoken_message(message):
            return UNSAID
        if not interaction.permissions.create_public_threads:
            return NOT_YOURS
        if not await self._served(interaction):
            return NOT_HERE
        account, keeper = str(interaction.user.id), keeps_place(interaction)
        if not await self._threads.may_talk(message.channel.id, account, keeper=keeper):
            return UNANSWERED
        return await opening(interaction.client, message, interaction.user)

    async def _served(self, interaction: Asked) -> bool:
        """Whether mates talk in the server where this is asked."""
        client, user = interaction.client, interaction.user
        channel = client.met(interaction.channel)
        ground = ground_of(client, channel, user.id) if channel is not None else None
        return (
            ground is None
            or await self._reception.serves(ground, str(user.id), asked=False) is None
        )


async def answer_interaction(
    tasks: BackgroundTasks, interaction: Asked, work: Coroutine[Any, Any, str], *, private: bool
) -> None:
    """Give the answer, or announce it and give it when it is there.

    What cannot be done is said to whoever asked alone; once an answer is announced, to those that
    saw it.
    """
    task = tasks.spawn(_told(work, private), "an answer to a command")
    done, _ = await asyncio.wait([task], timeout=SOON)
    if not done:
        try:
            await interaction.response.defer(ephemeral=private, thinking=True)
        except FAILURES as error:  # it may have arrived all the same
            log.info("an answer on Discord could not be announced: %s", redact_tokens(error))
    text, private = await task
    try:
        await _answer(interaction, text, private=private, announced=not done)
    except discord.HTTPException as error:
        if error.code not in EXPIRED:
            raise
        await _late(interaction, text, private=private)


async def _answer(interaction: Asked, text: str, *, private: bool, announced: bool) -> None:
    try:
        await _say(interaction, text, private=private)
    except discord.HTTPException as error:
        if error.code != ACKNOWLEDGED:
            raise
        if announced:  # by the announcement; else this very answer is there
            await _follow(interaction, text, private=private)


async def _late(interaction: Asked, text: str, *, private: bool) -> None:
    """Answer by an ordinary message: where it was asked, or what is for one person to them alone.

    Who cannot be written to alone is told where they asked that they may ask again.
    """
    user, channel = interaction.user, interaction.client.met(interaction.channel)
    where = None if private else channel
    shown, more = _cut(text if where is None else f"{user.mention} {text}")
    try:
        await (where or user).send(shown, allowed_mentions=NOBODY, suppress_embeds=True, **more)
    except discord.Forbidden:
        if not private:
            shown, more = _cut(text)
            await user.send(shown, allowed_mentions=NOBODY, suppress_embeds=True, **more)
        elif channel is not None:
            await channel.send(f"{user.mention} {TOO_LATE}", allowed_mentions=NOBODY)


def keeps_place(interaction: Asked) -> bool:
    """Whether who asks may manage that place."""
    allowed = interaction.permissions
    return allowed.manage_channels or allowed.manage_guild


async def _told(work: Awaitable[str], private: bool) -> tuple[str, bool]:
    """What is to be said, and whether to whoever asked alone."""
    try:
        return await work or "Done.", private
    except LoopforgeError as refused:
        return str(refused), True


def _parameter(argument: str) -> str:
    """What Discord calls an argument: small letters alone."""
    first = argument.strip("[]").split()[0].lower()
    name = re.sub(r"[^a-z0-9_-]", "", first)[:32]
    return "choice" if "|" in first or not name else name


def _cut(text: str) -> tuple[str, dict[str, Any]]:
    """The text as a message; what is too long for one comes as a file too."""
    if len(text.encode("utf-16-le")) // 2 <= LIMIT:
        return text, {}
    cut = text[: LIMIT // 2].rpartition("\n")[0] or text[: LIMIT // 2]
    return f"{cut}\n…", {"file": discord.File(io.BytesIO(text.encode()), filename="answer.txt")}


async def _failed(interaction: Asked, error: app_commands.AppCommandError) -> None:
    """A command broke off: whoever asked is told, without what is nobody's business."""
    log.warning("a command on Discord failed: %s", redact_tokens(error))
    try:
        await _say(interaction, "That did not work; please try again.", private=True)
    except Exception as failure:  # the connection broke off, or the home ends: nobody else hears it
        log.info("that could not be said: %s", redact_tokens(failure))


async def _say(interaction: Asked, text: str, *, private: bool) -> None:
    """Answer, or follow up on what was announced."""
    if interaction.response.is_done():
        await _follow(interaction, text, private=private)
        return
    shown, more = _cut(text)
    say = interaction.response.send_message
    await say(shown, ephemeral=private, allowed_mentions=NOBODY, suppress_embeds=True, **more)


async def _follow(interaction: Asked, text: str, *, private: bool) -> None:
    shown, more = _cut(text)
    say = interaction.followup.send
    await say(shown, ephemeral=private, allowed_mentions=NOBODY, suppress_embeds=True, **more)
