"""An insight is kept only if it is free of secrets, of people, and of other people's words."""

import pytest

from loopforge.core.work.insight_checks import insight_objection

SAID = ("Please fix the parser of the tariff table before noon.",)
SEEN = ("[exit code 1]\nE: the mode of this plant is not set, see the manual",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Set the mode before you run the plant.", ""),
        ("Run the tests with -p no:randomly, or they depend on each other.", ""),
        ("Ana wants tabs.", "it names a person"),
        ("The file of de Vries is the right one.", "it names a person"),
        ("Use the key [redacted] for the service.", "it held a secret"),
        ("Write to ops@example.org when it fails.", "it holds an address"),
        ("Look at https://example.org/x first.", "it holds an address"),
        ("Call +49 170 1234567 when it fails.", "it holds an address"),
        ("They said “do it twice”.", "it quotes somebody"),
        ("Fix the parser of the tariff table early.", "it holds what a person said"),
        ("The mode of this plant is not set at first.", "it holds what stood in a file or came of a command"),
        ("a" * 301, "it is no single sentence"),
        ("One.\nTwo.", "it is no single sentence"),
    ],
)  # fmt: skip
def test_what_is_not_the_mates_own_stays_out(text: str, why: str) -> None:
    """The reason is told; what is free of all that may be kept."""
    assert insight_objection(text, ("Ana", "Piet de Vries"), SAID, SEEN) == why
