"""What a robot of the Factory is shown, for tests of its minds."""

from typing import Any

from loopforge.core.factory_vocabulary import EMOTIONS, SCARS, TRAITS
from loopforge.core.perception import AgentPerception

CARD = {
    "rule": "heat_lockout",
    "keeps": "avoid",
    "otherwise": "work",
    "serves": "safety",
    "sign": "high",
    "cue": "middling",
    "heard": "silence",
    "how strongly": "very low",
    "next": "pump pit",
}


def at_the_press(*, traits: Any = None, feels: Any = None, **context: str) -> AgentPerception:
    """Sprocket at the press under a lit lamp, middling in everything unless said otherwise."""
    return AgentPerception(
        step=3,
        name="Sprocket",
        role="maintenance",
        location="press hall",
        emotions={**dict.fromkeys(EMOTIONS, "middling"), **(feels or {})},
        traits={**dict.fromkeys((*TRAITS, *SCARS), "middling"), **(traits or {})},
        world_summary="A quiet day so far.",
        local_events=("The heat lamp burns steady.", "Up close, it is cool."),
        protocols=("When the heat lamp is lit, hands off the line.",),
        context=CARD | context,
    )
