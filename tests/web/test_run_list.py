"""The list of runs: any of many is found."""

import os
import shutil

from tests.web.conftest import Guest, Town, words
from tests.web.labs import played


async def test_any_of_many_runs_is_found(site: Town, owner: Guest) -> None:
    """By words of its name, also the oldest of more than five hundred; pages of what was found go on so."""
    whole = await played(site)
    for nth in range(510):
        copy = whole.with_name(f"copy-{nth}")
        copy.mkdir()
        (copy / "actions.jsonl").hardlink_to(whole / "actions.jsonl")
    oldest = whole.with_name("the-oldest-one")
    shutil.copytree(whole, oldest)
    os.utime(oldest / "actions.jsonl", (1, 1))
    page = words(await owner.get("/lab"))
    assert "Find runs by name" in page
    assert "the-oldest-one" not in page
    found = words(await owner.get("/lab?find=ONE+oldest"))
    assert "the-oldest-one" in found
    assert "copy-" not in found
    assert "No run has a name with nobody in it." in words(await owner.get("/lab?find=nobody"))
    some = (await owner.get("/lab?find=copy")).text
    assert "/lab?older=40&amp;find=copy" in some
