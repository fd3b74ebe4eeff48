"""A scripted model at its first turn again; any other model as it is.

Who plays the same run twice wants the same words twice. It knows scripts, and no runs.
"""

import copy
from typing import Any

from workbook.models.script import Script


def anew(model: Any) -> Any:
    """Return a model whose script, if it plays one, is at its first turn.

    The model itself is left as it is, so that what it was asked can still be read.

    >>> script = Script(["once"])
    >>> script.complete("?").text, anew(script).complete("?").text
    ('once', 'once')
    """
    if isinstance(model, Script):
        again = copy.copy(model)
        again.forget()
        return again
    if isinstance(getattr(model, "script", None), Script):  # LangChain's kind
        return model.model_copy(update={"script": anew(model.script)})
    return model
