"""Charts of reports: bars, lines, maps, drawn as SVG."""
