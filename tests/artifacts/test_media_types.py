"""What bytes are is seen from the bytes alone."""

from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from loopforge.artifacts.media_types import BYTES, TEXT, media_of, read_text, sides_of

KINDS = {
    "image/png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "image/gif": b"GIF89a\x01\x00\x01\x00",
    "image/webp": b"RIFF\x0a\x0a\x0a\x0aWEBPVP8 ",
    "image/heic": b"\x00\x00\x00\x24ftypheic\x00\x00\x00\x00mif1",
    "image/avif": b"\x00\x00\x00\x20ftypavif\x00\x00\x00\x00mif1",
    "audio/mp4": b"\x00\x00\x00\x1cftypM4A \x00\x00\x00\x00",
    "application/pdf": b"%PDF-1.7\n1 0 obj",
    "application/octet-stream": b"PK\x03\x04 some archive",
}


@pytest.mark.parametrize(("media", "data"), KINDS.items(), ids=KINDS)
def test_common_kinds_are_known(media: str, data: bytes) -> None:
    """The first bytes tell the kind, and none of these is read as text."""
    assert media_of(data) == media
    assert read_text(data, 1000) is None


@pytest.mark.parametrize(
    "data",
    [b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>", b"<html><script>x()</script>"],
)
def test_what_a_browser_could_run_is_text(data: bytes) -> None:
    """A drawing or a page that could carry a script is plain text, nothing else."""
    assert media_of(data) == TEXT


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read(encoding: str) -> None:
    """UTF-8 with or without its mark, and UTF-16 with its mark, are the text they hold."""
    data = "Grüße, 世界 🐌\n".encode(encoding)
    assert media_of(data) == TEXT
    assert read_text(data, 1000) == "Grüße, 世界 🐌\n"


@pytest.mark.parametrize(
    "data", [b"a\x00b", b"\xff\xfe\x00", b"\xe9t\xe9", b"\xed\xa0\x80", "a".encode("utf-16-le")]
)
def test_what_is_no_text_is_not_read(data: bytes) -> None:
    """NULs, half letters, old encodings and UTF-16 without its mark are bytes."""
    assert media_of(data) == BYTES
    assert read_text(data, 1000) is None


def test_a_text_that_is_too_long_is_not_read() -> None:
    """The limit counts the bytes of the text in UTF-8, and a text of just so many is read."""
    assert read_text("éé".encode(), 4) == "éé"
    assert read_text("éé".encode(), 3) is None
    assert read_text("éé".encode("utf-16"), 4) == "éé"


@given(data=st.binary(max_size=300))
def test_anything_has_a_type(data: bytes) -> None:
    """Whatever the bytes, they have a type, and are read as text exactly where it is text."""
    assert (read_text(data, 10_000) is not None) == (media_of(data) == TEXT)


WAYS: dict[str, dict[str, Any]] = {
    "png": {"format": "PNG"},
    "gif": {"format": "GIF"},
    "jpeg": {"format": "JPEG"},
    "jpeg in passes": {"format": "JPEG", "progressive": True, "comment": b"x" * 3000},
    "webp": {"format": "WEBP"},
    "webp without loss": {"format": "WEBP", "lossless": True},
    "webp with more": {"format": "WEBP", "exif": b"Exif\0\0" + b"x" * 20},
}


def drawn(width: int, height: int, **way: Any) -> bytes:
    """A real picture, written by somebody else's code."""
    written = BytesIO()
    Image.new("RGB", (width, height), "olive").save(written, **way)
    return written.getvalue()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("sides", [(1, 1), (640, 480), (300, 1025)])
def test_a_pictures_sides_are_read_from_its_head(
    way: dict[str, Any], sides: tuple[int, int]
) -> None:
    """PNG, GIF, JPEG and WebP in each of its three forms say how wide and high they are."""
    assert sides_of(drawn(*sides, **way)) == sides


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@given(cut=st.integers(0, 400), damage=st.binary(max_size=40))
def test_a_broken_head_is_no_error(way: dict[str, Any], cut: int, damage: bytes) -> None:
    """Whatever is cut off or written over, two numbers come back, and none is below zero."""
    data = drawn(33, 44, **way)[:cut] + damage
    assert all(side >= 0 for side in sides_of(data))


ENDLESS = drawn(33, 44, format="JPEG").replace(b"\xff\xdb", b"\xff" * 20_000 + b"\xdb", 1)


@pytest.mark.parametrize(
    "data", [b"", b"plain words", b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, ENDLESS]
)
def test_what_has_no_sides(data: bytes) -> None:
    """What is no picture, or says nothing of its sides, has none; nor what never comes to them."""
    assert sides_of(data) == (0, 0)
