"""The transcript: what was said, as a column that grows at its foot and can be read upwards.

Entries, marks and notices are widgets; the Transcript keeps them in order, keeps only so many, and
asks for earlier ones when somebody scrolls to the top. Drafts stand below everything else until
the line itself comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from rich.segment import Segment
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.css.styles import RulesMap
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widget import Widget
from textual.widgets import Static

MOST = 400
"""Widgets kept while somebody reads the newest lines."""
FEWEST = 200
"""Widgets left after some were let go."""
MARGIN = 8
"""Columns for the time and the number."""


class LineMark(Widget):
    """A rule across the transcript with a word in it: a day, a boundary, the beginning."""

    def __init__(self, label: str, *, line: str = "─", classes: str = "", when: date | None = None):
        super().__init__(classes=classes)
        self.when = when
        self._label, self._line = label, line

    def render(self) -> Content:
        """The rule, as wide as there is room."""
        room = max(self.size.width - len(self._label) - 2, 2)
        left = room // 2
        return Content(f"{self._line * left} {self._label} {self._line * (room - left)}")


class Notice(Static):
    """Something the room or this terminal says by itself."""

    def __init__(self, text: str, *, classes: str = "") -> None:
        super().__init__(Content(text), classes=f"notice {classes}")


class Lined(Visual):
    """A line as it is drawn: a margin, a bar in the speaker's colour, and the words beside it."""

    def __init__(
        self, words: Content, margin: Sequence[str], *, wide: int, bar: str, ground: str = ""
    ) -> None:
        self.words = words
        self._margin, self._wide, self._bar, self._ground = margin, wide, bar, ground

    @property
    def _lead(self) -> int:
        return self._wide + 2  # the bar, and a space

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """As wide as its longest line."""
        return self._lead + self.words.get_optimal_width(rules, container_width) + 1

    def get_height(self, rules: RulesMap, width: int) -> int:
        """As high as its words, or its margin."""
        words = self.words.get_height(rules, max(width - self._lead - 1, 1))
        return max(words, len(self._margin))

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        """The rows."""
        faint, bar = style + options.get_style("$faint"), style + options.get_style(self._bar)
        ground = style + options.get_style(f"on {self._ground}") if self._ground else style
        room = max(width - self._lead - 1, 1)
        rows = self.words.render_strips(room, None, ground, options)
        high = height or self.get_height(options.rules, width)
        strips = []
        for n in range(high):
            margin = self._margin[n] if n < len(self._margin) and self._wide else ""
            row = rows[n] if n < len(rows) else Strip([])
            lead = [
                Segment(
                    margin.rjust(self._wide - 1)[: self._wide].ljust(self._wide), faint.rich_style
                ),
                Segment("▌", bar.rich_style),
                Segment(" ", ground.rich_style),
            ]
            rest = Segment(" " * (room + 1 - row.cell_length), ground.rich_style)
            strips.append(Strip([*lead, *row, rest], width))
        return strips


