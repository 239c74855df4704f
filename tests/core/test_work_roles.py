"""The tables of roles and types, and how others are written in settings."""

import pytest

from loopforge.core.work.work_roles import (
    ROLES,
    TYPES,
    ModelPlace,
    place_for,
    read_places,
    role_of,
)
from loopforge.errors import BadSettings

WANTED = {
    "command-executor": (2, 3),
    "python-coder": (2, 2),
    "js-coder": (2, 1),
    "devops-engineer": (3, 4),
    "architect": (4, 4),
    "code-reviewer": (3, 4),
    "doc-writer": (3, 1),
    "dba": (3, 3),
    "researcher": (2, 2),
    "general": (1, 4),
}


def test_roles_have_their_places() -> None:
    """Tier and place of each, as the house says; nobody else is one."""
    assert {handle: tuple(role.model) for handle, role in ROLES.items()} == WANTED
    assert role_of("nobody").handle == "general"


def test_a_type_may_have_a_model_of_its_own() -> None:
    """Social and writing have; coding goes by its role; settings win over both."""
    coder = role_of("python-coder")
    assert place_for("social", coder) == (1, 1)
    assert place_for("writing", coder) == (3, 2)
    assert place_for("coding", coder) == (2, 2)
    assert place_for("coding", coder, {"coding": ModelPlace(4, 1)}) == (4, 1)
    assert place_for("coding", coder, {}, {"python-coder": ModelPlace(1, 2)}) == (1, 2)


def test_tables_are_read_from_settings() -> None:
    """What is none is told with what one looks like."""
    assert read_places("social=1.1, writing = 3.2", TYPES) == {"social": (1, 1), "writing": (3, 2)}
    assert read_places("", TYPES) == {}
    for wrong in ("social", "social=5.1", "nothing=1.1", "social=1"):
        with pytest.raises(BadSettings, match="such as social=2"):
            read_places(wrong, TYPES)
