"""Files by content hash: what people gave to rooms, kept as they came."""
