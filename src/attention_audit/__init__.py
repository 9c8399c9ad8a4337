"""May a model's attention be read as its reason? Importing this loads nothing heavy."""

__version__ = "0.1.0"
