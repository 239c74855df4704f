"""Mesa and Concordia, each at the nearest thing it has to a robot's decision; in .venv-bench.

Prints one line of JSON: decisions in a second for each. Mesa: agents that change by a rule, with
its DataCollector over three columns. Concordia: minimal entities under its generic game master in
its sequential engine, and a model that answers everything at once with the same words.
"""

import contextlib
import io
import json
import sys
import time
from typing import Any

SMALL = "--small" in sys.argv
AGENTS, STEPS = (20, 10) if SMALL else (100, 200)
ACTORS, TURNS = (2, 1) if SMALL else (3, 6)


def mesa_rate() -> float:
    """Agent-steps in a second."""
    import mesa

    class Walker(mesa.Agent):  # type: ignore[misc]
        """An agent that gives what it has to somebody, by one rule."""

        def __init__(self, model: Any) -> None:
            super().__init__(model)
            self.stress, self.at = 0.3, 0

        def step(self) -> None:
            """Move and feel."""
            self.at = (self.at + 1) % 10
            self.stress = min(1.0, self.stress + 0.01) if self.at > 5 else self.stress * 0.9

    class City(mesa.Model):  # type: ignore[misc]
        """All of them."""

        def __init__(self) -> None:
            super().__init__(seed=1)
            Walker.create_agents(self, AGENTS)
            self.collector = mesa.DataCollector(
                agent_reporters={"at": "at", "stress": "stress", "id": "unique_id"}
            )

        def step(self) -> None:
            """One step of everybody."""
            self.agents.shuffle_do("step")
            self.collector.collect(self)

    city = City()
    began = time.perf_counter()
    for _ in range(STEPS):
        city.step()
    return AGENTS * STEPS / (time.perf_counter() - began)


def concordia_rate() -> float:
    """Decisions in a second."""
    import numpy as np
    from concordia.language_model import language_model
    from concordia.prefabs.entity import minimal
    from concordia.prefabs.game_master import generic as game_master
    from concordia.prefabs.simulation import generic as simulation
    from concordia.typing import prefab

    class Fixed(language_model.LanguageModel):  # type: ignore[misc]
        """Answers at once, always the same, in the form that is asked for."""

        acts = 0

        def sample_text(self, prompt: str, **_: Any) -> str:
            """A sentence, or the next action's form where that is wanted."""
            if "Respond in  one of the provided formats" in prompt[-200:]:
                return "prompt: What do you do?;;type: free"
            if "Exercise: What do you do?" in prompt[-200:]:
                Fixed.acts += 1
            return "I keep to the rule."

        def sample_choice(self, prompt: str, responses: Any, **_: Any) -> Any:
            """Yes, where yes and no stand to choose; but the story is not finished yet."""
            asked = prompt[-300:]
            wanted = ") No" if "finished?" in asked else ") Yes"
            letter = asked[asked.rfind(wanted) - 1] if wanted in asked else responses[0]
            at = responses.index(letter) if letter in responses else 0
            return at, responses[at], {}

    names = [f"Robot {letter}" for letter in "ABCDEFGH"[:ACTORS]]
    entities = [
        prefab.InstanceConfig(prefab="minimal", role=prefab.Role.ENTITY, params={"name": name})
        for name in names
    ]
    master = prefab.InstanceConfig(
        prefab="generic", role=prefab.Role.GAME_MASTER, params={"name": "the city"}
    )
    config = prefab.Config(
        default_premise="A lamp is lit over the press.",
        default_max_steps=TURNS,
        prefabs={"minimal": minimal.Entity(), "generic": game_master.GameMaster()},
        instances=[*entities, master],
    )
    city = simulation.Simulation(config=config, model=Fixed(), embedder=lambda _: np.ones(8))
    began = time.perf_counter()
    city.play(max_steps=TURNS)
    return Fixed.acts / (time.perf_counter() - began)


def main() -> None:
    """Measure both; what they print themselves is kept out of the way."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = {"mesa": mesa_rate(), "concordia": concordia_rate()}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
