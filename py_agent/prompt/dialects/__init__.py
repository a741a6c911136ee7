"""Model dialects: how messages and tools become the text that a model was trained on."""
