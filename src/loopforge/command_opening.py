"""The commands of rooms beyond talk, put together: uses of tools, money, time, memories, its end.

Belongs to the composition root (app.py), as the part of it that grows with commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopforge.chat.commands.approval_commands import ApprovalCommands
from loopforge.chat.commands.budget_commands import BudgetCommands
from loopforge.chat.commands.deletion_commands import DeletionCommands
from loopforge.chat.commands.line_versions import LineVersions, VersionCommands
from loopforge.chat.commands.memory_commands import MemoryCommands
from loopforge.chat.commands.reminder_commands import ReminderCommands

if TYPE_CHECKING:
    from loopforge.budgets.budget_reservation import Budgets
    from loopforge.budgets.model_usage import UsageView
    from loopforge.chat.reminders.reminder_service import ReminderService
    from loopforge.chat.server import Rooms
    from loopforge.chat.service.room_closing import RoomClosing
    from loopforge.ledger.sql_ledger import SqlLedger
    from loopforge.live_settings import LiveSettings
    from loopforge.memory_opening import RoomMemory
    from loopforge.runtime.ports import Clock
    from loopforge.tools.tool_registry import ToolRegistry


def more_commands(
    rooms: Rooms,
    tools: ToolRegistry,
    ledger: SqlLedger,
    clock: Clock,
    budgets: Budgets,
    usage: UsageView,
    book: ReminderService,
    memory: RoomMemory,
    live: LiveSettings,
    closing: RoomClosing,
) -> tuple[
    ApprovalCommands,
    BudgetCommands,
    ReminderCommands,
    MemoryCommands,
    DeletionCommands,
    VersionCommands,
]:
    """Commands of rooms about uses of tools, money, time and memories, and their deletion."""
    return (
        ApprovalCommands(rooms, tools, ledger, clock),
        BudgetCommands(rooms, budgets, usage, clock),
        ReminderCommands(rooms, book, clock),
        MemoryCommands(rooms, memory.memories, memory.store, lambda: live.zone),
        DeletionCommands(rooms, closing),
        VersionCommands(LineVersions(ledger, rooms)),
    )
