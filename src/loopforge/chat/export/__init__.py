"""What is taken along: a room, or everything of a person, as Markdown, JSON and a zip of both."""
