"""The lab in the browser: everybody may look, the owner alone starts, and a log is never trusted."""

from __future__ import annotations

import asyncio

from tests.web.conftest import Guest, Town


async def ended(site: Town, guest: Guest, run: str) -> None:
    """Until a run has come to its end."""
    async with asyncio.timeout(60):
        while True:
            answer = await guest.get(f"/lab/{run}/steps", headers={"accept": "application/json"})
            if answer.status_code == 200 and answer.json()["state"] == "finished":
                return
            await asyncio.sleep(0.02)


async def test_the_owner_starts_a_run_and_it_is_played(site: Town) -> None:
    """A run that is started from the form is played to its end, and its steps can be asked for."""
    owner = await site.owner()
    form = {"scenario": "first_shift", "policy": "stub", "days": "1", "seed": "5"}
    answer = await owner.post("/lab", form)
    assert answer.status_code == 200
    assert str(answer.url).endswith("/lab/first-shift-stub-5")
    await ended(site, owner, "first-shift-stub-5")
    told = (await owner.get("/lab/first-shift-stub-5/steps?first=3")).json()
    assert told["closed"] == 16
    assert told["steps"][0]["n"] == 3
