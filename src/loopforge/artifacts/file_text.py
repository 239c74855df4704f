"""What kept files say, for an erasure that looks for words in them. To be asked in a thread.

Text of any encoding that tells its own, and documents, in their limited process. Does not cover
pictures, sound, archives, and what of a document is beyond the reader's bounds.
"""

import asyncio

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.document_process import read_document
from loopforge.artifacts.media_types import media_of, read_text
from loopforge.core.text.document_kinds import DOCUMENTS

LONGEST = 4_000_000
"""Bytes of text that are taken out of a document."""


class FileText:
    """Reads them out of one store."""

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts

    def __call__(self, hash: str) -> str | None:
        """What it says, by its hash; "" where it is gone already, None where nobody can tell."""
        data = self._artifacts.read(hash)
        if data is None:
            return ""
        media = media_of(data)
        if media in DOCUMENTS:
            reading = asyncio.run(read_document(media, data, LONGEST))
            return None if reading.unread else reading.text
        text = read_text(data, len(data))
        return text if text is not None or b"\0" in data else data.decode(errors="ignore")
