"""The asyncio shell around the pure core: it drives turns, keeps lanes, delivers, and waits."""
