"""Makes the Parquet files beside it, which parquet-mr cannot write: run it where pyarrow is installed."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
ROWS = range(4)


def write(name, values, **how):
    """One column `a`, by which to cluster, and one column `x`."""
    table = pa.table({"a": pa.array(ROWS, pa.int32()), "x": values})
    pq.write_table(table, HERE / f"{name}.parquet", **how)


write("float16", pa.array([0.5] * len(ROWS), pa.float16()))
write("null", pa.nulls(len(ROWS)))
write("brotli", pa.array(ROWS, pa.int64()), compression="brotli")
