"""Users' own configuration files, in the folders that ATTENTION_AUDIT_CONF names."""

from __future__ import annotations

import os
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin

VARIABLE = "ATTENTION_AUDIT_CONF"


def own_folders() -> list[Path]:
    """The folders that the variable names."""
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [Path(folder).expanduser().resolve() for folder in named if folder]


class OwnFolders(SearchPathPlugin):
    """Adds the folders, several parted as in PATH, after the program's own.

    A file `dataset/mine.yaml` in one of them makes `dataset=mine` an option.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for folder in own_folders():
            search_path.append("attention_audit", folder.as_uri())
