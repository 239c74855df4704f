"""Programs in the sandbox, which try whatever is known to get out, to stay, or to take too much."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from loopforge.tools.sandbox.bubblewrap import RUNNER, find_bubblewrap
from tests.open_folder import open_folder
from tests.tools.sandbox.drills import DRILLS, SECRET, Ground, Outcomes, without

pytestmark = pytest.mark.xdist_group("sandbox")
"""They share a user, whose processes are counted in sum, and look for what is left running."""

ROOT = os.geteuid() == 0
SOMEBODY = 61234
"""A user of no name, who may do what a normal one may."""
WINS_OUTSIDE = {
    "abstract_socket",
    "call_add_key",
    "call_io_uring_setup",
    "call_memfd_create",
    "call_msgget",
    "call_personality",
    "call_ptrace",
    "call_semget",
    "call_shmget",
    "capabilities",
    "family netlink",
    "file_above_the_current_folder",
    "file_by_a_link_of_its_own",
    "file_of_the_home",
    "file_that_is_hidden_in_a_readable_folder",
    "loopback",
    "loopback_6",
    "other_processes",
    "passwords",
    "secret_in_any_environment",
    "secret_in_own_environment",
    "signal_to_the_host",
    "socket_of_the_program",
    "sockets_in_run",
    "system_devices",
    "user_namespace_by_clone",
    "writing_where_the_host_lets_everybody",
}
"""What the attacker wins as a normal user where there is no sandbox, on every Linux of these years."""


@pytest.fixture(scope="module")
def everybodys() -> Iterator[Path]:
    """One folder for all of them."""
    with open_folder() as folder:
        yield folder


def tried_as(uid: int, place: Path) -> dict[str, Outcomes]:
    """Everything that is known, tried in a process of this user that holds a secret."""
    base = place / f"user-{uid}"
    base.mkdir(mode=0o755)
    os.chown(base, uid, -1)
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.sandbox.drills", base, str(uid)],
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path), "API_KEY": SECRET},
        stdout=subprocess.PIPE,
        check=True,
    )
    told: dict[str, Outcomes] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("whoever", ["this user", "a normal user"])
def test_no_attack_wins(whoever: str, everybodys: Path) -> None:
    """As root and as a normal user: of some 150 attacks none wins, and none is broken."""
    if whoever == "a normal user" and not ROOT:
        pytest.skip("this user is one already")
    told = tried_as(os.geteuid() if whoever == "this user" else SOMEBODY, everybodys)
    outcomes = told["within"] | told["limits"]
    assert {name: why for name, (how, why) in outcomes.items() if how != "held"} == {}
    assert told["limits"].keys() == DRILLS.keys()
    assert len(outcomes) >= 150


def test_the_same_attacks_win_outside(everybodys: Path) -> None:
    """The attacker is no straw man: as a normal user without the sandbox it wins a great deal."""
    base = everybodys / "outside"
    base.mkdir(mode=0o755)
    with ExitStack() as opened:
        ground = Ground(base, opened)
        told = without(ground, RUNNER if ROOT else None)
    won = {name for name, (how, _) in told.items() if how == "won"}
    assert WINS_OUTSIDE - won == set(), {name: told[name] for name in WINS_OUTSIDE - won}


LACKING = {
    "seccomp": ("call_ptrace", "call_memfd_create", "call_shmget", "family netlink"),
    "network": ("loopback", "loopback_6", "abstract_socket"),
    "processes": ("signal_to_the_host", "other_processes"),
    "environment": ("secret_in_any_environment",),
    "hidden": ("file_that_is_hidden_in_a_readable_folder",),
    "read-only": ("writing_a_readable_folder", "writing /dev/pwn", "writing /pwn"),
}
"""What wins where one defence is taken away, so that it is this defence which holds it."""


@pytest.mark.parametrize("defence", LACKING)
def test_without_one_defence_what_it_held_wins(defence: str, everybodys: Path) -> None:
    """Each defence is needed: the sandbox without it loses to the attacks it is there against."""
    place = everybodys / f"lacking-{defence}"
    place.mkdir(mode=0o755)
    program = Path(__file__).with_name("lacking.py")
    done = subprocess.run(
        [sys.executable, program, place, defence],
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path), "API_KEY": SECRET},
        stdout=subprocess.PIPE,
        check=True,
    )
    told: Outcomes = json.loads(done.stdout)
    assert [name for name in LACKING[defence] if told[name][0] != "won"] == []


def test_bubblewrap_is_there() -> None:
    """What these tests need is installed; they never pass because nothing was run."""
    assert shutil.which(find_bubblewrap())
