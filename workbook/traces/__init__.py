"""What happened in a run: events, files, tables.

Every engine writes the same events; here they get a file, a reader and a face.
"""

from workbook.traces.events import Kind, TraceError, TraceEvent
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

__all__ = ["Kind", "Trace", "TraceError", "TraceEvent", "TraceWriter"]
