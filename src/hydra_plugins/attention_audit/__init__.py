"""Hydra plugins: found by Hydra by their place, `hydra_plugins.<name>`."""
