"""The twin against discord.py's application commands: what persons ask, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

import discord
from discord import app_commands
from tests.discord.clients import Ears, online
from tests.discord.twin import Twin
from tests.discord.words import Bot


class Buttons(discord.ui.View):
    """Two buttons: one answers, one changes the message it is on."""

    @discord.ui.button(label="Yes", custom_id="yes")
    async def yes(self, asked: discord.Interaction, _: discord.ui.Button[Buttons]) -> None:
        """Answer the presser alone."""
        await asked.response.send_message("noted", ephemeral=True)

    @discord.ui.button(label="No", custom_id="no")
    async def no(self, asked: discord.Interaction, _: discord.ui.Button[Buttons]) -> None:
        """Change the message."""
        await asked.response.edit_message(content="declined", view=None)


class Form(discord.ui.Modal, title="A note"):
    """One field."""

    note: discord.ui.TextInput[Form] = discord.ui.TextInput(label="Note", custom_id="note")

    async def on_submit(self, asked: discord.Interaction) -> None:
        """Say it back."""
        await asked.response.send_message(f"you wrote {self.note.value}", ephemeral=True)


def commands(client: Ears) -> None:
    """Give a client some commands."""

    @client.tree.command(description="Why?")
    async def why(asked: discord.Interaction, line: str) -> None:
        await asked.response.send_message(f"because of {line}", ephemeral=True)
        await asked.followup.send("and more", ephemeral=True)

    @client.tree.command(description="Think")
    async def think(asked: discord.Interaction, who: discord.Member, long: int = 0) -> None:
        await asked.response.defer(thinking=True)
        await asked.edit_original_response(content=f"{who.name} {long}")

    @client.tree.command(description="Ask")
    async def ask(asked: discord.Interaction) -> None:
        await asked.response.send_message("really?", view=Buttons())

    @client.tree.command(description="Note")
    async def note(asked: discord.Interaction) -> None:
        await asked.response.send_modal(Form())

    group = app_commands.Group(name="mate", description="Mates")

    @group.command(description="Show")
    async def show(asked: discord.Interaction, name: str) -> None:
        await asked.response.send_message(f"this is {name}")

    @show.autocomplete("name")
    async def names(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        known = [name for name in ("Aria", "Ariel", "Bram") if name.startswith(typed)]
        return [app_commands.Choice(name=name, value=name.lower()) for name in known]

    client.tree.add_command(group)

    @client.tree.context_menu(name="Why this?")
    async def why_this(asked: discord.Interaction, message: discord.Message) -> None:
        await asked.response.send_message(f"because: {message.content}", ephemeral=True)

    @client.tree.command(description="Never answers")
    async def silent(_: discord.Interaction) -> None:
        await asyncio.sleep(0)


@pytest.fixture
def aria(city: Twin) -> Bot:
    """A bot."""
    return city.bot("Aria")


@pytest.fixture
async def client(city: Twin, aria: Bot) -> AsyncIterator[Ears]:
    """Its client, with the commands registered."""
    async with online(city, aria) as made:
        commands(made)
        await made.tree.sync()
        yield made


async def test_slash_ephemeral_and_followup(city: Twin, aria: Bot, client: Ears) -> None:
    """An answer for one person alone is not said into the room, nor is what follows it."""
    ben, plaza = city.person("ben"), city.channel("plaza")
    answer = await city.slash(ben, plaza, aria, "why", {"line": "3"})
    assert (answer.kind, answer.text, answer.ephemeral) == ("message", "because of 3", True)
    await city.until(lambda: answer.followups)
    assert [(one.text, one.ephemeral) for one in answer.followups] == [("and more", True)]
    assert client.said() == []


async def test_a_deferred_answer_and_a_member_option(city: Twin, aria: Bot, client: Ears) -> None:
    """Thinking is shown, then filled; a member is resolved beside the option."""
    ben, cora, plaza = city.person("ben"), city.person("cora"), city.channel("plaza")
    gate = city.faults.hold("PATCH /webhooks/*/*/messages/@original")
    answer = await city.slash(ben, plaza, aria, "think", {"who": cora, "long": 7}, settled=False)
    assert (answer.kind, answer.deferred, answer.text) == ("deferred", True, "")
    await gate.reached.wait()
    gate.release()
    await city.until(lambda: not answer.deferred)
    assert (answer.text, answer.ephemeral) == ("cora 7", False)
    assert [line.by for line in city.lines(plaza)] == ["Aria"]


async def test_buttons(city: Twin, aria: Bot, client: Ears) -> None:
    """A button answers its presser, or changes the message it is on."""
    ben, plaza = city.person("ben"), city.channel("plaza")
    asked = await city.slash(ben, plaza, aria, "ask")
    assert asked.line is not None
    answer = await city.press(ben, asked.line, "yes")
    assert (answer.text, answer.ephemeral) == ("noted", True)
    answer = await city.press(ben, asked.line, "no")
    assert (answer.kind, asked.text) == ("update", "declined")
    with pytest.raises(AssertionError, match="there is no yes"):
        await city.press(ben, asked.line, "yes")


async def test_a_form(city: Twin, aria: Bot, client: Ears) -> None:
    """A form is shown, filled in and sent."""
    ben, plaza = city.person("ben"), city.channel("plaza")
    shown = await city.slash(ben, plaza, aria, "note")
    assert shown.modal is not None
    assert shown.modal["title"] == "A note"
    answer = await city.submit(ben, shown, {"note": "milk"})
    assert answer.text == "you wrote milk"


async def test_autocomplete_of_a_subcommand(city: Twin, aria: Bot, client: Ears) -> None:
    """What is typed is completed, and the subcommand takes what was chosen."""
    ben, plaza = city.person("ben"), city.channel("plaza")
    choices = await city.autocomplete(ben, plaza, aria, "mate show", "name", "Ar")
    assert [one["value"] for one in choices] == ["aria", "ariel"]
    answer = await city.slash(ben, plaza, aria, "mate show", {"name": "aria"})
    assert (answer.text, answer.ephemeral) == ("this is aria", False)


async def test_the_menu_over_a_message(city: Twin, aria: Bot, client: Ears) -> None:
    """A command over a message is told the message, also in a DM."""
    ben, plaza = city.person("ben"), city.channel("plaza")
    answer = await city.context(ben, aria, "Why this?", await city.say(ben, plaza, "cats"))
    assert (answer.text, answer.ephemeral) == ("because: cats", True)
    answer = await city.context(ben, aria, "Why this?", await city.dm(ben, aria, "dogs"))
    assert answer.text == "because: dogs"


async def test_a_late_acknowledgement_is_refused(city: Twin, aria: Bot, client: Ears) -> None:
    """An interaction that is acknowledged after its time is unknown: 10062, and nothing is said."""
    ben, plaza = city.person("ben"), city.channel("plaza")
    failed: list[str] = []

    @client.tree.error
    async def _(_: discord.Interaction, error: app_commands.AppCommandError) -> None:
        failed.append(str(error))

    gate = city.faults.hold("POST /interactions/**")
    asking = asyncio.gather(city.slash(ben, plaza, aria, "why", {"line": "2"}))
    await gate.reached.wait()
    city.town.clock.advance(city.deadline - 30)
    gate.release()
    (answer,) = await asking
    assert answer.text == "because of 2"
    gate = city.faults.hold("POST /interactions/**")
    asking = asyncio.gather(city.slash(ben, plaza, aria, "why", {"line": "3"}))
    await gate.reached.wait()
    city.town.clock.advance(city.deadline + 1)
    gate.release()
    await city.until(lambda: failed)
    assert not asking.done()
    asking.cancel()
    assert "because of 3" not in [one.text for one in city.lines(plaza)]
    assert "10062" in failed[0]


async def test_only_the_application_that_is_asked_hears_it(
    city: Twin, aria: Bot, client: Ears
) -> None:
    """Two applications with commands of one name: each answers its own; strangers have none."""
    bram, ben, plaza = city.bot("Bram"), city.person("ben"), city.channel("plaza")
    async with online(city, bram) as other:
        with pytest.raises(AssertionError, match="Bram has registered no why"):
            await city.slash(ben, plaza, bram, "why", {"line": "1"})
        commands(other)
        await other.tree.sync()
        await city.slash(ben, plaza, bram, "why", {"line": "2"})
        assert (client.count("interaction"), other.count("interaction")) == (0, 1)
        silent = asyncio.gather(city.slash(ben, plaza, bram, "silent"))
        await city.until(lambda: other.count("interaction") == 2)
        await city.slash(ben, plaza, bram, "why", {"line": "3"})  # asked later, and answered
        assert not silent.done()
        silent.cancel()
