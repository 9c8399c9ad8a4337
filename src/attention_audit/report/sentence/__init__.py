"""One sentence of the reader's own, and what was measured of a model's attention over it."""

from attention_audit.report.sentence.measured import Kind, Measured, Output, Quantity, Word
from attention_audit.report.sentence.page import page

__all__ = ["Kind", "Measured", "Output", "Quantity", "Word", "page"]
