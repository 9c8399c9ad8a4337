"""What `python -m attention_audit` does beside running cells: one module a command.

Each module has `ABOUT` (one line for the help), `add_arguments(parser)` and `run(arguments)`, which
returns the exit code.
"""
