"""A hundred thousand passages on PostgreSQL with pgvector, which finds them by indexes of its own.

What `million` measures, on the PostgreSQL that the tests start, which is set to be quick and to
keep nothing; its memory is not that of the process that asks. The exact scan is of the same
vectors, read into that process.
"""

from collections.abc import Iterator

from bench.figures import Figure, folder, sized
from bench.million import figures_of
from tests.postgres import Cluster, packaged

ITEMS = sized(100_000, 30_000)
BUFFERS = "512MB"
"""What PostgreSQL keeps in memory of its own; it is 128 MB where nobody has set it."""


def figures() -> Iterator[Figure]:
    """Yield the figures; none where that PostgreSQL cannot be run."""
    if (binaries := packaged()) is None:
        return
    cluster = Cluster(binaries, BUFFERS)
    try:
        with folder() as home:
            yield from figures_of(home, cluster.url(cluster.create()), ITEMS)
    finally:
        cluster.stop()
