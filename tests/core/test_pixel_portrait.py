"""Portraits: eight by eight pixels, always the same for one seed."""

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.mate_colours import colour_code
from loopforge.core.mates.pixel_portrait import face_rows, portrait_pixels


@given(st.text(max_size=40))
def test_any_seed_has_a_portrait(seed: str) -> None:
    """Whatever the seed, there are eight rows of eight pixels, each a colour or none."""
    drawn = portrait_pixels(seed, "#8f7ee7")
    assert [len(row) for row in drawn] == [8] * 8
    assert all(pixel is None or colour_code(pixel) == pixel for row in drawn for pixel in row)
    assert drawn == portrait_pixels(seed, "#8f7ee7")


def test_few_seeds_share_a_portrait() -> None:
    """Of sixty mates in one colour most can be told apart."""
    assert len({str(portrait_pixels(str(n), "#8f7ee7")) for n in range(60)}) > 40


@given(st.text(max_size=40))
def test_a_face_has_hair_eyes_and_a_mouth(seed: str) -> None:
    """Each is laid over the head, whichever of its kind it is."""
    assert {"H", "E", "M"} <= set("".join(face_rows(seed)))
