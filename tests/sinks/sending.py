"""A process that has tasks go on and a webhook told of it, to be killed: DATABASE, ADDRESS, TURNS."""

import asyncio
import sys

from loopforge.ledger.sql_ledger import open_ledger
from loopforge.ledger.storage.sink_cursors import SinkCursors
from loopforge.sinks.webhook import Webhook
from tests.sinks.conftest import STAMP, STREAMS, go_on, outlet_running


async def main(database: str, address: str, turns: int) -> None:
    """Go on from where the last one was killed, until all is told."""
    ledger = await open_ledger(database, STAMP.clock, STAMP.dice)
    async with outlet_running(ledger, Webhook(address, ["s"], texts=False)):
        heads = dict.fromkeys(STREAMS, 0) | await ledger.heads()
        while min(heads.values()) < turns:
            for stream in STREAMS:
                await go_on(ledger, stream, heads[stream] + 1)
            heads = dict.fromkeys(STREAMS, 0) | await ledger.heads()
            await asyncio.sleep(0.005)
        while await SinkCursors(ledger).begin("it", history=True) != await ledger.heads():
            await asyncio.sleep(0.02)
    await ledger.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
