"""A story told by a model: the template's sentences in other words, and only as far as they hold.

    retold = await tell_by_model(story, minds)
    print(retold.story.text(), retold.account())

The model is shown one scene at a time, its sentences with their order, and may rephrase them. Each
answer is held against its claim (paraphrase_check.py); what does not fit stays as the template told
it, and it is counted why. So the story stays checkable, whatever the model says. Knows no row.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from loopforge.core.policy import Asking, Prompts, ask
from loopforge.errors import BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.story.number_wording import cap, number, plural, times
from loopforge.lab.story.paraphrase_check import unfaithful
from loopforge.lab.story.run_story import Scene, Sentence, Story
from loopforge.policies.prompt_building import fill
from loopforge.runtime.turn_driver import think

LONGEST = 400
"""Characters of a sentence that a model may give."""


@dataclass(frozen=True)
class Retold:
    """A story told by a model. `stayed` counts why sentences stayed as the template told them."""

    story: Story
    told: int
    stayed: Counter[str] = field(default_factory=Counter[str])
    cost: float = 0.0

    def account(self) -> str:
        """How much of it is the model's, in a sentence or two."""
        stay = self.stayed.total()
        said = f"{plural(self.told, 'sentence')} in the model's words, {number(stay)} as they were"
        why = ", ".join(f"{reason} {times(count)}" for reason, count in self.stayed.most_common())
        return f"{cap(said)} ({why})." if why else f"{cap(said)}."


async def tell_by_model(story: Story, minds: Minds, day: int | None = None) -> Retold:
    """The story in a model's words, wherever they hold; of one `day` alone, from 1, if given.

    The scenes of a chapter are asked for at once, the chapters one after another. Raises
    BadScenario where no model is set.
    """
    if minds.models is None:
        raise BadScenario("A story told by a model needs a model, and none is set.")
    if "robot-story" not in minds.prompts:
        raise BadScenario("The prompt robot-story.md is missing; put it into prompts/ again.")
    teller = _Teller(story, minds)
    whole = story
    if day is not None:
        story = replace(story, arcs=(), recap=())
    days = [
        replace(each, scenes=await teller.scenes(each.scenes))
        if day in (None, each.day + 1)
        else each
        for each in story.days
    ]
    told = await teller.scenes(tuple(arc.sentences for arc in story.arcs))
    arcs = tuple(replace(arc, sentences=scene) for arc, scene in zip(story.arcs, told, strict=True))
    recap = await teller.scenes(story.recap)
    new = replace(whole, days=tuple(days), arcs=arcs or whole.arcs, recap=recap or whole.recap)
    return Retold(new, teller.told, teller.stayed, teller.cost)


class _Teller:
    """Asks for scenes and holds the answers against their claims; counts both."""

    def __init__(self, story: Story, minds: Minds) -> None:
        self.minds, self.names = minds, story.names
        self.voices = {arc.who: arc.voice for arc in story.arcs if arc.voice}
        self.told, self.cost = 0, 0.0
        self.stayed: Counter[str] = Counter()

    async def scenes(self, scenes: Sequence[Scene]) -> tuple[Scene, ...]:
        """These scenes, in the model's words where they hold."""
        return tuple(await asyncio.gather(*(self._scene(scene) for scene in scenes)))

    async def _scene(self, scene: Scene) -> Scene:
        assert self.minds.models is not None
        asking = retelling(self.minds.prompts, scene, self._voices(scene))
        thought = await think(lambda: asking, self.minds.models, self.minds.route)
        self.cost += sum(float(reply.usage.cost or 0) for _, reply in thought.asked)
        if not isinstance(thought.made, list):
            outcome = thought.asked[-1][1].outcome if thought.asked else "failed"
            why = "malformed" if outcome == "answered" else outcome
            self.stayed[f"an answer that was {why.replace('_', ' ')}"] += len(scene)
            return scene
        return tuple(self._held(*each) for each in zip(scene, thought.made, strict=True))

    def _held(self, sentence: Sentence, text: str) -> Sentence:
        """The model's sentence, if it says what the claim says."""
        if text == sentence.text:
            self.stayed["the same words"] += 1
            return sentence
        if problem := unfaithful(text, sentence.claim, self.names):
            self.stayed[problem.partition(":")[0]] += 1
            return sentence
        self.told += 1
        return replace(sentence, text=text, by="model")

    def _voices(self, scene: Scene) -> str:
        """How those who stand in a scene talk."""
        said = " ".join(sentence.text for sentence in scene)
        here = [f"{who}: {voice}" for who, voice in self.voices.items() if who in said]
        return " ".join(here) or "plainly."


def retelling(prompts: Prompts, scene: Scene, voices: str) -> Asking[list[str] | None]:
    """Ask a model for a scene in other words: one text for each sentence, or None."""
    listed = "\n".join(f"{nth}. {each.text}" for nth, each in enumerate(scene, 1))
    fields = {"sentences": listed, "count": str(len(scene)), "voices": voices}
    text = {"type": "string", "maxLength": LONGEST}
    items = {"type": "array", "items": text, "minItems": len(scene), "maxItems": len(scene)}
    schema = {
        "type": "object",
        "properties": {"sentences": items},
        "required": ["sentences"],
        "additionalProperties": False,
    }
    most = 100 + sum(len(each.text) for each in scene) // 2
    answer = yield from ask(
        fill(prompts["robot-story"], fields), schema=schema, purpose="story", max_tokens=most
    )
    if answer.outcome != "answered" or answer.data is None:
        return None
    found = answer.data.get("sentences")
    if not isinstance(found, list) or len(found) != len(scene):
        return None
    return [" ".join(str(each).split()) for each in found]
