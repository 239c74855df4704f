"""Looking into runs: one decision, one life, two runs side by side, an audit."""
