"""Why a line came to be: its flight record, built, redacted and told."""
