"""What the tests of LangChain's engines share."""

import pytest

from workbook.runtime.journal import Journal


@pytest.fixture
def journal():
    """A journal in memory: `journal.emit` is given to an engine."""
    return Journal()


@pytest.fixture(scope="session")
def calculator_tool():
    """The workbook's own calculator."""
    from workbook.runtime.calculator import calculator

    return calculator()


@pytest.fixture
def llm_math():
    """LangChain's calculator, which asks a model for each expression."""
    from workbook.langchain_trace.agents import llm_math_tool, math_script

    return llm_math_tool(math_script())


@pytest.fixture
def tool():
    """Make a tool that takes one text and answers as a function says."""
    from workbook.runtime.tools import Tool

    def make(name, answer, description="A tool for tests."):
        def run(input):
            return {"result": answer(input)}

        parameters = {"type": "object", "properties": {"input": {"type": "string"}}}
        return Tool(name, description, parameters, run, timeout_s=None)

    return make
