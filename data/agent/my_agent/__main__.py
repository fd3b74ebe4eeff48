"""`python -m my_agent`: the same as the command."""

import sys

from .cli import main

sys.exit(main())
