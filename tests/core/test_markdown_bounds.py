"""How much Markdown is read as it, and no more."""

from loopforge.core.limits.markdown_bounds import LONGEST, WILDEST, wild


def test_the_limits_are_limits() -> None:
    """One bracket or one letter more than is read as Markdown, and the text is shown as it is."""
    fair = "[a](https://a.example) " * (WILDEST // 2)
    assert not wild(fair[:LONGEST])
    assert wild("[" * (WILDEST + 1))
    assert wild("a" * (LONGEST + 1))
    assert not wild("a" * LONGEST)


def test_a_table_of_very_many_cells_is_none() -> None:
    """Rows are filled up to the width of their head: few signs would be a hundred thousand cells."""
    head = "|a" * 100 + "\n" + "|-" * 100 + "\n"
    assert wild(head + "a\n" * 3700)
    assert wild(head + "|\n" * 3700)
    assert not wild(head + "a\n" * 90)
    assert not wild("Prose.\n" * 2000 + "---\n" + "a | b\n" * 200)
