"""Numbers of messages of a platform, which stand as words: compared as the numbers that they are."""

import pytest
from sqlalchemy import create_engine, select

from loopforge.chat.room.platform_channels import is_above, posts

NUMBERS = (1, 9, 10, 99, 100, 101, 989, 1000)


@pytest.mark.parametrize("number", [0, 5, 9, 10, 100, 998, 1000])
def test_those_above_a_number_are_found_by_the_database(number: int) -> None:
    """Also where they have more digits; none of those at or below it is fetched."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        posts.create(connection)
        for nth, each in enumerate(NUMBERS):
            row = {"place": "telegram:1", "line": "a", "message": str(each), "part": nth}
            connection.execute(posts.insert().values(**row, heard=False))
        found = connection.execute(select(posts.c.message).where(is_above(posts, number)))
        assert sorted(map(int, found.scalars())) == [n for n in NUMBERS if n > number]
    engine.dispose()
