"""Cluster Spark tables by several columns, and see in numbers what it gained."""

from . import functions, query_log
from ._doctor import doctor
from ._install import attach, configure
from ._jars import jar
from ._layouts import Layout, cluster, fit
from ._skipping import explain_skipping, skipping_usage
from ._table import ZOrderTable
from ._version import __version__
from .functions import hilbert, zorder, zorder_compare, zorder_file, zorder_key
from .view.notebook import show

__all__ = [
    "Layout",
    "ZOrderTable",
    "__version__",
    "attach",
    "cluster",
    "configure",
    "doctor",
    "explain_skipping",
    "fit",
    "functions",
    "hilbert",
    "jar",
    "query_log",
    "show",
    "skipping_usage",
    "zorder",
    "zorder_compare",
    "zorder_file",
    "zorder_key",
]
