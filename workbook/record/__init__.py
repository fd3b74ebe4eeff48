"""What happened in a run: events, files, tables.

Every engine writes the same events; this room gives them a file, a reader and a face.
"""

from workbook.record.events import Kind, TraceError, TraceEvent
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter

__all__ = ["Kind", "Trace", "TraceError", "TraceEvent", "TraceWriter"]
