"""Rooms, memory and tasks wired together: neither of them knows the other.

Belongs to the composition root (app.py).
"""

from loopforge.artifacts.file_lookup import KeptRoomFiles
from loopforge.chat.commands.approval_commands import ApprovalCommands
from loopforge.chat.commands.command_dispatch import RoutedCommands
from loopforge.chat.room_loop import RoomLoop
from loopforge.chat.server import Rooms
from loopforge.chat.service.room_closing import RoomClosing
from loopforge.chat.turns.progress_lines import ProgressLines
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.memory_opening import RoomMemory
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.delivery_worker import Deliveries
from loopforge.work.threads.thread_posts import ThreadPosts
from loopforge.work.threads.thread_routing import ThreadRouting
from loopforge.work.work_parts import TaskMemory, WorkParts


def task_memory(memory: RoomMemory, people: PersonRegistry, ledger: SqlLedger) -> TaskMemory:
    """Where tasks keep what they taught, whose names it must not hold, how words are forgotten."""

    async def names() -> list[str]:
        return [str(one.name) for one in await people.everybody()]

    return TaskMemory(memory.store, names, ledger.erase)


def threads_of(
    work: WorkParts,
    rooms: Rooms,
    conduct: RoomLoop,
    deliveries: Deliveries,
    files: KeptRoomFiles,
    approvals: ApprovalCommands,
    closing: RoomClosing,
) -> tuple[WorkParts, RoutedCommands]:
    """Let lines and commands of rooms go to tasks, and tasks speak in rooms; those commands."""
    ports = work.ports
    voice = ProgressLines(ports.ledger, rooms.house, rooms.surfaces, deliveries, ports.stamp)
    routing = ThreadRouting(ports.ledger, work.tasks, rooms.mates, files, voice)
    conduct.routing.route = routing
    closing.beside = routing.ended
    work.forgetting.voice = voice
    posts = ThreadPosts(ports.ledger, work.tasks, voice, files, ports.stamp, ports.tasks)
    return work._replace(posts=posts), RoutedCommands(rooms, approvals, routing)
