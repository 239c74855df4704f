"""A circle is known by its steps; waiting is none."""

from loopforge.core.work.stuck_detection import SeenStep, circle_of


def step(action: str, observation: str = "the same") -> SeenStep:
    """Something was done and seen."""
    return SeenStep(f"work_run {action}", observation)


def test_the_same_four_times_is_a_circle() -> None:
    """Three times are none, and neither are four with another outcome among them."""
    assert circle_of([step("make")] * 4)
    assert not circle_of([step("make")] * 3)
    assert not circle_of([*[step("make")] * 3, step("make", "another")])


def test_two_things_in_turn_are_a_circle_after_six_steps() -> None:
    """Five are none; three things in turn are none."""
    assert circle_of([step("make"), step("make clean")] * 3)
    assert not circle_of([step("make"), step("make clean")] * 2 + [step("make")])
    assert not circle_of([step("a"), step("b"), step("c")] * 2)


def test_waiting_is_no_circle() -> None:
    """Looking how far something is may be done as often as need be."""
    assert not circle_of([step("kubectl get pods")] * 9)
    assert not circle_of([step("sleep 5"), step("tail -n 1 build.log")] * 5)


def test_what_came_before_is_forgiven() -> None:
    """Only the last steps count."""
    assert not circle_of([*[step("make")] * 8, step("edit"), step("make", "ok")])
