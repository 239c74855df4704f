"""JSON lines: events appended to a file, each once, as ledger/jsonl_export.py writes them.

The file itself says how far it is: whoever begins again reads it, cuts away a last line that was
not finished, and goes on after it. Where a text was forgotten, the file is written anew without it;
copies that somebody took of it are not known here. For one process at a time.
"""

import asyncio
import json
import os
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from loopforge.core.events import Erased, Event
from loopforge.errors import SendFailed
from loopforge.ledger.jsonl_export import as_json_line, redact_json_line
from loopforge.runtime.plugins.setting_declarations import setting
from loopforge.sinks.sink_plugin import SinkChoice, SinkPlugin

BEGINS = b'{"stream": '
"""How each line begins; a file that begins otherwise is somebody else's: nothing of it is cut."""


@dataclass(frozen=True, kw_only=True)
class JsonlSettings(SinkChoice):
    """What can be set of it."""

    path: str = setting(
        "", "A file to which events are appended as they happen; in the home, where it is relative."
    )


class JsonLines:
    """The sink; `texts`: with private ones."""

    def __init__(self, path: Path, *, texts: bool) -> None:
        self._path, self._texts = path, texts
        self._hashes = dict[str, str]()

    async def had(self) -> dict[str, int]:
        """How far each stream is in the file."""
        return await asyncio.to_thread(self._read)

    def last_hash(self, stream: str) -> str:
        """The hash of the last event of a stream that the file had as it was read."""
        return self._hashes[stream]

    async def put(self, events: Sequence[Event]) -> None:
        """Append them, after what they say is forgotten is out of the file."""
        await asyncio.to_thread(self._write, events)

    def _read(self) -> dict[str, int]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch(0o600)
        had, hashes, whole = dict[str, int](), dict[str, str](), 0
        with self._path.open("rb+") as file:
            for each in file:
                if not whole and not (each.startswith(BEGINS) or BEGINS.startswith(each)):
                    raise SendFailed(
                        f"{self._path} holds what is no event, and is left as it is; name a file "
                        "of its own by `jsonl_path`."
                    )
                if each.endswith(b"\n"):
                    row = json.loads(each)
                    had[row["stream"]], hashes[row["stream"]] = row["seq"], row["hash"]
                    whole += len(each)
            file.truncate(whole)
        self._hashes = hashes
        return had

    def _lines(self) -> Iterator[str]:
        with self._path.open(encoding="utf-8", newline="\n") as file:
            yield from (each.removesuffix("\n") for each in file)

    def _write(self, events: Sequence[Event]) -> None:
        gone = [event.body.refs for event in events if isinstance(event.body, Erased)]
        if gone:
            self._forget({ref for refs in gone for ref in refs})
        with self._path.open("a", encoding="utf-8", newline="\n") as file:
            file.write("".join(f"{as_json_line(event, texts=self._texts)}\n" for event in events))
            file.flush()
            os.fsync(file.fileno())

    def _forget(self, refs: Set[str]) -> None:
        if all(redact_json_line(each, refs) == each for each in self._lines()):
            return  # as in a file that was always without texts
        aside = self._path.with_name(f"{self._path.name}.new")
        aside.touch(0o600)
        with aside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{redact_json_line(each, refs)}\n" for each in self._lines())
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self._path)


def make(options: JsonlSettings, home: Path) -> JsonLines | None:
    """The sink, if a file is named."""
    if not options.path:
        return None
    return JsonLines(home / Path(options.path).expanduser(), texts=options.texts)


SINK = SinkPlugin(
    title="JSON lines",
    settings=JsonlSettings,
    make=make,
    where=lambda options: options.path,
    forgets=True,
)
