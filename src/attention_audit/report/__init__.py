"""What is shown of results: reads files and the store, never a model."""
