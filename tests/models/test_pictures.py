"""Pictures over real HTTP: in each protocol the bytes arrive where the service looks for them."""

from base64 import b64encode
from typing import Any

import pytest

from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import public_words
from loopforge.errors import InputError, Unknown
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import Tiers, read_tiers, shipped_ladder
from loopforge.models.providers.model_attempt import Provider
from loopforge.models.providers.model_request import UNSEEN
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Question, QuestionPicture, Route, ToolCall
from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.pictures.look_at import asked as looked_at
from tests.models.server import Behaviour, Server, serving
from tests.models.test_model_attempt import KINDS, every_protocol
from tests.models.test_model_router import tiers_of
from tests.seeded_dice import SeededDice

SHOWN = b"\x89PNG\r\n\x1a\n and what follows"
HASH = "ab" * 32


class Shelf:
    """Pictures by their hash, as a home keeps them."""

    async def get(self, hash: str) -> bytes:
        """The one picture there is. Raises Unknown."""
        if hash != HASH:
            raise Unknown("There is no such picture.")
        return SHOWN


def question(hash: str = HASH, media: str = "image/png") -> Question:
    """A prompt whose second line comes with a picture."""
    messages = (
        ("system", "You are Maya."),
        ("user", "ana: look"),
        ("user", "bed.png: [the picture]"),
        ("user", "What do you say?"),
    )
    return Question(
        messages=messages, pictures=(QuestionPicture(message=2, hash=hash, media=media),)
    )


async def sent(kind: str, asked: Question, *, vision: bool = True) -> Any:
    """What the server of one protocol was sent as messages."""
    tasks = BackgroundTasks()
    async with serving() as server:
        spec = server.spec(**KINDS[kind], vision=vision)
        provider = Provider(spec, SystemClock(), tasks, Shelf())
        tried = await provider.attempt(asked, lambda _: None)
        await provider.close()
        await tasks.close()
    assert tried.outcome == "answered", tried.detail
    assert len(server.asked) == 1
    body = server.asked[0].body
    return body.get("messages") or body.get("input") or body["contents"]


def flat(value: Any) -> list[Any]:
    """Every text and number of a JSON value, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for each in value for leaf in flat(each)] if isinstance(value, list) else [value]


@every_protocol
async def test_a_picture_arrives_after_its_line(kind: str) -> None:
    """The bytes stand between the picture's line and the next one, with their type."""
    leaves = [str(leaf) for leaf in flat(await sent(kind, question()))]
    data = b64encode(SHOWN).decode()
    (place,) = [nth for nth, leaf in enumerate(leaves) if leaf.endswith(data)]
    name = next(nth for nth, leaf in enumerate(leaves) if "bed.png: [the picture]" in leaf)
    after = next(nth for nth, leaf in enumerate(leaves) if "What do you say?" in leaf)
    assert name < place < after
    assert any("image/png" in leaf for leaf in leaves)
    assert UNSEEN.strip() not in " ".join(leaves)


async def test_each_protocol_has_the_picture_where_it_belongs() -> None:
    """A data address for OpenAI, a source for Anthropic, inline data for Gemini."""
    data = b64encode(SHOWN).decode()
    chat = (await sent("chat", question()))[-1]["content"]
    assert {"url": f"data:image/png;base64,{data}"}.items() <= chat[1]["image_url"].items()
    answers = [part for turn in await sent("responses", question()) for part in turn["content"]]
    shown = [part for part in answers if isinstance(part, dict) and "image" in part["type"]]
    assert [part["image_url"] for part in shown] == [f"data:image/png;base64,{data}"]
    parts = [part for turn in await sent("messages", question()) for part in turn["content"]]
    sources = [part["source"] for part in parts if part["type"] == "image"]
    assert sources == [{"type": "base64", "media_type": "image/png", "data": data}]
    parts = [part for turn in await sent("gemini", question()) for part in turn["parts"]]
    inline = [part["inlineData"] for part in parts if "inlineData" in part]
    assert [sorted(part.values()) for part in inline] == [sorted((data, "image/png"))]


