"""What a chart's specification must be: valid by the schema of Vega-Lite itself."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import jsonschema
import pytest

from tests.__main__ import NODE

SCHEMA = NODE / "node_modules" / "vega-lite" / "build" / "vega-lite-schema.json"


@cache
def _read() -> Any:
    return jsonschema.Draft7Validator(json.loads(SCHEMA.read_text("utf-8")))


def validator() -> Any:
    """The schema's validator; the test is skipped where it is not installed, but not in CI."""
    if not SCHEMA.exists():
        if os.environ.get("CI"):
            pytest.fail("the schema of Vega-Lite is not installed")
        pytest.skip("the schema of Vega-Lite is not installed; run: python3 -m tests")
    return _read()
