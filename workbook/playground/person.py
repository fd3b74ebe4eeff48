"""You, before a run: asked about calls, and free to switch the mode or to stop.

A run waits in a thread of its own for what somebody presses in another one.
"""

import json
import tempfile
import weakref
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from workbook.runtime.machine import Machine
from workbook.runtime.permission import (
    LATER,
    Answer,
    Approve,
    Edit,
    Reject,
    Request,
    digest_of_call,
    set_mode,
)
from workbook.runtime.trace import Event, Kind

YOU = "you"


class You:
    """One person before one run. `request` is what waits for an answer, if anything.

    Args:
        mode: in which the run begins; None is the scenario's own.
        on_text: told each piece of a turn as it is written.
        on_request: called when a request has come, or has gone.
        listener: told each event of the run.
    """

    machine: Machine | None = None
    request: Request | None = None
    stopped = raised = False  # by you; and that this has ended the run

    def __init__(
        self,
        mode: str | None = None,
        on_text: Callable[[str], object] | None = None,
        on_request: Callable[[], object] = lambda: None,
        listener: Callable[[Event], object] = lambda event: None,
    ) -> None:
        self.mode, self.on_text, self.on_request = mode, on_text, on_request
        self.listener = listener
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()

    @cached_property
    def home(self) -> Path:
        """Where a run keeps its files, as long as you are there: it may go on later."""
        folder = tempfile.TemporaryDirectory()
        weakref.finalize(self, folder.cleanup)
        return Path(folder.name)

    def meets(self, machine: Machine) -> None:
        """Listen to the machine that is about to run."""
        self.machine = machine
        machine.on_text = self.on_text
        if self.stopped:
            machine.cancel()

    def ask(self, request: Request) -> Answer | None:
        """Wait until somebody answers, or stops the run: KeyboardInterrupt."""
        self.request = request
        if self.stopped:
            self.say(LATER)
        self.on_request()
        answer = self._answers.get()
        if self.stopped:
            raise KeyboardInterrupt
        return answer

    def say(self, answer: Answer | None) -> None:
        """Answer the request; who answers twice has answered once."""
        if self.request is not None:
            self.request = None
            self._answers.put(answer)
            self.on_request()

    def stop(self) -> None:
        """Stop the run, whatever it does just now."""
        self.stopped = True
        if self.machine is not None:
            self.machine.cancel()
        self.say(LATER)

    def sees(self, event: Event) -> None:
        """Tell the listener; once stopped, end a loop as Ctrl-C would."""
        self.listener(event)
        over = self.raised or event["kind"] == Kind.RUN_FINISHED
        if self.stopped and not over:
            self.raised = True
            if self.machine is None:
                raise KeyboardInterrupt("stopped by the user")

    def switch(self, mode: str) -> None:
        """Change the mode of the run, where its machine has modes."""
        self.mode = mode
        if self.machine is not None and "permission" in self.machine.settings:
            set_mode(self.machine, mode, YOU, "you chose it in the player")


def shown_arguments(request: Request) -> str:
    """Return a call's arguments as a person edits them."""
    return json.dumps(request.call.arguments, indent=2, ensure_ascii=False)


def answered(request: Request, said: str, text: str, why: str) -> Answer | str | None:
    """Return what a person has said, or in words why it cannot be taken so.

    Args:
        request: what was asked.
        said: "approve", "edit", "reject" or "later".
        text: the arguments as they stand in the form now.
        why: in the person's own words.
    """
    call = request.call
    if said == "later":
        return LATER
    if said == "reject":
        return Reject(why, who=YOU)
    changed = text != shown_arguments(request)
    if said == "approve":
        if changed:
            return (
                "The arguments below are not those that were asked for: press Approve "
                "the edit, or put them back."
            )
        return Approve(call.call_id, digest_of_call(call), who=YOU, why=why)
    try:
        arguments: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"This is not JSON ({error}). Nothing was sent; mend it, or reject."
    if not isinstance(arguments, dict):
        return 'Arguments are an object, as {"name": "value"}. Nothing was sent.'
    return Edit(arguments, call.call_id, who=YOU, why=why)
