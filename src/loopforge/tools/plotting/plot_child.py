"""A plot of a table: a program that `plot.py` starts, and that limits itself.

    python -I plot_child.py SECONDS MEMORY < wanted.json > plot

In comes {"table": its text, "wanted": the tool's arguments}; out go what is said of the plot, as
one line of JSON, and the bytes of a PNG; or {"refused": why} alone. The table may come from
strangers, so the program may use SECONDS of a processor and MEMORY bytes of address space, and
write no file; nothing of a home is in its memory.
"""

import json
import resource
import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Read what is wanted, draw it."""
    seconds, memory = map(int, sys.argv[1:3])
    for what, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
    ):
        resource.setrlimit(what, (limit, limit))
    sys.path.insert(0, str(Path(__file__).parents[3]))  # this very Loopforge's
    parts = ("table_reading", "chart_choice", "chart_drawing")
    reading, choice, drawing = (import_module(f"loopforge.tools.plotting.{one}") for one in parts)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    given = json.load(sys.stdin.buffer)
    picture = b""
    try:
        columns = reading.read_table(given["table"], int(given["wanted"].get("sheet") or 1))
        chart = choice.chosen(columns, given["wanted"])
        picture = drawing.drawn(chart)
        told = {"said": choice.summary(chart)}
    except reading.PlotRefused as why:
        told = {"refused": str(why)}
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + picture)


if __name__ == "__main__":
    main()