class TranscriptEntry(Static):
    """One line of somebody: when and which number at the left, who and what at the right.

    `key` is the event's id, or what stands for it while there is none; `seq` its number, 0 for
    none. `follows`: the same one spoke just before, so that the heading is left out. `who` is the
    handle of a mate that is speaking. `ground` is the colour behind the words, `quoted` the line
    that it answers, where that is shown.
    """

    def __init__(
        self,
        *,
        key: str,
        colour: str,
        heading: Content,
        seq: int = 0,
        time: str = "",
        number: str = "",
        follows: bool = False,
        who: str = "",
        ground: str = "",
        quoted: str = "",
        classes: str = "",
    ) -> None:
        super().__init__(classes=f"entry {'follows' if follows else 'opens'} {classes}")
        self.key, self.seq, self.who, self.quoted = key, seq, who, quoted
        self._heading, self._time, self._number = heading, time, number
        self._colour, self._ground, self._follows = colour, ground, follows
        self._quote: Content | None = None
        self._text = Content("")
        self._after: list[Content] = []
        self._high, self._early = 0, False

    def fill(self, text: Content, quote: Content | None = None) -> TranscriptEntry:
        """Set what is said from now on, and what it answers if that is given."""
        self._text, self._quote = text, quote or self._quote
        self.redraw()
        return self

    def add(self, more: Content) -> None:
        """Put something below the line (a reaction, why it was taken back)."""
        self._after.append(more)
        self.redraw()

    def redraw(self) -> None:
        """Draw it for the room there is; the others are moved only if its height changes."""
        self._early |= self.is_attached and not self.is_mounted
        drawn = self._drawn()
        width = self.size.width
        high = drawn.get_height({}, width) if width else 0
        self.update(drawn, layout=not width or high != self._high)
        self._high = high

    def _drawn(self) -> Lined:
        narrow = self.narrow
        parts: list[Content] = []
        if narrow:
            where = f"  {self._time} {self._number}".rstrip()
            parts.append(Content.assemble(self._heading, (where, "$quiet")))
        elif not self._follows:
            parts.append(self._heading)
        parts += [self._quote or Content(""), self._text, *self._after]
        margin = [self._number] if self._follows else [self._time, self._number]
        return Lined(
            Content("\n").join(part for part in parts if part.plain),
            [] if narrow else [label for label in margin if label],
            wide=0 if narrow else MARGIN,
            bar=self._colour,
            ground=self._ground,
        )

    @property
    def narrow(self) -> bool:
        """Whether there is too little room for a margin."""
        return self.is_attached and self.app.has_class("-narrow")

    def on_mount(self) -> None:
        """Now it is known how much room there is.

        Textual may have measured it already, and forgets that only for what is mounted: after this.
        """
        if self.narrow or self._early:
            self.call_next(self._draw_anew)

    def _draw_anew(self) -> None:
        self._high = 0
        self.redraw()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What a mouse has marked of the words."""
        return selection.extract(self._drawn().words.plain), "\n"


class Transcript(VerticalScroll, can_focus=False):
    """The column. New things go to its foot, drafts below them.

    Entries are its own children, so that only those in sight cost anything.
    """

    class WantsEarlier(Message):
        """Somebody reads at the top; is there more?"""

    class Moved(Message):
        """It was scrolled."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.complete = False
        self._live = Vertical(id="live")
        self._head: Widget | None = None
        self._asked = False

    def compose(self) -> ComposeResult:
        """Below everything, what is being said."""
        yield self._live

    def on_mount(self) -> None:
        """Stay at the foot until somebody scrolls up."""
        self.anchor()

    @property
    def at_foot(self) -> bool:
        """Whether the newest line can be seen, or will be as soon as it is drawn."""
        return not self._anchor_released or self.max_scroll_y - self.scroll_y < 2

    def leaf(self, by: int) -> None:
        """A page up (-1) or down (1), or to the foot (0)."""
        if by == 0:
            self.foot()
        elif self.max_scroll_y:
            self.release_anchor()
            self.scroll_relative(y=by * max(self.size.height - 3, 1), animate=False)

    def foot(self) -> None:
        """To the newest line."""
        self.scroll_end(animate=False)
        self.call_after_refresh(self.post_message, self.Moved())  # a layout moves it unwatched

    @property
    def settled(self) -> bool:
        """Whether what stands here has its place."""
        return self._head is not None and self._head.size.height > 0

    @property
    def above(self) -> bool:
        """Whether the head has gone out of sight."""
        return self._head is not None and self._head.virtual_region.bottom <= self.scroll_y + 2

    @property
    def written(self) -> list[Widget]:
        """What was said, from the top."""
        return [one for one in self.children if one not in (self._head, self._live)]

    def open(self, head: Widget) -> None:
        """Put something above all lines, however many come."""
        self._head = head
        self.mount(head, before=0)

    def append(self, widgets: Sequence[Widget]) -> None:
        """Put these at the foot, in order."""
        if widgets:
            self.mount_all(widgets, before=self._live)

    def begin(self, entry: Widget) -> None:
        """Somebody begins to speak: stand below everything."""
        self._live.mount(entry)

    async def prepend(self, widgets: Sequence[Widget]) -> None:
        """Put these at the top, and keep what is being read where it is."""
        self._asked = False
        if not widgets:
            return
        below = self.virtual_size.height - self.scroll_y
        await self.mount_all(widgets, before=0 if self._head is None else 1)
        self.call_after_refresh(self._keep_reading, below)

    def _keep_reading(self, below: float) -> None:
        self.scroll_to(y=self.virtual_size.height - below, animate=False, immediate=True)

    def trim(self) -> int:
        """Let the oldest go if there are too many and nobody reads them.

        The number of the first line that stays, or 0 if nothing went.
        """
        if len(self.children) <= MOST or not self.at_foot:
            return 0
        written = self.written
        gone, kept = written[:-FEWEST], written[-FEWEST:]
        self.complete = False
        self.remove_children(gone)
        return next((one.seq for one in kept if isinstance(one, TranscriptEntry) and one.seq), 0)

    def clear(self) -> None:
        """Let every line go; earlier ones can be asked for again."""
        self.complete = False
        self.remove_children(self.written)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Ask for earlier lines near the top."""
        super().watch_scroll_y(old, new)
        self.post_message(self.Moved())
        if new < old and new < 4 and not self.complete and not self._asked:
            self._asked = True
            self.post_message(self.WantsEarlier())
