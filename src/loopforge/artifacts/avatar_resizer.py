"""Making a picture small: a program that `avatar_upload.py` starts and limits.

    python -I avatar_resizer.py SIDE SECONDS MEMORY < photo.jpg > face.webp

The middle of a PNG, JPEG, GIF or WebP (of several frames the first), the way up that its camera
says, as a WebP of at most SIDE pixels a side and with nothing else in it: no place, no camera, no
comment. It ends with 3 where the bytes are no such picture. It confines itself before it looks at
the first byte: to SECONDS of a processor and MEMORY bytes of address space. It knows nothing of
Loopforge.
"""

import io
import resource
import sys

KINDS = ("PNG", "JPEG", "GIF", "WEBP")
UNREADABLE = 3
QUALITY = 82


def small(data: bytes, side: int) -> bytes:
    """The picture as it is kept. Raises whatever Pillow does of what is none."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(data), formats=KINDS) as opened:
        opened.draft("RGB", (2 * side, 2 * side))  # of a JPEG no more is decoded than is needed
        upright = ImageOps.exif_transpose(opened)
        clear = "A" in upright.mode or "transparency" in upright.info
        plain = upright.convert("RGBA" if clear else "RGB")
    side = min(side, *plain.size)
    fitted = ImageOps.fit(plain, (side, side), Image.Resampling.LANCZOS)
    bare = Image.new(fitted.mode, fitted.size)  # holds pixels alone, whatever the other one holds
    bare.paste(fitted)
    held = io.BytesIO()
    bare.save(held, "WEBP", quality=QUALITY, method=6)
    return held.getvalue()


def main() -> None:
    """Read what comes in, write what is kept of it."""
    side, seconds, memory = map(int, sys.argv[1:4])
    import PIL.Image
    import PIL.ImageOps

    PIL.Image.init()
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    try:
        told = small(sys.stdin.buffer.read(), side)
    except Exception:
        sys.exit(UNREADABLE)
    sys.stdout.buffer.write(told)


if __name__ == "__main__":
    main()
