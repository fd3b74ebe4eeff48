"""LangChain's callbacks, made into trace events.

LangChain tells a callback handler of every chain, model and tool that starts or ends,
each with a run id and the id of the run around it. `TraceHandler` turns that into the
events that the other engines write. It patches nothing: it is handed over as a
callback, and LangChain does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from workbook.langchain_trace.messages import (
    action_as_turn,
    answer_of,
    finish_as_turn,
    message_as_turn,
    messages_of,
    prompt_of,
    question_of,
    stop_of,
    text_of,
    turn_of,
)
from workbook.langchain_trace.run_events import RunEvents
from workbook.loop.naive import Emit

# AgentExecutor runs these two for a name that it does not know, and for a turn that
# its parser refused.
INVALID_TOOL = "invalid_tool"
EXCEPTION_TOOL = "_Exception"


class TraceHandler(BaseCallbackHandler):
    """Writes one run of a LangChain agent or chain as trace events.

    Give it to any: `agent.invoke(…, config={"callbacks": [TraceHandler(emit)]})`.
    A model call made inside a tool names that tool's `tool_call` event as its parent. A
    model or a tool that is no part of such a run is refused with a ValueError, and so
    is a second run.

    Args:
        emit: gets the events; a `TraceWriter`, for instance.
        engine: the name that `run_started` carries.
        tools: the tools' names, for `run_started`.
    """

    raise_error = True  # an event that cannot be written is not passed over in silence
    run_inline = True  # in order, also in asynchronous runs

    def __init__(
        self, emit: Emit, *, engine: str = "langchain", tools: Sequence[str] = ()
    ) -> None:
        self.events = RunEvents(emit, engine, tools)
        self._root: UUID | None = None
        self._in_messages: set[UUID] = set()  # model runs that no parser reads
        self._action: AgentAction | None = None  # what the parser read last
        self._stopped = False

    # Chains: the outermost one is the run.

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Begin the run where this chain has none around it."""
        around = kwargs["parent_run_id"]
        self.events.enter(run_id, around)
        if around is not None:
            return
        if self._root is not None:
            raise ValueError(
                "a TraceHandler writes one run: make another one for the next run"
            )
        self._root = run_id
        self.events.begin(question_of(inputs))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """End the run with its answer."""
        if run_id != self._root:
            return
        self._read_tool_messages(messages_of(outputs))
        answer = answer_of(outputs)
        if self._stopped:
            self.events.finish("EXHAUSTED", "max_iterations", answer)
        else:
            # Words that no agent's parser was to read, as a chain's, are the answer.
            self.events.parsed(message_as_turn(answer))
            self.events.finish("DONE", "final_answer", answer)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, **kwargs: Any
    ) -> None:
        """End the run with what was raised."""
        if run_id == self._root:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Write the end of a run that ended with an exception."""
        for run_id in self.events.still_running():  # a cancelled run leaves some behind
            self.on_tool_error(error, run_id=run_id)
        name = type(error).__name__
        if name == "GraphRecursionError":
            self.events.finish("EXHAUSTED", "recursion_limit", message=str(error))
        else:
            self.events.finish("ERROR", name, message=str(error))

    # Models

    def on_llm_start(
        self, serialized: Any, prompts: list[str], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Write the request to a model that takes a text."""
        self._enter(run_id, kwargs)
        self.events.request(run_id, prompts[0], stop_of(kwargs))

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        """Write the request to a model that takes messages."""
        self._enter(run_id, kwargs)
        self._read_tool_messages(messages[0])
        prompt = prompt_of(messages[0], kwargs)
        if isinstance(prompt, list):
            self._in_messages.add(run_id)
        self.events.request(run_id, prompt, stop_of(kwargs))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Write the model's turn."""
        fields = turn_of(response)
        self.events.turn(run_id, fields)
        if run_id in self._in_messages:
            self.events.parsed(message_as_turn(fields["text"]))

    def on_agent_action(self, action: AgentAction, **kwargs: Any) -> None:
        """Note what the classic agent's parser read in the turn."""
        self._action = action
        readable = action.tool != EXCEPTION_TOOL
        self.events.parsed(action_as_turn(action) if readable else None)

    def on_agent_finish(self, finish: AgentFinish, **kwargs: Any) -> None:
        """Note the answer that the parser read, or that the run was stopped."""
        # AgentExecutor makes one without a log when its iterations have run out.
        self._stopped = not finish.log
        self.events.parsed(finish_as_turn(finish))

    # Tools

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Write the call, under the model's call id where it gave one."""
        self._enter(run_id, kwargs)
        tool = str((serialized or {}).get("name") or "?")
        arguments: Mapping[str, Any] = kwargs.get("inputs") or {"input": input_str}
        if tool == EXCEPTION_TOOL:
            return  # no call: so the model is told why its turn was refused
        made_up = self._action if tool == INVALID_TOOL else None
        if made_up is not None:
            tool, arguments = made_up.tool, {"input": made_up.tool_input}
        call_id = kwargs.get("tool_call_id")
        self.events.call(run_id, tool, arguments, call_id, exists=made_up is None)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Write what the tool answered."""
        # A message has a status; of a text, that of one of our tools says it.
        failed = getattr(output, "status", "") == "error"
        ok = getattr(output, "ok", not failed)
        self.events.observe(run_id, ok, text_of(output))

    def on_tool_error(
        self, error: BaseException, *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Write what the tool raised."""
        name = type(error).__name__
        self.events.observe(run_id, False, str(error) or name, error=name)

    def _enter(self, run_id: UUID, told: Mapping[str, Any]) -> None:
        if self._root is None:
            raise ValueError(
                "a TraceHandler writes the run of an agent or a chain, and this is"
                " neither: hand it over in config['callbacks'] of the agent's invoke"
            )
        self.events.enter(run_id, told["parent_run_id"])

    def _read_tool_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Write the calls that were answered without a callback.

        For a tool that does not exist LangGraph runs none; only the message says so.
        """
        for message in messages:
            if isinstance(message, ToolMessage):
                ok = message.status != "error"
                self.events.answered(message.tool_call_id, ok, text_of(message))
