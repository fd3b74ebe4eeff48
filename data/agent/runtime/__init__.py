"""The runtime of this agent, a copy that is yours, under the MIT licence."""

import sys
from importlib.util import find_spec

__version__ = "$VERSION"

for name in ("filelock", "httpx", "jsonschema_rs", "orjson", "pydantic"):
    if find_spec(name) is None:
        words = "is not installed: run `pip install -e .` in the folder of the agent."
        print(f"{name} {words}", file=sys.stderr)
        sys.exit(2)
