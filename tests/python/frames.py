"""What our statements return, as a notebook shows it and as the DataFrame that it is."""

from __future__ import annotations

import re
from importlib.util import find_spec

from spark_zorder import ZOrderTable

OPTIONS = {"fileCount": 8, "force": True}


def html_of(frame):
    """As Jupyter asks: an attribute of the object, unless the object has an answer to everything."""
    assert getattr(frame, "_ipython_canary_method_should_not_exist_", None) is None
    return frame._repr_html_()


def check_frames(spark, path):
    """What a run returns shows itself, and is the DataFrame that it was; on a session of either kind."""
    table = ZOrderTable.forPath(spark, path)
    dry = table.optimize().options(**OPTIONS).dryRun().executeZOrderBy("a", "b")
    done = table.optimize().options(**OPTIONS).executeZOrderBy("a", "b")
    assert type(done) is type(spark.range(1))
    for frame, status, head in ((dry, "DRY_RUN", "forecast"), (done, "DONE", "measured")):
        shown = html_of(frame)
        assert f"<b>{status}</b>" in shown and head in shown and "x bound" in shown
        rows = re.findall(r"<td[^>]*>(\w+)</td><td[^>]*>(files|row groups|pages)</td>", shown)
        assert [r for r in rows if r[0] == "a"] == [("a", "files"), ("a", "row groups"), ("a", "pages")]
    # all else as Spark has it
    assert done.select("status").collect()[0][0] == "DONE"
    assert done.unionByName(dry).count() == 2 and done.join(dry, "path").count() == 1
    assert done.toPandas().loc[0, "status"] == "DONE" if find_spec("pandas") else True
    assert "_repr_html_" not in vars(done.select("status"))
    assert "OPTIMIZE" in html_of(table.history())
    assert "ROLLED_BACK" in html_of(table.rollback())
