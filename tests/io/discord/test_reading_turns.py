"""After a gap few places are read at a time, and those first in which somebody speaks now."""

import asyncio

from loopforge.io.discord.connection.rate_limit import ReadLimiter


async def test_places_are_read_few_at_a_time() -> None:
    """Whoever waits goes in when somebody leaves; where somebody spoke at once, and is not counted."""
    turnstile, inside, ends = ReadLimiter(2), list[int](), {n: asyncio.Event() for n in range(6)}

    async def read(channel: int, *, hurried: bool = False) -> None:
        async with turnstile.turn(channel, hurried=hurried):
            inside.append(channel)
            await ends[channel].wait()

    async def settle() -> list[int]:
        for _ in range(5):
            await asyncio.sleep(0)
        return inside

    async with asyncio.TaskGroup() as reading:
        for channel in range(5):
            reading.create_task(read(channel))
        assert await settle() == [0, 1]
        turnstile.hurry(3)
        assert await settle() == [0, 1, 3]
        reading.create_task(read(5, hurried=True))
        assert await settle() == [0, 1, 3, 5]
        ends[3].set()
        ends[5].set()
        assert await settle() == [0, 1, 3, 5]
        ends[1].set()
        assert await settle() == [0, 1, 3, 5, 2]
        for end in ends.values():
            end.set()
    assert inside == [0, 1, 3, 5, 2, 4]
