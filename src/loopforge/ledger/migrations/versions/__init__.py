"""One file for each change of the schema. A file here is history: it is never edited."""
