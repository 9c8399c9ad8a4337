from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    """The folder of real corpora; the test is skipped where there is none."""
    folder = os.environ.get("ATTENTION_AUDIT_DATA")
    if not folder:
        pytest.skip("ATTENTION_AUDIT_DATA is not set: no real corpora to compare with")
    return Path(folder)
