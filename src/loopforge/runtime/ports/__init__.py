"""Ports: what the runtime needs of the world, each one or two methods.

Adapters live elsewhere (ledger/, models/, tools/, io/) and are wired in app.py. Nothing above a
port knows which adapter serves it. Import them from here.
"""

from loopforge.runtime.ports.effect_ports import (
    CallPermission as CallPermission,
    EffectFiles as EffectFiles,
    EffectPlace as EffectPlace,
    EffectQueue as EffectQueue,
    EffectRooms as EffectRooms,
    EffectSite as EffectSite,
    InnerPermission as InnerPermission,
    InnerSite as InnerSite,
    OpenEffect as OpenEffect,
)
from loopforge.runtime.ports.lane_ports import (
    Lanes as Lanes,
    Timers as Timers,
)
from loopforge.runtime.ports.ledger_port import Ledger as Ledger
from loopforge.runtime.ports.memory_port import (
    ItemRecall as ItemRecall,
    MateMemory as MateMemory,
    Recall as Recall,
)
from loopforge.runtime.ports.model_ports import (
    ANEW as ANEW,
    AnswerListener as AnswerListener,
    Embeddings as Embeddings,
    WeightedEmbeddings as WeightedEmbeddings,
    ModelFacts as ModelFacts,
    ModelListener as ModelListener,
    ModelReply as ModelReply,
    Models as Models,
    QuestionPicture as QuestionPicture,
    Pictures as Pictures,
    PricedModels as PricedModels,
    Question as Question,
    Route as Route,
    WordEmbeddings as WordEmbeddings,
)
from loopforge.runtime.ports.room_ports import (
    LineButton as LineButton,
    LineRoute as LineRoute,
    LineSource as LineSource,
    OrderRoute as OrderRoute,
    RoomLine as RoomLine,
    RoomOrder as RoomOrder,
    RoomVoice as RoomVoice,
)
from loopforge.runtime.ports.signal_ports import (
    Draft as Draft,
    Listening as Listening,
    Rested as Rested,
    Signal as Signal,
    Signals as Signals,
    Thinking as Thinking,
    ToolProgress as ToolProgress,
    Withdrawn as Withdrawn,
)
from loopforge.runtime.ports.sink_port import (
    SinkStanding as SinkStanding,
    SinkStandings as SinkStandings,
)
from loopforge.runtime.ports.surface_port import (
    Outgoing as Outgoing,
    Surface as Surface,
)
from loopforge.runtime.ports.time_ports import (
    Clock as Clock,
    Dice as Dice,
)
from loopforge.runtime.ports.tool_ports import (
    PeopleAsked as PeopleAsked,
    RoomFiles as RoomFiles,
    RoomHistory as RoomHistory,
    Tool as Tool,
    ToolCall as ToolCall,
    ToolDoor as ToolDoor,
    ToolFile as ToolFile,
    ToolHome as ToolHome,
    ToolMaker as ToolMaker,
    ToolResult as ToolResult,
    Tools as Tools,
    ToolWork as ToolWork,
    UsedTool as UsedTool,
    arguments_schema as arguments_schema,
    named_tools as named_tools,
    told_to_nobody as told_to_nobody,
    tool_work as tool_work,
)
