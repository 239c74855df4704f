"""How much Markdown is read as it, and no more."""

from loopforge.core.limits.markdown_bounds import (
    LONGEST,
    MOST_ADDRESSES,
    WILDEST,
    exceeds_markdown_bounds,
)


def test_the_limits_are_limits() -> None:
    """One bracket or one letter more than is read as Markdown, and the text is shown as it is."""
    fair = "[a](https://a.example) " * MOST_ADDRESSES + "[a](/b) " * (WILDEST // 2)
    assert not exceeds_markdown_bounds(fair[:LONGEST])
    assert exceeds_markdown_bounds("[" * (WILDEST + 1))
    assert exceeds_markdown_bounds("a" * (LONGEST + 1))
    assert not exceeds_markdown_bounds("a" * LONGEST)


def test_more_addresses_than_anybody_writes_are_not_looked_for() -> None:
    """Each is looked for through all that follows it: very many are text, with spaces or without."""
    assert exceeds_markdown_bounds("http://a" * 1000)
    assert exceeds_markdown_bounds("ftp:// " * (MOST_ADDRESSES + 1))
    assert not exceeds_markdown_bounds("https://a.example " * MOST_ADDRESSES)


def test_a_table_of_very_many_cells_is_none() -> None:
    """Rows are filled up to the width of their head: few signs would be a hundred thousand cells."""
    head = "|a" * 100 + "\n" + "|-" * 100 + "\n"
    assert exceeds_markdown_bounds(head + "a\n" * 3700)
    assert exceeds_markdown_bounds(head + "|\n" * 3700)
    assert not exceeds_markdown_bounds(head + "a\n" * 90)
    assert not exceeds_markdown_bounds("Prose.\n" * 2000 + "---\n" + "a | b\n" * 200)
