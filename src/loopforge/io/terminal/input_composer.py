"""The composer: where a person types, with completion, and what was typed before.

Says what it takes by messages; knows nothing of rooms but the scene that completion needs.
"""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.io.terminal.terminal_commands import Completion, complete_word
from loopforge.io.terminal.typed_lines import is_blank_text, strip_terminal_controls

REMEMBERED = 200
"""Lines one can go back to."""
HIGHEST = 8
"""Lines of text seen at once."""
OFFERED = 8
"""Candidates shown at once."""


class InputPen(TextArea):
    """The text field. Enter says the line; Shift+Enter, Alt+Enter and Ctrl+J go on below."""

    KEYS: ClassVar[dict[str, str]] = {
        "enter": "say",
        **dict.fromkeys(("shift+enter", "alt+enter", "ctrl+j", "ctrl+enter"), "newline"),
        "tab": "complete",
        "shift+tab": "complete(-1)",
        "up": "up",
        "down": "down",
        "escape": "back_off",
        "ctrl+d": "leave",
        "pageup": "app.leaf(-1)",
        "pagedown": "app.leaf(1)",
        "ctrl+end": "app.leaf(0)",
    }
    """Keys and their actions. No bindings with priority: those overtake what was typed before them
    and is still on its way to the field."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", priority=True)]

    class Said(Message):
        """A line was said."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(
            id="pen", soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False
        )
        self.scene = RoomSnapshot(room="")
        self.candidates: list[Completion] = []
        self.chosen = 0
        self._past: list[str] = []
        self._at = 0
        self._begun = ""
        self._quiet_for: str | None = None

    async def _on_key(self, event: events.Key) -> None:
        """The keys of our own, in the order in which they were typed."""
        if (action := self.KEYS.get(event.key)) is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    # ------------------------------------------------------------ what is offered

    def on_text_area_changed(self) -> None:
        """Offer ways to go on, and be as high as the text needs."""
        self.fit()
        self.offer()

    def fit(self) -> None:
        """Be as high as the text needs, within limits."""
        lines = min(max(self.wrapped_document.height, 1), HIGHEST)
        if self.styles.height is None or self.styles.height.value != lines + 2:
            self.styles.height = lines + 2

    def on_resize(self) -> None:
        """Lines may break elsewhere now."""
        self.call_after_refresh(self.fit)

    def on_text_area_selection_changed(self) -> None:
        """The cursor moved."""
        self.offer()

    def offer(self) -> None:
        """Work out the candidates for the word at the cursor."""
        found: list[Completion] = []
        if self.text != self._quiet_for:
            self._quiet_for = None
            found = complete_word(self.text, self._cursor(), self.scene)
            if len(found) == 1 and self._stands(found[0]):
                found = []
        if found != self.candidates:
            self.candidates, self.chosen = found, 0
        if isinstance(self.parent, Composer):
            self.parent.show_candidates(self.candidates, self.chosen)

    def _cursor(self) -> int:
        row, column = self.cursor_location
        lines = self.text.split("\n")
        return sum(len(line) + 1 for line in lines[:row]) + column

    def _hush(self) -> None:
        self._quiet_for = self.text
        self.offer()

    def _with(self, one: Completion) -> str:
        return self.text[: one.start] + one.insert + self.text[self._cursor() :].lstrip(" ")

    def _stands(self, one: Completion) -> bool:
        """Whether all of this candidate is typed already."""
        return self._with(one).rstrip().casefold() == self.text.rstrip().casefold()

    def _accept(self) -> None:
        one = self.candidates[self.chosen]
        self.text = self._with(one)
        self._move_to(one.start + len(one.insert))

    def _move_to(self, place: int) -> None:
        before = self.text[:place]
        self.move_cursor((before.count("\n"), len(before) - before.rfind("\n") - 1))

    def set_text(self, text: str) -> None:
        """Replace everything, with the cursor at the end."""
        self.text = text
        self.move_cursor(self.document.end)

    # ------------------------------------------------------------ keys

    def action_say(self) -> None:
        """Say what stands there, or complete a command that is only begun."""
        text = self.text
        begun = bool(self.candidates) and text.startswith("/") and text != "/"
        if begun and not any(self._stands(one) for one in self.candidates):
            self._accept()
            return
        if is_blank_text(text):
            return
        if not self._past or self._past[-1] != text:
            self._past = [*self._past[-REMEMBERED:], text]
        self._at = len(self._past)
        self.text = ""
        self.post_message(self.Said(text))

    def action_newline(self) -> None:
        """Go on below."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_complete(self, by: int = 1) -> None:
        """Take the candidate; Shift+Tab goes round."""
        if not self.candidates:
            self.offer()
        if not self.candidates:
            return
        if by < 0:
            self._choose(-1)
        else:
            self._accept()

    def _choose(self, by: int) -> None:
        self.chosen = (self.chosen + by) % len(self.candidates)
        if isinstance(self.parent, Composer):
            self.parent.show_candidates(self.candidates, self.chosen)

    def action_up(self) -> None:
        """Among candidates, in the text, or back to what was said before."""
        if self.candidates:
            self._choose(-1)
        elif self.cursor_location[0] > 0:
            self.action_cursor_up()
        elif self._at > 0:
            if self._at == len(self._past):
                self._begun = self.text
            self._at -= 1
            self._recall()

    def action_down(self) -> None:
        """Among candidates, in the text, or forth again."""
        if self.candidates:
            self._choose(1)
        elif self.cursor_location[0] < self.document.line_count - 1:
            self.action_cursor_down()
        elif self._at < len(self._past):
            self._at += 1
            self._recall()

    def _recall(self) -> None:
        text = self._past[self._at] if self._at < len(self._past) else self._begun
        self.set_text(text)
        self._hush()

    async def action_back_off(self) -> None:
        """Close what is offered, else let the app decide."""
        if self.candidates:
            self._hush()
        else:
            await self.run_action("app.back_off")

    async def action_interrupt(self) -> None:
        """Copy what is selected, else clear the line, else ask to leave."""
        chosen = self.selected_text or self.screen.get_selected_text()
        if chosen:
            self.app.copy_to_clipboard(chosen)
            self.screen.clear_selection()
        elif self.text:
            self.text = ""
        else:
            await self.run_action("app.leave(False)")

    async def action_leave(self) -> None:
        """Leave if there is nothing here, else delete to the right."""
        if self.text:
            self.action_delete_right()
        else:
            await self.run_action("app.leave(True)")

    async def _on_paste(self, event: events.Paste) -> None:
        """Take in pasted text, of any number of lines, without what is no text."""
        event.prevent_default()
        event.stop()
        if result := self._replace_via_keyboard(
            strip_terminal_controls(event.text)[0], *self.selection
        ):
            self.move_cursor(result.end_location)


class Composer(Vertical):
    """The pen, what it offers above it, and what the line will answer."""

    def __init__(self) -> None:
        super().__init__(id="composer")
        self.pen = InputPen()
        self._offer = Static(id="offer")
        self._reply = Static(id="reply")

    def compose(self) -> ComposeResult:
        """From above: candidates, what is answered, the pen."""
        yield self._offer
        yield self._reply
        yield self.pen

    def show_candidates(self, candidates: list[Completion], chosen: int) -> None:
        """Show the candidates around the chosen one."""
        self._offer.display = bool(candidates)
        if not candidates:
            return
        first = min(max(0, chosen - OFFERED + 2), max(0, len(candidates) - OFFERED))
        wide = max(len(one.label) for one in candidates)
        lines = []
        for n, one in enumerate(candidates[first : first + OFFERED], first):
            label = f" {one.label:<{wide}}  "
            about = one.about.ljust(max(self.size.width - len(label) - 4, 0))
            if n == chosen:
                lines.append(
                    Content.assemble(
                        (label, "bold $primary on $panel"), (about, "$foreground on $panel")
                    )
                )
            else:
                lines.append(Content.assemble((label, "$foreground"), (about, "$quiet")))
        left = len(candidates) - first - OFFERED
        if left > 0:
            lines.append(Content.assemble((f" … {left} more", "$quiet")))
        self._offer.update(Content("\n").join(lines))

    def show_status(self, status: Content, aside: Content) -> None:
        """Show in the frame what goes on: on the left above, and on the right below."""
        self.pen.border_title = status
        self.pen.border_subtitle = aside

    def show_reply(self, quotation: str) -> None:
        """Show which line the next one answers; "" for none."""
        self._reply.display = bool(quotation)
        self._reply.update(Content.assemble(("↳ ", "$primary"), quotation, ("  Esc", "$quiet")))
