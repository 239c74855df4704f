"""Ports: what the runtime needs of the world, each one or two methods.

Adapters live elsewhere (ledger/, models/, tools/, io/) and are wired in app.py. Nothing above a
port knows which adapter serves it. Import them from here.
"""

from loopforge.runtime.ports.effect_ports import (
    CallPermission,
    EffectFiles,
    EffectPlace,
    EffectQueue,
    EffectRooms,
    EffectSite,
    OpenEffect,
)
from loopforge.runtime.ports.lane_ports import Lanes, Timers
from loopforge.runtime.ports.ledger_port import Ledger
from loopforge.runtime.ports.memory_port import ItemRecall, MateMemory, Recall
from loopforge.runtime.ports.model_ports import (
    ANEW,
    Attentive,
    Embeddings,
    Leaning,
    ModelFacts,
    ModelReply,
    Models,
    Pictured,
    Pictures,
    PricedModels,
    Question,
    Route,
    WordEmbeddings,
)
from loopforge.runtime.ports.room_ports import (
    LineButton,
    LineRoute,
    LineSource,
    OrderRoute,
    RoomLine,
    RoomOrder,
    RoomVoice,
)
from loopforge.runtime.ports.signal_ports import (
    Draft,
    Listening,
    Rested,
    Signal,
    Signals,
    Thinking,
    ToolProgress,
    Withdrawn,
)
from loopforge.runtime.ports.sink_port import SinkStanding, SinkStandings
from loopforge.runtime.ports.surface_port import Outgoing, Surface
from loopforge.runtime.ports.time_ports import Clock, Dice
from loopforge.runtime.ports.tool_ports import (
    RoomFiles,
    RoomHistory,
    Tool,
    ToolCall,
    ToolFile,
    ToolHome,
    ToolMaker,
    ToolResult,
    Tools,
    ToolWork,
    told_to_nobody,
)

__all__ = [
    "ANEW",
    "Attentive",
    "CallPermission",
    "Clock",
    "Dice",
    "Draft",
    "EffectFiles",
    "EffectPlace",
    "EffectQueue",
    "EffectRooms",
    "EffectSite",
    "Embeddings",
    "ItemRecall",
    "Lanes",
    "Leaning",
    "Ledger",
    "LineButton",
    "LineRoute",
    "LineSource",
    "Listening",
    "MateMemory",
    "ModelFacts",
    "ModelReply",
    "Models",
    "OpenEffect",
    "OrderRoute",
    "Outgoing",
    "Pictured",
    "Pictures",
    "PricedModels",
    "Question",
    "Recall",
    "Rested",
    "RoomFiles",
    "RoomHistory",
    "RoomLine",
    "RoomOrder",
    "RoomVoice",
    "Route",
    "Signal",
    "Signals",
    "SinkStanding",
    "SinkStandings",
    "Surface",
    "Thinking",
    "Timers",
    "Tool",
    "ToolCall",
    "ToolFile",
    "ToolHome",
    "ToolMaker",
    "ToolProgress",
    "ToolResult",
    "ToolWork",
    "Tools",
    "Withdrawn",
    "WordEmbeddings",
    "told_to_nobody",
]
