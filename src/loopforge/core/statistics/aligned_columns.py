"""Columns of text side by side, by how wide their signs stand: one of Chinese takes two cells."""

from collections.abc import Collection, Sequence

from rich.cells import cell_len


def pad_cell(cell: str, width: int, *, right: bool = False) -> str:
    """A cell at the left, or right, of a column so wide; a wider one stays as it is."""
    rest = " " * (width - cell_len(cell))
    return rest + cell if right else cell + rest


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """The rows as lines, each column as wide as its widest cell; those of `left` begin alike."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            pad_cell(cell, width, right=nth not in left)
            for nth, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
