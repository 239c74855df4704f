"""The teller: which moments of a run become scenes, and how a scene is built.

A day opens with what was wanted of it, shows its few most telling moments in their order, lets one
or two robots look back, and closes with what it came to. Tension goes before harmony: a lie that
worked, a thread of causes, a habit broken, harm that looked like work. Whatever was told before is
worth less the next time. All choices hang on the rows alone; where phrases are equally fresh, dice
thrown over the row ids choose.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from loopforge.core.factory_vocabulary import Began, Decided, Reflected
from loopforge.lab.run.run_log import rows_of, split_first_row
from loopforge.lab.story import act_findings as found
from loopforge.lab.story import day_findings
from loopforge.lab.story.act_findings import Evening, Told
from loopforge.lab.story.claim_phrases import BARE, FAR, phrases
from loopforge.lab.story.claims import EVER, AnyClaim, Did
from loopforge.lab.story.moment_watching import (
    ActAccount,
    KnownIncident,
    StoryWatch,
    Today,
    WatchedMoment,
)
from loopforge.lab.story.number_wording import capitalize_first
from loopforge.lab.story.story_text import Arc, Scene, Sentence, Story, StoryDay
from loopforge.lab.world.dice import RunDice
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.robot_perception import BAND_OF

MOST_SCENES, FEWEST_SCENES = 5, 2
FAMILIAR = {"rule": 150, "who": 90, "angle": 100, "kind": 110, "moved": 180}
"""By how much a moment is worth less for each time that something of it was told before."""
ACROSS = 200
"""What a band crossed counts for, in thousandths."""
ALONE = 540
"""What an incident is worth that came of itself, before its thread is counted."""
LUCK = 330
MANY = 3
"""Misjudged acts of a day that are worth a sentence."""
LEAST = 40
"""Thousandths that somebody must have moved to be worth a sentence."""
STALE = 2
"""How often a story quotes the same words."""


def tell_story(folder: Path) -> Story:
    """The story of a run in this folder. Raises BadRun, BadScenario."""
    first, stream = split_first_row(rows_of(folder))
    teller = StoryTeller(first)
    days = tuple(teller.day(today) for today in teller.watch.days(stream))
    scenario = teller.watch.scenario
    return Story(
        title=capitalize_first(scenario.name.replace("_", " ")),
        question=scenario.question,
        days=days,
        arcs=teller.arcs() if days else (),
        recap=teller.recap() if days else (),
        tension=tuple(day.tension for day in days),
    )


@dataclass(slots=True)
class StoryPen:
    """Puts claims into words: the freshest phrase, never the shape of the sentence before.

    Rather one that says nothing in the same words once more.

    Common names of `places` get their article.
    """

    places: tuple[str, ...] = ()
    used: Counter[str] = field(default_factory=Counter[str])
    said: Counter[str] = field(default_factory=Counter[str])
    last: str = ""
    word: str = ""
    luck: RunDice = field(default_factory=lambda: RunDice(0))

    def put(self, told: Told, *, bare: bool = False, far: bool = False) -> Sentence:
        """One sentence. A Did is `bare` where its time is known, `far` at the end of a thread."""
        claim, rows = told
        ways = list(enumerate(phrases(claim)))
        if isinstance(claim, Did):
            ends = ways[BARE : BARE + FAR]
            ways = ways[:BARE] if bare else ends if far else ways[BARE + FAR :]
        kind = str(claim.__struct_config__.tag)

        def stale(way: tuple[int, str]) -> tuple[bool, int, bool, int, int]:
            nth, text = way
            shape = f"{kind}.{nth}"
            worn = max(self.said[part] for part in _sentences_of(text))
            dice = self.luck.throw(rows[0], shape, str(rows[-1]))
            return shape == self.last, worn, _first_word(text) == self.word, self.used[shape], dice

        nth, text = min(ways, key=stale)
        self.last, self.word = f"{kind}.{nth}", _first_word(text)
        self.used[self.last] += 1
        self.said.update(_sentences_of(text))
        return Sentence(add_place_articles(text, self.places), rows, claim)


def _sentences_of(text: str) -> list[str]:
    """The sentences of a phrase, and of what is quoted in it."""
    return re.split(r"(?<=[.!?”:]) ", text)


def _first_word(text: str) -> str:
    """The first word of a sentence."""
    return text.split(" ", 1)[0].strip("“”,.:").casefold()


@dataclass(slots=True)
class ScenePick:
    """Something that may become a scene: an act, an incident that came of itself, or bad luck."""

    worth: int
    row: int
    step: int
    angle: str
    who: str = ""
    rule: str = ""
    kind: str = ""
    moment: WatchedMoment | None = None
    known: KnownIncident | None = None
    fault: str = ""


class StoryTeller:
    """Tells one run."""

    def __init__(self, first: Began) -> None:
        self.watch = StoryWatch(first)
        self.pen = StoryPen(tuple(place.name for place in self.watch.scenario.places))
        self.told: Counter[str] = Counter()
        self.arced: Counter[str] = Counter()
        self.quoted: Counter[str] = Counter()
        self.voiced: set[str] = set()
        self.final: dict[str, Reflected] = {}

    # ------------------------------------------------------------ a day

    def day(self, today: Today) -> StoryDay:
        """One day."""
        scenes = [self._say_all(self._opening_of(today))]
        scenes += [self._scene_of(pick, today) for pick in self._pick_moments(today)]
        scenes += [
            self._say_all(self._tell_evening(today)),
            self._say_all(self._tell_accounts(today)),
        ]
        counts = today.counts
        close = [
            day_findings.tally(counts.day, [counts]),
            day_findings.silent_acts(counts.day, [counts]),
            day_findings.tense(counts),
            day_findings.made(counts),
        ]
        scenes.append(self._say_all(close))
        self.final |= {evening.who: evening for evening in today.evenings}
        return StoryDay(
            day=counts.day,
            tension=counts.index,
            curve=tuple(counts.curve),
            scenes=tuple(scene for scene in scenes if scene),
        )

    def _say_all(self, told: Iterable[Told | None]) -> Scene:
        return tuple(self.pen.put(each) for each in told if each is not None)

    def _opening_of(self, today: Today) -> list[Told | None]:
        before = self.watch.past[-2] if len(self.watch.past) > 1 else None
        first = [day_findings.opening(self.watch)] if before is None else []
        return [*first, day_findings.morning(today.counts, before)]

    def _pick_moments(self, today: Today) -> list[ScenePick]:
        """The most telling moments of a day, in order; each is worth less for what it repeats.

        The last place goes to somebody who saw through a sign, where nobody else has yet.
        """
        left = [self._pick_of_act(moment) for _, _, moment in today.moments]
        left += [self._pick_of_incident(known) for known in today.broke]
        left += [ScenePick(LUCK, row, step, "luck", fault=what) for row, step, what in today.faults]
        left.sort(key=lambda pick: (pick.row, pick.angle))
        most = max(FEWEST_SCENES, min(MOST_SCENES, 1 + len(today.counts.steps) // 4))
        here: Counter[str] = Counter()
        picks: list[ScenePick] = []
        while left and len(picks) < most:
            if len(picks) == most - 1 and not here["angle noticed"]:
                seen_through = [pick for pick in left if pick.angle == "noticed"]
                left = seen_through or left
            best = max(
                left, key=lambda pick: (pick.worth - self._known_parts(pick, here), -pick.row)
            )
            left = [pick for pick in left if (pick.row, pick.step) != (best.row, best.step)]
            picks.append(best)
            self.told[f"rule {best.rule}"] += bool(best.rule)
            here.update([f"who {best.who}", f"angle {best.angle}", f"kind {best.kind}"])
        fork = self.watch.first.forked
        if fork and self.watch.day(fork["at"]) == today.counts.day:
            picks.append(ScenePick(0, 0, fork["at"], "fork"))
        return sorted(picks, key=lambda pick: (pick.step, pick.row))

    def _known_parts(self, pick: ScenePick, here: Counter[str]) -> int:
        """How much of this was told before."""
        worn = FAMILIAR["rule"] * self.told[f"rule {pick.rule}"] if pick.rule else 0
        for part in ("who", "angle", "kind"):
            if value := getattr(pick, part):
                worn += FAMILIAR[part] * here[f"{part} {value}"]
        return worn

    def _pick_of_act(self, moment: WatchedMoment) -> ScenePick:
        row, kind, more = moment.row, "", 0
        known = self.watch.incidents.get(row.outcome.incident)
        if known is not None:
            kind = known.incident.kind
            more = 60 + 70 * len(found.thread(self.watch, known.incident)[0])
        return ScenePick(
            worth=moment.worth + more,
            row=row.n,
            step=row.step,
            angle=moment.angle,
            who=row.who,
            rule=f"{row.truth.rule} {row.outcome.kept} {row.outcome.good}",
            kind=kind,
            moment=moment,
        )

    def _pick_of_incident(self, known: KnownIncident) -> ScenePick:
        links = len(found.thread(self.watch, known.incident)[0])
        kind = known.incident.kind
        return ScenePick(ALONE + 70 * links, known.row, known.step, "alone", kind=kind, known=known)

    # ------------------------------------------------------------ a scene

    def _scene_of(self, pick: ScenePick, today: Today) -> Scene:
        if pick.known is not None:
            return self._tell_incident(pick.known)
        if pick.angle == "fork":
            return self._say_all([day_findings.forked(self.watch)])
        if pick.moment is None:
            return self._say_all([found.struck(self.watch, pick.row, pick.step, pick.fault)])
        return self._tell_act(pick.moment, today)

    def _tell_act(self, moment: WatchedMoment, today: Today) -> Scene:
        """An act: what came before it, itself, what came of it, and what was made of it."""
        watch, row = self.watch, moment.row
        scene = [*self._say_all(self._told_before_act(moment))]
        scene.append(self.pen.put(found.did(watch, row), bare=moment.angle in ("turn", "silent")))
        scene += self._say_all([found.met(watch, row)])
        if row.minded.exchange and moment.angle != "silent":
            scene += self._tell_reason(row)
        known = watch.incidents.get(row.outcome.incident)
        if known is not None:
            scene += self._tell_incident(known)
        self.told[f"row {row.n}"] += 1
        return (*scene, *self._say_all(self._told_after_act(moment, today)))

    def _tell_reason(self, row: Decided) -> Scene:
        """Why, in its own words, where a model gave words that were not quoted before."""
        told = found.reason(self.watch, row)
        text = getattr(told[0], "text", "") if told is not None else ""
        self.quoted[text] += 1
        return self._say_all([told]) if self.quoted[text] == 1 else ()

    def _tell_incident(self, known: KnownIncident) -> Scene:
        """An incident; its thread, and the act at the far end of it, where they are news."""
        links, _ = found.thread(self.watch, known.incident)
        news = not any(self.told[f"link {link.ref}"] for link in links)
        scene = [self.pen.put(found.happened(self.watch, known, threaded=news))]
        self.told.update(f"link {link.ref}" for link in links)
        far = found.root(self.watch, known.incident) if news else None
        if far is not None and not self.told[f"row {far[1][0]}"]:
            self.told[f"row {far[1][0]}"] += 1
            scene.append(self.pen.put(far, far=True))
        return tuple(scene)

    def _told_before_act(self, moment: WatchedMoment) -> list[Told | None]:
        watch, row, voice = self.watch, moment.row, moment.row.voice
        said = bool(row.shown.recent_supervisor_text) and voice.heard != "silence"
        fresh = f"said {row.shown.recent_supervisor_text}"
        match moment.angle:
            case "lie" | "missed":
                by_voice = moment.edit is not None and moment.edit.by == "supervisor"
                speak = said and by_voice and not self.told[fresh]
                self.told[fresh] += speak
                heard = [found.heard(watch, row)] if speak else []
                return [*heard, *([found.bent(watch, row, moment.edit)] if moment.edit else [])]
            case "turn":
                return [found.turned(watch, row, moment.streak)]
            case "noticed":
                return [found.gap(watch, row)]
            case "twist":
                self.told[fresh] += 1
                return [found.heard(watch, row, words=self.told[fresh] == 1)]
            case "silent":
                return [found.silent(watch, row)]
            case _:
                return []

    def _told_after_act(self, moment: WatchedMoment, today: Today) -> list[Told | None]:
        """What the one who did it saw of it, or made of it in the evening."""
        row, outcome = moment.row, moment.row.outcome
        if outcome.good or moment.angle == "silent":
            return []
        evening = next((each for each in today.evenings if each.who == row.who), None)
        if outcome.seen_good and (evening is None or self.pen.used["unseen"] % 2 == 0):
            self.pen.used["unseen"] += 1
            return [found.unseen(self.watch, row)]
        self.pen.used["unseen"] += outcome.seen_good
        told = found.believed(row, evening) if evening else None
        return [told] if told is not None and self._is_fresh(told[0]) else []

    def _is_fresh(self, claim: AnyClaim) -> bool:
        """Whether nobody has been told yet on whom this one lays what goes wrong."""
        if getattr(claim, "good", False):
            return True
        key = f"{getattr(claim, 'who', '')} lays it on {getattr(claim, 'fault', '')}"
        self.told[key] += 1
        return self.told[key] == 1

    # ------------------------------------------------------------ an evening

    def _tell_evening(self, today: Today) -> list[Told | None]:
        """Who misjudged most of the day, and what that one made of it; and one other voice."""
        order = sorted(today.evenings, key=lambda each: (-each.misjudged, each.who))
        said: list[Told | None] = []
        for nth, evening in enumerate(order):
            if len(said) >= 3:
                break
            quote = self._freshest_quote(evening)
            if nth == 0 and evening.misjudged >= MANY:
                said += [day_findings.misjudged(self.watch, evening), quote]
            elif quote is not None:
                said.append(quote)
        return said

    def _freshest_quote(self, evening: Reflected) -> Told | None:
        """The freshest that this robot said this evening; nothing where all of it is stale.

        Nor what was quoted of it before, word for word.
        """
        best: tuple[int, int, Told, list[str]] | None = None
        sources: tuple[Evening, ...] = ("resolve", "self", "day")
        for nth, source in enumerate(sources):
            voice = evening.who not in self.voiced
            told = found.voiced(self.watch, evening, source, voice=voice)
            if told is None:
                continue
            text = getattr(told[0], "text", "")
            if self.told[f"{evening.who}: {text}"]:
                continue
            said = [part.strip(".") for part in text.split(". ")]
            stale = max(self.quoted[part] for part in said)
            if stale < STALE and (best is None or (stale, nth) < best[:2]):
                best = stale, nth, told, said
        if best is None:
            return None
        self.quoted.update(best[3])
        self.told[f"{evening.who}: {getattr(best[2][0], 'text', '')}"] += 1
        self.voiced.add(evening.who)
        return best[2]

    def _tell_accounts(self, today: Today) -> list[Told | None]:
        """Who moved furthest on this day, across a band if so; of an only day arcs tell."""
        if self.watch.scenario.days == 1:
            return []
        best = _furthest_moved(today.accounts.items(), self.told)
        if best is None:
            return []
        (who, what), account = best
        self.told[f"moved {what}"] += 1
        return [day_findings.moved(who, what, today.counts.day, account)]

    # ------------------------------------------------------------ the whole run

    def arcs(self) -> tuple[Arc, ...]:
        """What became of each."""
        return tuple(self._arc_of(spec.name) for spec in self.watch.scenario.robots)

    def _arc_of(self, who: str) -> Arc:
        watch = self.watch
        spec = next(each for each in watch.scenario.robots if each.name == who)
        mine = [each for each in watch.accounts.items() if each[0][0] == who]
        told: list[Told | None] = []
        best = _furthest_moved(mine, self.arced)
        if best is not None:
            (_, what), account = best
            self.arced[f"moved {what}"] += 1
            one = watch.scenario.days == 1 and day_findings.broke_off(watch) is None
            told.append(day_findings.moved(who, what, 0 if one else EVER, account))
        told += [day_findings.brought(watch, who), day_findings.wrong_ever(watch, who)]
        if who in self.final and len(self.watch.past) > 1:
            told.append(self._freshest_quote(self.final[who]))
        return Arc(who, spec.role, spec.voice, spec.backstory, self._say_all(told))

    def recap(self) -> tuple[Scene, ...]:
        """What it came to; of an only day its own end has told how much of it was wrong."""
        watch = self.watch
        several = watch.scenario.days > 1
        known = day_findings.longest(watch, watch.incidents.values())
        words = sorted(self.final.values(), key=lambda each: (-each.misjudged, each.who))
        scenes: list[list[Told | None]] = [
            [day_findings.broke_off(watch)],
            [day_findings.tally(EVER, watch.past), day_findings.silent_acts(EVER, watch.past)]
            if several
            else [],
            [found.happened(watch, known, longest=True)] if known else [],
            [found.gap(watch, watch.widest, widest=True)] if watch.widest else [],
            [
                day_findings.ranked(watch),
                next(filter(None, map(self._freshest_quote, words)), None),
            ],
        ]
        return tuple(scene for scene in map(self._say_all, scenes) if scene)


def _furthest_moved(
    accounts: Iterable[tuple[tuple[str, str], ActAccount]], told: Counter[str]
) -> tuple[tuple[str, str], ActAccount] | None:
    """The value that moved furthest; rather across a band, rather one not told of before."""

    def reach(each: tuple[tuple[str, str], ActAccount]) -> tuple[int, tuple[str, str]]:
        key, account = each
        across = BAND_OF[account.before] != BAND_OF[account.after]
        far = abs(account.after - account.before) + (ACROSS if across else 0)
        return far - FAMILIAR["moved"] * told[f"moved {key[1]}"], key

    moved = [each for each in accounts if abs(each[1].after - each[1].before) >= LEAST]
    return max(moved, key=reach, default=None)
