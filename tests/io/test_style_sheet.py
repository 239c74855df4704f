"""The terminal's style sheet, which names widgets by their classes where no type checker looks."""

import importlib
import pkgutil
import re
from importlib import resources

import textual.screen
from textual.widget import Widget

from loopforge.io import terminal


def test_every_widget_of_the_style_sheet_is_a_class() -> None:
    """A rule for a widget that is called otherwise by now would style nothing, without a word."""
    sheet = resources.files(terminal).joinpath("terminal.tcss").read_text("utf-8")
    named = set(re.findall(r"^(?:\.[-\w]+ )*([A-Z]\w+)", sheet, re.MULTILINE))
    modules = [
        importlib.import_module(f"{terminal.__name__}.{one.name}")
        for one in pkgutil.iter_modules(terminal.__path__)
    ]
    widgets = {
        name
        for module in (*modules, textual.screen)
        for name, one in vars(module).items()
        if isinstance(one, type) and issubclass(one, Widget)
    }
    assert {"Screen", "LineMark"} <= named
    assert named - widgets == set()
