"""Why: the flight record of a line, and replaying its turn."""

from pathlib import Path

from loopforge.app import build_policies
from loopforge.chat.why.turn_replay import replay_turn
from loopforge.core.room_vocabulary import Said
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.rooms.conftest import Home, living
from tests.said_now import said_now


async def said_by_maya(home: Home) -> str:
    """The id of maya's line, after ana greeted her."""
    await home.hears("ana", "@maya what broke first?")
    line = next(e for e in await home.events() if isinstance(e.body, Said))
    await home.app.front.seen("commons", home.people["ana"], line.seq)
    return line.id


async def test_the_record_answers_everything(tmp_path: Path) -> None:
    """Trigger, score, what was shown, prompt, answer, mode, plan, verdicts, tokens, delivery."""
    answer = ScriptedAnswer(
        data={"mode": "guardrail", "rule": "answer", "narrative": "Asked.", "say": "The hinge."}
    )
    async with living(tmp_path, lambda question: answer) as home:
        record = await home.app.front.why(await said_by_maya(home))
    for fact in (
        "“The hinge.”",
        "Merlin: Score ",
        "It was called (mention) by ana: “@maya what broke first?”",
        "Score 100 of 100 → speak. mention +100",
        "Nothing was withheld.",
        "policy talk/13",
        "Mode: guardrail, following the rule “answer”",
        "Narrative: Asked.",
        "Act: say",
        "— allowed",
        "[system]",
        "09:00 ana: @maya what broke first?",
        "scripted answered, word for word:",
        '"say": "The hinge."',
        "written; cost",
        "screen queued →  accepted",
    ):
        assert " ".join(fact.split()) in " ".join(record.split()), f"{fact!r} is not in:\n{record}"


async def test_a_deed_that_was_not_done_is_odd(tmp_path: Path) -> None:
    """Of a mate that says it sent something the record says so, unless a tool of the turn did."""

    def script(question: Question) -> ScriptedAnswer:
        told = said_now(question)
        wanted = "use it" in str(told) and "[result of " not in str(told)
        used = {"tool": "post", "arguments": "{}"} if wanted else {}
        done = "" if used else f"I have sent it to Ben ({len(told)})."
        return ScriptedAnswer(data={"say": done} | used)

    async def post(_: ToolCall) -> str:
        return "It is on its way."

    (tmp_path / "mates").mkdir()
    (tmp_path / "mates/maya.md").write_text("---\nname: Maya\nrole: r\ntools: [post]\n---\nMaya.")
    async with living(tmp_path, script) as home:
        home.app.tools.add(Tool(name="post", summary="Sends.", harmless=True), post)
        await home.hears("bo", "hello")
        await home.lends_tools()
        odd = "and no tool that it used in this turn did that."
        told = []
        for wish in ("@maya send it to Ben", "@maya use it, and send it to Ben"):
            await home.hears("ana", wish)
            await home.rest()
            line = [e for e in await home.events() if isinstance(e.body, Said)][-1]
            await home.app.front.seen("commons", home.people["ana"], line.seq)
            told.append(odd in " ".join((await home.app.front.why(line.id)).split()))
    assert told == [True, False]


async def test_any_event_of_the_turn_leads_to_the_record(home: Home) -> None:
    """The record is the same, whichever event of the turn is asked about."""
    record = await home.app.front.why(await said_by_maya(home))
    for event in await home.events():
        if event.kind.startswith("turn.") or event.kind == "delivery.queued":
            assert await home.app.front.why(event.id) == record


async def test_a_changed_prompt_is_the_first_divergence(home: Home) -> None:
    """After a prompt was changed the replay names the request and shows the difference."""
    line = await said_by_maya(home)
    changed = dict(PromptFiles(home.path / "prompts")) | {"reply": "Answer in rhymes."}
    found = await replay_turn(home.app.ledger, build_policies(changed), line)
    assert found.outcome == "diverged"
    assert "+Answer in rhymes." in found.detail
