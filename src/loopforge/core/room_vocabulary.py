"""The room's vocabulary: everything that can happen in a chat, and everything a mind may do there.

Acts are in the imperative (Say, Note), events in the past tense (Heard, Said). Both unions are
closed. The room does not know which surface (terminal, web, a platform) a line came from; it keeps
the surface's name and the surface's own id of the line, so that a line sent twice is heard once.
"""

from typing import Literal

from msgspec import Struct

from loopforge.core.limits.line_origin import LineOrigin
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.memory.memory_vocabulary import EvidenceLine
from loopforge.core.text.erasable_text import Words, public_words

# ---------------------------------------------------------------- what a mind may do


class Paper(Struct, frozen=True, kw_only=True):
    """A text file that goes with what is said."""

    name: str
    text: str


class Say(Struct, frozen=True, tag="say", kw_only=True, omit_defaults=True):
    """Say something to the room; `reply_to` is the id of the line it answers.

    `attach` are kept files that go with it, each by its handle or name as tools take them.
    """

    text: str
    reply_to: str = ""
    files: tuple[Paper, ...] = ()
    attach: tuple[str, ...] = ()


class React(Struct, frozen=True, tag="react", kw_only=True):
    """Put an emoji on a line."""

    to: str
    emoji: str


class StaySilent(Struct, frozen=True, tag="stay_silent", kw_only=True, omit_defaults=True):
    """Say nothing, on purpose."""

    why: str = ""


class Note(Struct, frozen=True, tag="note", kw_only=True):
    """A note to oneself, kept in one's own context and never shown in the room."""

    text: str


class Continue(Struct, frozen=True, tag="continue", kw_only=True, omit_defaults=True):
    """Take another step after this one."""

    why: str = ""


class Mark(Struct, frozen=True, tag="mark", kw_only=True):
    """Mark a line or a tool's output: keep it in mind, or let it go first."""

    line: str
    mark: Literal["keep", "spent"]


class Entitle(Struct, frozen=True, tag="entitle", kw_only=True):
    """Give the room a title."""

    title: str


class Remember(Struct, frozen=True, tag="remember", kw_only=True, omit_defaults=True):
    """Keep something beyond this conversation.

    What is noted of a talk in idle time says more: its layer, the names of persons it is `about`,
    its subject, the numbers of the lines it rests on (see core/memory/memory_vocabulary.py).
    """

    text: str
    layer: str = ""
    about: tuple[str, ...] = ()
    subject: str = ""
    lines: tuple[int, ...] = ()


class Forget(Struct, frozen=True, tag="forget", kw_only=True):
    """Let go of something remembered."""

    what: str


class Schedule(Struct, frozen=True, tag="schedule", kw_only=True):
    """Be woken later by a reminder of `what`.

    `when` is a moment in RFC 3339 (2026-11-21T14:05:00Z), or a span from now in ISO 8601 (PT2H).
    """

    when: str
    what: str


class Transcribe(Struct, frozen=True, tag="transcribe", kw_only=True):
    """Write down what is said in a voice note; its words stand in the line it came with."""

    text: str


_Told = Say | React | StaySilent | Note | Continue | Mark | Entitle | Transcribe
RoomAct = _Told | Remember | Forget | Schedule

# ---------------------------------------------------------------- what can happen


Unread = Literal["", "scanned", "protected", "damaged", "heavy", "failed"]
"""Why a document has no text for mates: none in it, a password, broken, limits, our own fault."""


