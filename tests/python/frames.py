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
    plain = spark.range(1)
    assert isinstance(done, type(plain)) and type(done).__module__ == type(plain).__module__
    for frame, status in ((dry, "DRY_RUN"), (done, "DONE"), (table.history(), "run")):
        assert repr(frame).startswith(status) and "DataFrame[" not in repr(frame)
        assert max(map(len, repr(frame).splitlines())) <= 140
    assert repr(done.select("status")) == "DataFrame[status: string]"
    for frame, status, head in ((dry, "DRY_RUN", "forecast"), (done, "DONE", "measured")):
        shown = html_of(frame)
        assert f"<b>{status}</b>" in shown and head in shown and "x bound" in shown
        rows = re.findall(r"<td[^>]*>(\w+)</td><td[^>]*>(files|row groups|pages)</td>", shown)
        assert [r for r in rows if r[0] == "a"] == [("a", "files"), ("a", "row groups"), ("a", "pages")]
    # all else as Spark has it
    assert done.select("status").collect()[0][0] == "DONE"
    assert done.unionByName(dry).count() == 2 and done.join(dry, "path").count() == 1
    assert done.toPandas().loc[0, "status"] == "DONE" if find_spec("pandas") else True
    assert type(done.select("status")) is type(plain)
    check_names_that_delta_users_guess(spark, path, table)
    assert "OPTIMIZE" in html_of(table.history())
    assert "ROLLED_BACK" in html_of(table.rollback())


def check_names_that_delta_users_guess(spark, path, table):
    """After one run."""
    assert repr(table) == f"ZOrderTable.forPath(spark, {path!r})"
    assert repr(table.optimize()).startswith(f"<ZORDER TABLE '{path}': not run yet")
    assert table.toDF().count() == spark.read.parquet(path).count()
    assert ZOrderTable.isZOrderTable(spark, path) and not ZOrderTable.isZOrderTable(spark, f"{path}/none")
    row = table.detail().collect()[0]
    assert (row.name, row.clusteringColumns, row.runs, row.numFiles) == (path, ["a", "b"], 1, 8)
    assert row.sizeInBytes > 10_000 and row.lastRun == table.history(1).collect()[0].finished
    assert "clusteringColumns" in repr(table.detail())
    assert table.vacuum(retention_hours=0, dry_run=True).collect()[0].status == "DRY_RUN"
