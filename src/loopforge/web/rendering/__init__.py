"""How things look as HTML: lines, Markdown, faces, and what is live."""
