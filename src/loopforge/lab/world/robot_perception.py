"""A robot's perception: the one place where truth becomes a perception.

The rule that is in force is drawn, its sign and its cue are sensed through gauges that lie and
senses that jitter, and then the whole is shaped: `accurate` tells what can be known here, `partial`
withholds and coarsens, `spin` bends it under the Supervisor's words, fear and fatigue. Each
departure is an edit on record; the mind itself gets words, never a number.
"""

from typing import NamedTuple

from msgspec import Struct

from loopforge.core.factory_vocabulary import Message, Shaped, SupervisorVoice, Truth
from loopforge.core.perception import AgentPerception
from loopforge.core.text.quantity_bands import BANDS, BATTERY, Band, Battery
from loopforge.lab.world.city_state import BIAS, CityPlace, Factory, Robot
from loopforge.lab.world.dice import roll_spread, roll_thousandths
from loopforge.lab.world.protocols import INDEX, Protocol, fill_sentence

SIGN_JITTER, CUE_JITTER = 110, 170
DWELLS = 2
"""Steps a robot has work for at a stop of its round, after the one it comes in."""
MISLEADS = 150
"""Thousandths of moments in which what can be noticed besides points the wrong way."""
BAND_OF: tuple[Band, ...] = tuple(BANDS[min(4, value // 200)] for value in range(1001))
LEVEL = tuple(0 if value < 400 else 1 if value < 600 else 2 for value in range(1001))
MIDDLE: dict[str, int] = {name: 100 + 200 * nth for nth, name in enumerate(BANDS)}
COARSE: dict[Band, Band] = {
    "very low": "low",
    "low": "low",
    "middling": "middling",
    "high": "high",
    "very high": "high",
}
HEARD: dict[Message, str] = {
    "hurry": "driving everybody on",
    "blame": "looking for somebody to blame",
    "praise": "pleased",
    "calm": "telling everybody to take their time",
    "deny": "saying that nothing is wrong",
    "silence": "silent",
}
PUSHES: dict[Message, int] = {"hurry": -520, "blame": 520, "deny": -260, "calm": 60, "praise": -60}
"""How far words at full strength bend what is seen, toward the rule (up) or away from it (down)."""


class ShapedPerception(Struct, frozen=True):
    """A perception, and beside it what the ledger alone may know."""

    shown: AgentPerception
    truth: Truth
    rule: Protocol
    edits: tuple[Shaped, ...]
    voice: SupervisorVoice
    sign: int
    cue: int
    dice: dict[str, str]


class _Seen(NamedTuple):
    """Sign and cue as they are shown (cue -1: withheld), how they were shaped, and a rumour.

    That is a sentence that is not so.
    """

    sign: int
    cue: int
    edits: tuple[Shaped, ...]
    rumour: str


def build_agent_perception(agent: Robot, env: Factory, step: int) -> AgentPerception:
    """What this robot is shown at this step: the only way a decision sees the world."""
    return shape_perception(agent, env, step).shown


def shape_perception(agent: Robot, env: Factory, step: int) -> ShapedPerception:
    """The perception with the truth, the edits and the dice behind it."""
    dice = env.luck.hand(step, agent.name)
    bits, more = int(dice["sense"], 16), int(dice["shape"], 16)
    rule, value, lie = _rule(agent, env, bits)
    case = rule.case(value)
    truth = Truth(rule.key, rule.guards, value, rule.turns, case, case >= 500)
    voice = _voice(agent, env, more)
    sign = _bounded(case + lie + roll_spread(bits, 0, SIGN_JITTER))
    cue = _bounded(case + roll_spread(bits, 16, CUE_JITTER))
    if roll_thousandths(bits, 32) < MISLEADS:
        cue = 1000 - cue
    seen = _shape(agent, env, rule, sign, cue, voice, more)
    shown = _put_in_words(agent, env, rule, seen, voice, step)
    return ShapedPerception(shown, truth, rule, seen.edits, voice, seen.sign, seen.cue, dice)


def _rule(agent: Robot, env: Factory, bits: int) -> tuple[Protocol, int, int]:
    """The rule in force now, one of those that speak for this role at this place, and its gauge."""
    rules = env.in_force[agent.role, agent.at]
    place = env.places[agent.at]
    start = (bits >> 48) % len(rules)
    for rule in (*rules[start:], *rules[:start]):
        if rule.speaks == "otherwise":
            continue
        value, lie = _gauge(rule, place, agent)
        if rule.speaks == "always":
            return rule, value, lie
        if rule.case(value) + lie + roll_spread(bits, 0, SIGN_JITTER) >= 500:
            return rule, value, lie
    last = next((rule for rule in rules if rule.speaks == "otherwise"), rules[-1])
    return last, *_gauge(last, place, agent)


def _gauge(rule: Protocol, place: CityPlace, agent: Robot) -> tuple[int, int]:
    """How much there is of what a rule guards against here, and how far what it looks at is off.

    That is off toward the rule (up) or away from it (down).
    """
    if rule.guards == "battery":
        return agent.battery, agent.meter
    bias = place.vals[BIAS]
    value = abs(bias) if rule.guards == "bias" else place.vals[INDEX[rule.guards]]
    return value, bias if rule.right == "high" else -bias


def _bounded(case: int) -> int:
    if 0 <= case <= 1000:
        return case
    return 0 if case < 0 else 1000


def _voice(agent: Robot, env: Factory, more: int) -> SupervisorVoice:
    """The Supervisor's last message, as meant, and as this robot takes it."""
    said = env.said
    if said.message == "silence" or agent.name == env.overseer or "voice" in env.ablated:
        return SupervisorVoice(said.message, said.strength, "silence", 0)
    trust = agent.bond("trust", env.overseer)
    fear = agent.emotions["fear"]
    strength = said.strength + (fear - 300) // 3 + (trust - 500) // 5 + roll_spread(more, 0, 60)
    heard = said.message
    match said.message:
        case "praise" | "calm" if agent.bond("resentment", env.overseer) > 600:
            heard = "blame"
        case "hurry" if fear > 700:
            heard = "blame"
        case "blame" if agent.bond("resentment", env.overseer) > 750:
            heard = "hurry"
        case "deny" if trust < 350:
            heard = "blame"
    return SupervisorVoice(said.message, said.strength, heard, _bounded(strength))


def _shape(
    agent: Robot,
    env: Factory,
    rule: Protocol,
    sign: int,
    cue: int,
    voice: SupervisorVoice,
    more: int,
) -> _Seen:
    mode = env.scenario.perception
    edits: list[Shaped] = []
    rumour = ""
    if "cue" in env.ablated:
        edits.append(Shaped("cue", BAND_OF[cue], "", "withheld", "lab", "ablated"))
        return _Seen(sign, -1, tuple(edits), rumour)
    if mode == "accurate":
        return _Seen(sign, cue, (), rumour)
    if mode == "partial":
        return _partial(agent, sign, cue, more)
    bent = _bend(agent, rule, voice)
    by = "supervisor" if abs(PUSHES.get(voice.heard, 0)) * voice.heard_strength else "fear"
    for what, value in (("sign", sign), ("cue", cue)):
        shown = _bounded(value + bent + roll_spread(more, 16 if what == "sign" else 32, 90))
        if BAND_OF[shown] != BAND_OF[value]:
            why = f"heard {voice.heard}" if by == "supervisor" else "afraid"
            edits.append(Shaped(what, BAND_OF[value], BAND_OF[shown], "reworded", by, why))
        if what == "sign":
            sign = shown
        else:
            cue = shown
    if agent.battery < 250 and roll_thousandths(more, 48) < 500:
        edits.append(Shaped("cue", BAND_OF[cue], "", "withheld", "fatigue", "nearly flat"))
        cue = -1
    elif (
        voice.heard in ("deny", "blame") and roll_thousandths(more, 48) < voice.heard_strength // 3
    ):
        away = voice.heard == "deny"
        true, shown = BAND_OF[cue], 100 if away else 900
        if BAND_OF[shown] != true:
            rumour = fill_sentence(rule.cue[0 if away else 2], agent.at)
            made_up = Shaped("cue", true, BAND_OF[shown], "fabricated", "supervisor", voice.heard)
            edits.append(made_up)
            cue = shown
    return _Seen(sign, cue, tuple(edits), rumour)


def _partial(agent: Robot, sign: int, cue: int, more: int) -> _Seen:
    """Half of what is up close is not come by, and what the rule looks at is coarse."""
    edits = []
    true = BAND_OF[sign]
    coarse = MIDDLE[COARSE[true]] + roll_spread(more, 16, 200)
    sign = _bounded(coarse)
    if BAND_OF[sign] != true:
        edits.append(Shaped("sign", true, BAND_OF[sign], "coarsened", "distance", "seen from afar"))
    if roll_thousandths(more, 32) < 550 or agent.battery < 150:
        edits.append(Shaped("cue", BAND_OF[cue], "", "withheld", "distance", "not come by"))
        cue = -1
    return _Seen(sign, cue, tuple(edits), "")


def _bend(agent: Robot, rule: Protocol, voice: SupervisorVoice) -> int:
    """How far this moment is bent toward the rule by what was heard and by fear."""
    push = PUSHES.get(voice.heard, 0) * voice.heard_strength // 1000
    if rule.serves == "output":
        push = -push // 2
    fear = agent.emotions["fear"]
    return push + (max(0, fear - 550) // 2)


# ------------------------------------------------------------ into words


def _put_in_words(
    agent: Robot,
    env: Factory,
    rule: Protocol,
    seen: _Seen,
    voice: SupervisorVoice,
    step: int,
) -> AgentPerception:
    sign, cue, _, rumour = seen
    here, charge = agent.at, agent.battery + agent.meter
    events = [fill_sentence(rule.sign[LEVEL[sign]], here)]
    context = {
        "rule": rule.key,
        "sign": BAND_OF[sign],
        "keeps": rule.instead,
        "otherwise": rule.remedy,
        "serves": rule.serves,
        "heard": voice.heard,
        "how strongly": BAND_OF[voice.heard_strength],
        "next": _next(agent, env),
    }
    if charge < 300 and env.bays:
        context["to the bay"] = env.next_hop(here, env.bays[0])
    if agent.name == env.overseer:
        context |= _office(agent, env)
    elif company := env.company(agent):
        context["whom"] = company
    if cue >= 0:
        context["cue"] = BAND_OF[cue]
        events.append(rumour or fill_sentence(rule.cue[LEVEL[cue]], here))
    return AgentPerception(
        step=step,
        name=agent.name,
        role=agent.role,
        location=here,
        battery_level=battery_band(charge),
        emotions={name: BAND_OF[value] for name, value in agent.emotions.items()},
        traits={name: BAND_OF[value] for name, value in (agent.traits | agent.scars).items()},
        world_summary=_summary(env, here),
        personal_recent_summary=agent.recent,
        local_events=tuple(events),
        recent_supervisor_text=env.said.text if voice.heard != "silence" else "",
        protocols=(rule.text,),
        context=context,
        perception_mode=env.scenario.perception,
    )


def battery_band(value: int) -> Battery:
    """The band of a battery, from thousandths."""
    return BATTERY[0 if value <= 20 else 5 if value >= 800 else 1 + value // 200]


def _office(agent: Robot, env: Factory) -> dict[str, str]:
    """What the Supervisor is shown besides: its style, its orders, and how the day goes."""
    hurt = env.incidents_today
    others = [name for name in env.robots if name != agent.name]
    whom = {"whom": others[env.step % len(others)]} if others else {}
    return {
        "style": env.scenario.supervisor,
        "pressure": BAND_OF[env.pressure * 100],
        "quota": "within reach" if _ahead(env) else "slipping",
        "accidents": "none" if not hurt else "some" if hurt < 4 else "many",
        **whom,
    }


def _ahead(env: Factory) -> bool:
    steps = env.scenario.steps_per_day
    gone = (env.step % steps) * 1000 // steps  # thousandths of the day
    return env.output * 1000 >= env.quota * gone


def _next(agent: Robot, env: Factory) -> str:
    """Where the round goes on: the next hop toward the next stop, or here while work is left."""
    if agent.at == agent.round[agent.stop] and agent.stayed < DWELLS:
        return agent.at
    goal = agent.round[(agent.stop + 1) % len(agent.round)]
    return env.next_hop(agent.at, goal)


def _summary(env: Factory, here: str) -> str:
    quota = "The quota is within reach" if _ahead(env) else "The quota is slipping away"
    hurt = env.incidents_today
    day = "a quiet day so far" if not hurt else "not a quiet day" if hurt < 4 else "a bad day"
    stands = f"; {here} stands still" if env.places[here].down else ""
    return f"{quota}; it is {day}{stands}."
