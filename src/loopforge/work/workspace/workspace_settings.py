"""What can be set of the workspaces of tasks; the names begin with `workspace_`."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from loopforge.errors import BadSettings
from loopforge.runtime.plugins.setting_declarations import PluginSettings, SettingsPart, setting
from loopforge.runtime.ports import Clock
from loopforge.tools.sandbox.sandbox_limits import MIB, SandboxLimits
from loopforge.work.workspace.task_workspace import Workspaces
from loopforge.work.workspace.workspace_checkpoints import CheckpointArchive

LONGEST_RUN = 3_600.0
"""Seconds that a command may be set to take."""
OUTPUT = 1_000_000
"""Bytes that a command may write to its output before it is ended."""
CHECKPOINTS = "data/checkpoints"
_BUCKET = re.compile(r"(?:s3://)?(?P<bucket>[a-z0-9][a-z0-9.-]{0,62})(?P<path>/[^?#\s]*)?")


def checked_bucket(text: str, where: str) -> str:
    """A bucket as a URL. Raises BadSettings for what names none."""
    if not text.strip():
        return ""
    found = _BUCKET.fullmatch(text.strip())
    if found is None:
        raise BadSettings(
            f"{where}: {text!r} names no bucket; write its name, NAME/PATH, or s3://NAME/PATH."
        )
    return f"s3://{found['bucket']}{(found['path'] or '').rstrip('/')}"


@dataclass(frozen=True, kw_only=True)
class WorkspaceSettings:
    """What can be set of them."""

    seconds: int = setting(
        300, "Seconds that a command of a task may take.", least=1, most=LONGEST_RUN, live=True
    )
    memory: int = setting(
        1024, "MiB that all programs of a command may use.", least=16, most=65_536, live=True
    )
    disk: int = setting(
        512, "MiB that the workspace of a task may hold.", least=1, most=65_536, live=True
    )
    files: int = setting(
        50_000, "Files and folders that it may hold.", least=100, most=1_000_000, live=True
    )
    checkpoints: int = setting(
        30, "Checkpoints of a task's workspace that are kept, the newest.", least=2, most=1_000
    )
    bucket: str = setting(
        "",
        "A bucket of S3, or of a server that speaks its language, in which the checkpoints of "
        "workspaces are kept: NAME, or NAME/PATH. Its variable is S3_ARTIFACT_BUCKET; keys and "
        "address come from the provider's own (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL and so on).",
        shown=f"the folder {CHECKPOINTS}",
        variable="S3_ARTIFACT_BUCKET",
        clean=checked_bucket,
    )

    @property
    def limits(self) -> SandboxLimits:
        """The limits of its commands."""
        disk = self.disk * MIB
        return SandboxLimits(
            seconds=float(self.seconds),
            memory=self.memory * MIB,
            address_space=max(2048, 2 * self.memory) * MIB,
            processes=256,
            file_size=disk,
            disk=disk,
            files=self.files,
            scratch=min(disk, 256 * MIB),
            output=OUTPUT,
        )


PART = SettingsPart("Workspaces of tasks", WorkspaceSettings)


def workspace_settings(settings: PluginSettings) -> WorkspaceSettings:
    """What is set in a home."""
    return settings.of("workspace", WorkspaceSettings)


def workspaces_of(
    settings: PluginSettings,
    clock: Clock,
    secrets: Callable[[], Collection[str]] = frozenset,
) -> Workspaces:
    """The workspaces of a home, as it is set now."""
    chosen = workspace_settings(settings)
    archive = CheckpointArchive(archive_place(settings))
    kept = chosen.checkpoints
    return Workspaces(settings.home, archive, clock, chosen.limits, keep=kept, secrets=secrets)


def archive_place(settings: PluginSettings) -> Path | str:
    """Where the checkpoints of a home's workspaces are kept."""
    return workspace_settings(settings).bucket or settings.home / CHECKPOINTS
