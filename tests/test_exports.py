"""What `import loopforge` gives, and what it does not bring along."""

import loopforge
import loopforge.types
from loopforge import lab
from tests.child_process import run_python

SEAM = {
    "AgentActionPlan",
    "AgentPerception",
    "AgentReflection",
    "All",
    "Answer",
    "Ask",
    "Call",
    "Policy",
    "Result",
    "ask",
    "call",
}


def test_the_package_gives_the_seam_and_nothing_else() -> None:
    """__all__ is the seam; every name in it is there."""
    assert set(loopforge.__all__) == SEAM
    assert all(hasattr(loopforge, name) for name in loopforge.__all__)
    assert all(hasattr(lab, name) for name in lab.__all__), "those of the Factory, too"


def test_types_gives_the_same_names() -> None:
    """loopforge.types gives the seam's very objects, and Line besides."""
    assert set(loopforge.types.__all__) == SEAM | {"Line"}
    assert all(getattr(loopforge, name) is getattr(loopforge.types, name) for name in SEAM)


def test_a_stranger_can_import_the_three_types() -> None:
    """The line in the README works, and each type has to_dict and from_dict."""
    from loopforge import AgentActionPlan, AgentPerception, AgentReflection

    for each in (AgentPerception, AgentActionPlan, AgentReflection):
        assert callable(each.to_dict)
        assert callable(each.from_dict)


def test_importing_brings_nothing_heavy() -> None:
    """A fresh interpreter that imports loopforge has loaded the core and msgspec, no more."""
    heavy = (
        "sqlalchemy", "pydantic", "textual", "asyncio", "logging", "httpx", "typer", "rich",
        "sqlite3", "ssl", "socket", "xllamacpp", "loopforge.runtime", "loopforge.settings",
        "loopforge.cli", "loopforge.policies",
    )  # fmt: skip
    code = f"import sys, loopforge; print([m for m in {heavy} if m in sys.modules])"
    out = run_python("-c", code, check=True)
    assert out.stdout == "[]\n"
    assert out.stderr == ""
