"""Pages of rooms and of mates: lines, streams of events, why, the editor of a mate."""