@every_protocol
async def test_what_cannot_be_shown_is_told(kind: str) -> None:
    """A model without eyes, and one whose picture is gone, are told that they cannot see it."""
    for told in (
        await sent(kind, question(), vision=False),
        await sent(kind, question(hash="cd" * 32)),
    ):
        text = " ".join(map(str, flat(told)))
        assert "bed.png: [the picture]" + UNSEEN in text
        assert b64encode(SHOWN).decode() not in text


async def test_gemini_is_shown_no_gif() -> None:
    """A type that a service would refuse is told instead; the others take it."""
    told = flat(await sent("gemini", question(media="image/gif")))
    assert UNSEEN.strip() in " ".join(map(str, told))
    shown = flat(await sent("messages", question(media="image/gif")))
    assert b64encode(SHOWN).decode() in shown


# ---------------------------------------------------------------- tiers


def blind_after_seeing(server: Server) -> Tiers:
    """A model that can see, and one that stands in for it and cannot."""
    specs = [server.spec(name=name, id=name, vision=name == "sees") for name in ("sees", "blind")]
    return tiers_of(*specs)


async def test_a_refused_picture_goes_on_to_the_next_model() -> None:
    """The refusal stands among the attempts; the model that stands in is told that it is blind."""
    async with serving() as server:
        body = '{"error": {"message": "Invalid image.", "type": "invalid_request_error"}}'
        server.does(Behaviour(status=400, body=body), Behaviour())
        models = TieredModels(
            blind_after_seeing(server), SystemClock(), SeededDice(1), pictures=Shelf()
        )
        reply = await models.ask(question(), lambda _: None)
        await models.close()
    assert [(one.model, one.outcome) for one in reply.attempts] == [
        ("sees", "failed"),
        ("blind", "answered"),
    ]
    assert "Invalid image." in str(reply.attempts[0].detail)
    assert b64encode(SHOWN).decode() in str(server.asked[0].body)
    assert UNSEEN.strip() in str(server.asked[1].body)


async def test_facts_say_who_can_see() -> None:
    """A route's facts are those of its first model."""
    async with serving() as server:
        models = TieredModels(blind_after_seeing(server), SystemClock(), SeededDice(1))
        assert models.facts(Route()).vision
        assert not models.facts(Route(model="blind")).vision
        await models.close()


def specs_of(models: dict[str, Any]) -> dict[str, ModelSpec]:
    """The models there are with OpenAI's, Anthropic's and Google's keys."""
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
    return read_tiers(models, {}, dict.fromkeys(names, "k")).models


def test_the_ladder_knows_who_can_see() -> None:
    """OpenAI's, Anthropic's and Google's own models of the ladder can, all others cannot."""
    at = {name: table["at"] for name, table in shipped_ladder()["models"].items()}
    own = {name for name in at if {"openai", "anthropic", "google"} & at[name].keys()}
    known = specs_of({})
    assert {name for name, spec in known.items() if spec.vision} == own
    assert len(own) == 8


@pytest.mark.parametrize("provider", ["embedded", "scripted"])
def test_the_models_inside_never_see(provider: str) -> None:
    """No table can give eyes to the embedded model."""
    known = specs_of({"mine": {"provider": provider, "vision": True}})
    assert not known["mine"].vision
    assert specs_of({"mine": {"base_url": "http://127.0.0.1:9/v1", "vision": True}})["mine"].vision


@pytest.mark.parametrize("eyes", [True, False])
async def test_another_model_that_sees_answers_for_one_that_is_down(*, eyes: bool) -> None:
    """Its answer was thrown away; that of one which was not shown the picture still is."""
    file = File(
        name=public_words("bed.png"),
        size=9,
        media="image/png",
        text=public_words(""),
        hash=public_words(HASH),
        width=2,
        height=2,
    )
    async with serving() as server:
        server.does(Behaviour(status=401, body="{}"), Behaviour())
        specs = [server.spec(name=n, id=n, vision=n == "a" or eyes) for n in ("a", "b")]
        models = TieredModels(tiers_of(*specs), SystemClock(), SeededDice(1), pictures=Shelf())
        looking = looked_at(models, Route(), file, "", ToolCall(arguments={}))
        if eyes:
            assert "Seen on bed.png by b" in (await looking).text
        else:
            with pytest.raises(InputError, match="does not answer now"):
                await looking
        await models.close()
