"""QR codes of links: for a page, and for a terminal.

Imports nothing of the web, since commands draw the same.
"""

from io import StringIO


def qr_svg(link: str) -> str:
    """The link as a QR code, to stand in a page; dark on light, whatever the page's look."""
    import segno

    drawn: str = segno.make_qr(link).svg_inline(
        scale=4, border=4, light="#fff", dark="#000", svgclass="qr", omitsize=True
    )
    return drawn


def qr_text(link: str) -> str:
    """The link as a QR code in half blocks, for a terminal that is light on dark, or dark."""
    import segno

    drawn = StringIO()
    segno.make_qr(link).terminal(drawn, border=2, compact=True)
    return drawn.getvalue()
