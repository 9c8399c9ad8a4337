"""The report: a folder of pages that open from the disk and ask nothing of any network.

Each cell's data are a script file of their own, which a page loads when they are asked for:
a page that was opened from a disk may not fetch anything else.
"""

from attention_audit.report.site.site import INSTANCES, write_site

__all__ = ["INSTANCES", "write_site"]
