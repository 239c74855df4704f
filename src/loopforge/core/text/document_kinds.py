"""The kinds of documents whose text mates read, by their media type, and what people call them."""

from typing import NamedTuple

PDF = "application/pdf"
HTML = "text/html"
"""A page of the web; read like a document where it comes from there."""
_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OFFICE}wordprocessingml.document"
PPTX = f"{_OFFICE}presentationml.presentation"
XLSX = f"{_OFFICE}spreadsheetml.sheet"


class DocumentKind(NamedTuple):
    """How files of a kind end, what one is called with its article, and what its parts are."""

    ending: str
    name: str
    unit: str


DOCUMENTS = {
    PDF: DocumentKind("pdf", "a PDF", "page"),
    DOCX: DocumentKind("docx", "a Word document", "page"),
    PPTX: DocumentKind("pptx", "a presentation", "slide"),
    XLSX: DocumentKind("xlsx", "a spreadsheet", "sheet"),
}
