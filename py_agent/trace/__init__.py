"""The trace of a turn: every event, prompt and completion, byte for byte, as JSON lines in the spool."""
