"""What the host of a home does for its web room besides serving it."""

from __future__ import annotations

from pathlib import Path

from litestar.middleware.csrf import generate_csrf_token

from loopforge.host import KEY_FILE
from tests.web.conftest import town


async def test_an_empty_secret_is_made_anew(tmp_path: Path) -> None:
    """Where a crash left nothing in the secret's file, forms are signed with a new one, kept there.

    Else anybody could make tokens of forms: they would be signed with nothing.
    """
    (tmp_path / "data").mkdir()
    kept = tmp_path / "data" / KEY_FILE
    kept.touch(0o600)
    async with town(tmp_path) as site:
        stranger = await site.stranger()
        forged = generate_csrf_token("")
        stranger.http.cookies.set("csrftoken", forged)
        headers = {"x-csrftoken": forged}
        assert (await stranger.http.post("/sign-in", headers=headers)).status_code == 403
        found = kept.read_text("ascii")
        assert len(bytes.fromhex(found)) == 32
        assert kept.stat().st_mode & 0o777 == 0o600
    async with town(tmp_path):
        assert kept.read_text("ascii") == found