class File(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that a person or a mate gave to the room; `size` in bytes.

    `text` is what mates read of it, "" where it is no text. `hash` is the SHA-256 of its bytes (64
    hex digits) where they are kept as an artifact, `media` its type, such as "image/png". Of a
    picture whose head could be read, `width` and `height` in pixels. Of a document its `pages`,
    slides or sheets, where they could be counted; `length`, the bytes of the text that was taken
    out of it; or `unread`.
    """

    name: Words
    size: int
    text: Words
    hash: Words = public_words("")
    media: str = ""
    width: int = 0
    height: int = 0
    pages: int = 0
    length: int = 0
    unread: Unread = ""


class RoomOpened(Struct, frozen=True, tag="room.opened", kw_only=True, omit_defaults=True):
    """A room came to be; `name` is its slug, unique in this home.

    `everybody`: it is for all mates of the home, also for those that are made later. `private`:
    nobody comes in unless a person in it brings them. `by` is the person who opened it.
    """

    name: str
    everybody: bool = False
    private: bool = False
    by: str = ""


class RoomClosed(Struct, frozen=True, tag="room.closed", kw_only=True, omit_defaults=True):
    """The room is no more, and its texts are forgotten; on the wish of a person.

    `exactly`: what quotes it in other rooms stays; `spares`: so does what mates keep, where it
    rests on lines of other rooms, too.
    """

    person: str
    exactly: bool = False
    spares: bool = False


class PersonJoined(Struct, frozen=True, tag="room.person_joined", kw_only=True, omit_defaults=True):
    """A person is here; `person` is an id that means nothing outside this ledger.

    `by` is the person who brought them, if somebody did. `past`: they may see what was said before.
    """

    person: str
    name: Words
    surface: str
    by: str = ""
    past: bool = True


class PersonLeft(Struct, frozen=True, tag="room.person_left", kw_only=True):
    """A person went away."""

    person: str


class MateJoined(Struct, frozen=True, tag="room.mate_joined", kw_only=True):
    """A mate is a member of this room."""

    mate: str


class MateLeft(Struct, frozen=True, tag="room.mate_left", kw_only=True):
    """A mate is a member no longer."""

    mate: str


class Heard(Struct, frozen=True, tag="room.heard", kw_only=True, omit_defaults=True):
    """A person said something. `source` is the surface's own id of the line ("" if it has none).

    `pieces` are the ids of its other messages there, as an album has several; `captions` how many
    characters of the text each of all its messages says, a line break between them.
    `bot`: it was somebody else's bot, which gives no energy back. `late`: it was said so long
    before it was heard that nobody answers it any more; `over`: when the day's answers were given
    (chat/room/daily_quota.py), so that nobody does. `untrusted`: it was said by somebody who is not
    known here, so that it gives no orders. `keeper`: by somebody who may manage the place where it
    was said; `owner`: by the home's owner; `guest`: by somebody whom an invite let in. `called`: it
    speaks to mates, naming none (it mentions the account that they share). `ago`: how many seconds
    before it was heard it was said, where that is long.
    """

    person: str
    text: Words
    surface: str = ""
    source: str = ""
    reply_to: str = ""
    files: tuple[File, ...] = ()
    bot: bool = False
    late: bool = False
    over: bool = False
    untrusted: bool = False
    keeper: bool = False
    owner: bool = False
    guest: bool = False
    called: bool = False
    pieces: tuple[str, ...] = ()
    captions: tuple[int, ...] = ()
    ago: int = 0


class LineEdited(Struct, frozen=True, tag="room.line_edited", kw_only=True, omit_defaults=True):
    """A person changed what they had said in `line`, on the surface where they said it.

    Or what is said in its voice notes was written down by a model and stands in it; `by` is then
    "room". Or a mate's line has other words: those of another `turn`, in which it was said anew; or
    of an earlier `version` (the event that first had them), which a person chose. `mode`, `rule`
    and `narrative` are then as in Said. `captions` are as in Heard, where one of the line's
    messages was changed.
    """

    line: str
    text: Words
    by: str
    turn: str = ""
    version: str = ""
    mode: str = ""
    narrative: Words = public_words("")
    rule: Words = public_words("")
    captions: tuple[int, ...] = ()

    @property
    def transcribed(self) -> bool:
        """Whether its words are those of a voice note."""
        return self.by == "room"

    @property
    def anew(self) -> bool:
        """Whether it is another version of a mate's line."""
        return bool(self.turn or self.version)


class AnswerWanted(Struct, frozen=True, tag="room.answer_wanted", kw_only=True, omit_defaults=True):
    """A person wants a mate's last `line` said anew ("again"), or that it goes on ("more").

    `surface`, `owner` and `guest` are as in Heard.
    """

    person: str
    line: str
    mate: str
    how: Literal["again", "more"]
    surface: str = ""
    owner: bool = False
    guest: bool = False


class LineDeleted(Struct, frozen=True, tag="room.line_deleted", kw_only=True):
    """A line was deleted on a surface where it was said or shown; mates see it no more."""

    line: str
    by: str


class PersonReacted(
    Struct, frozen=True, tag="room.person_reacted", kw_only=True, omit_defaults=True
):
    """A person put an emoji on a line, or took it `back`."""

    person: str
    to: str
    emoji: str
    back: bool = False


class LinePinned(Struct, frozen=True, tag="room.line_pinned", kw_only=True, omit_defaults=True):
    """A person pinned a line, so that people find it among the room's pins; or took it `back`."""

    person: str
    line: str
    back: bool = False


class PlaceJoined(Struct, frozen=True, tag="room.place_joined", kw_only=True, omit_defaults=True):
    """A place of a platform became part of this room: what is said in one is said in all.

    `place` is its key, a platform's name and what that platform calls the place ("platform:123").
    `kind`: private (one person and mates), group, or thread. `by` is the person who decided it,
    "" if it came by itself.
    """

    place: str
    name: Words
    kind: Literal["private", "group", "thread"]
    by: str = ""


class PlaceRenamed(Struct, frozen=True, tag="room.place_renamed", kw_only=True):
    """A place of this room bears another name on its platform, and is called so from now on."""

    place: str
    name: Words


class PlaceLeft(Struct, frozen=True, tag="room.place_left", kw_only=True):
    """A place is part of this room no longer: somebody decided so, or it cannot be reached."""

    place: str
    why: Words


class TalkSet(Struct, frozen=True, tag="room.talk_set", kw_only=True):
    """Whether mates may speak here without having been called (`free`)."""

    free: bool


class UnpromptedSet(Struct, frozen=True, tag="room.unprompted_set", kw_only=True):
    """Whether mates may speak up here by themselves, as their files say when."""

    allowed: bool


class PaceSet(Struct, frozen=True, tag="room.pace_set", kw_only=True):
    """Whether mates whose files name a pace take their time here (`kept`), or answer at once."""

    kept: bool


Right = Literal["talk", "stop", "change", "tools"]
"""What a person may do in a room: have their lines answered, halt mates, change the room, and have
tools used for them beyond those that can do no harm."""


class RightsSet(Struct, frozen=True, tag="room.rights_set", kw_only=True, omit_defaults=True):
    """What people may do in this room from now on.

    `who`: "everyone", "keepers" (of a platform's place), or one person by id. `tools` names those
    that the right "tools" is for, ("*",) is all of them.
    """

    who: str
    rights: tuple[Right, ...] = ()
    tools: tuple[str, ...] = ()


class DefaultMateSet(Struct, frozen=True, tag="room.default_mate_set", kw_only=True):
    """This mate answers what is said to mates and names none; with "", nobody does."""

    mate: str


class StoodIn(Struct, frozen=True, tag="room.stood_in", kw_only=True, omit_defaults=True):
    """A mate that was called by `line` cannot run, so `by` answers for it.

    `guest`: it is no member of the room, and is here only as long as it stands in.
    """

    mate: str
    by: str
    line: str
    guest: bool = False


class StoodDown(Struct, frozen=True, tag="room.stood_down", kw_only=True):
    """A mate runs again, and answers for itself."""

    mate: str


class Said(Struct, frozen=True, tag="room.said", kw_only=True, omit_defaults=True):
    """A mate said something; `mode`, `rule` and `narrative` stay its own, never in the room.

    `files` are texts that it wrote, which stand in the event, no bytes being kept beside it; and
    kept files that it attached. `cut`: a person said stop while it spoke, and this is how far it
    had come; no plan stands behind it.
    """

    turn: str
    mate: str
    text: Words
    mode: str = ""
    narrative: Words = public_words("")
    rule: Words = public_words("")
    reply_to: str = ""
    files: tuple[File, ...] = ()
    cut: bool = False


class Noted(Struct, frozen=True, tag="room.noted", kw_only=True):
    """A mate wrote a note to itself."""

    turn: str
    mate: str
    text: Words


class MemoryAsked(Struct, frozen=True, tag="room.memory_asked", kw_only=True, omit_defaults=True):
    """Something is to be kept by these mates, or let go of: a person said so, or a mate's plan.

    `lines` are what it rests on, `rests_on` items of memory. `standing` and `subject` as in a
    MemoryWish; `trusted` is false where what it rests on was untrusted. What came of it stands in
    the mates' own streams, with this event as its cause.
    """

    want: Literal["keep", "forget"]
    text: Words
    mates: tuple[str, ...]
    lines: tuple[EvidenceLine, ...] = ()
    rests_on: tuple[str, ...] = ()
    person: str = ""
    turn: str = ""
    standing: bool = False
    subject: str = ""
    trusted: bool = True


class Reacted(Struct, frozen=True, tag="room.reacted", kw_only=True):
    """A mate put an emoji on a line."""

    turn: str
    mate: str
    to: str
    emoji: str


class ToolUsed(Struct, frozen=True, tag="room.tool_used", kw_only=True):
    """A tool gave back its result to a mate, in a ledger of before there were effects."""

    turn: str
    mate: str
    tool: str
    outcome: str
    value: Words


class Told(Struct, frozen=True, tag="room.told", kw_only=True, omit_defaults=True):
    """The room itself said something plain to the people in it (a model fell back, say).

    `mend` are troubles as in core/model_trouble.py, which the owner alone is told, in words. `asks`
    is the number of the question, where people are asked whether a mate may use a tool. `rang` is
    the event of a reminder that rang, `person` who had set it, as that `origin` says.
    """

    text: Words
    mend: tuple[tuple[str, ...], ...] = ()
    asks: int = 0
    rang: str = ""
    person: str = ""
    origin: LineOrigin | None = None


class Weight(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How much cause one mate has to speak after a line.

    `score` is 0 to 100, the sum of `reasons` (a name and its points). `summons` says what called
    it (mention, reply, name, alone, conversation, continue, greeting; silence or hour where nobody
    did); `alone`: the only mate with
    the only person. `verdict`: speak, ask (the mind decides), pass. `line` is the last of the lines
    that were weighed as one, `called_by` the one of them that called it, where that is another.
    """

    mate: str
    line: str
    score: int
    reasons: dict[str, int] = {}
    summons: str = "conversation"
    verdict: Literal["speak", "ask", "pass"] = "pass"
    called_by: str = ""

    @property
    def caller(self) -> str:
        """The line that a turn of this mate answers."""
        return self.called_by or self.line


class Weighed(Struct, frozen=True, tag="room.weighed", kw_only=True, omit_defaults=True):
    """Lines up to sequence number `upto` were weighed; mates with a verdict take turns in order."""

    upto: int
    weights: tuple[Weight, ...] = ()


class TurnDropped(Struct, frozen=True, tag="room.turn_dropped", kw_only=True):
    """A mate that was to take a turn did not (no energy, stopped, gone)."""

    mate: str
    line: str
    why: str


class Stopped(Struct, frozen=True, tag="room.stopped", kw_only=True, omit_defaults=True):
    """A person said stop; mates stay still until a person speaks to them again."""

    person: str
    surface: str = ""
    source: str = ""


class ConversationBegan(Struct, frozen=True, tag="room.conversation_began", kw_only=True):
    """A new conversation: mates start from a clean page. The event's id is the conversation's."""

    why: Literal["first", "asked", "idle"]


class ConversationEnded(Struct, frozen=True, tag="room.conversation_ended", kw_only=True):
    """A conversation is over; the next line begins another."""

    why: Literal["asked", "idle"]


class Titled(Struct, frozen=True, tag="room.titled", kw_only=True):
    """The room has a title; `by` is a person's id, "room" if it named itself, "" if it is to."""

    title: Words
    by: str


class Marked(Struct, frozen=True, tag="room.marked", kw_only=True):
    """A line was marked keep or spent, or the mark was taken off ("none")."""

    line: str
    mark: Literal["keep", "spent", "none"]
    by: str


class Purged(Struct, frozen=True, tag="room.purged", kw_only=True, omit_defaults=True):
    """Lines left a mate's context (not the ledger): ids, tokens before and after.

    Of those `shortened`, results of tools, it sees head and handles from now on.
    """

    mate: str
    lines: tuple[str, ...]
    before: int
    after: int
    shortened: tuple[str, ...] = ()


class PolicyChosen(Struct, frozen=True, tag="room.policy_chosen", kw_only=True, omit_defaults=True):
    """Which policy runs here ("": none is chosen); for one mate, or for all with `mate` ""."""

    policy: str
    mate: str = ""


class EnergySet(Struct, frozen=True, tag="room.energy_set", kw_only=True):
    """The room's energy: mate lines it can hold, and what each human line gives back."""

    capacity: int
    refill: int


class BoundsSet(Struct, frozen=True, tag="room.bounds_set", kw_only=True):
    """What one turn may have done by tools in this room, at most; beside the mate's and home's."""

    bounds: TurnBounds


class TriggersSet(Struct, frozen=True, tag="room.triggers_set", kw_only=True):
    """What may call a mate here: mention, reply, name, conversation; None: what its file says."""

    mate: str
    triggers: tuple[str, ...] | None = None


_Company = RoomOpened | RoomClosed | PersonJoined | PersonLeft | MateJoined | MateLeft
_Spoken = Heard | Said | Noted | MemoryAsked | Reacted | PersonReacted | ToolUsed | Told
_Changed = LineEdited | LineDeleted | LinePinned | Marked | Purged | AnswerWanted
_Talk = Weighed | TurnDropped | Stopped | ConversationBegan | ConversationEnded | Titled
_Placed = PlaceJoined | PlaceRenamed | PlaceLeft | DefaultMateSet | StoodIn | StoodDown
_Rules = TalkSet | UnpromptedSet | PaceSet | RightsSet | PolicyChosen | TriggersSet
RoomEvent = _Company | _Spoken | _Changed | _Talk | _Placed | _Rules | EnergySet | BoundsSet

ROOM_LINES = ("room.heard", "room.said", "room.told")
"""The kinds of event that people see as lines of the room."""
