"""CPU time of a query, from Spark's own task metrics, and of the whole JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def seconds(spark: SparkSession) -> float:
    """CPU seconds of the JVM so far, driver and tasks, compiler and garbage collector."""
    used = spark._jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get()
    return float(used.toNanos()) / 1e9


def cpu_ns(query: DataFrame) -> int:
    """CPU nanoseconds of the tasks of one run; not those of jobs that planning starts (Delta's samples)."""
    context = query.sparkSession.sparkContext._jsc.sc()
    run = query._jdf.queryExecution()
    run.executedPlan()
    before = last_job(context)
    run.toRdd().count()
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    own = range(before + 1, last_job(context) + 1)
    return sum(store.lastStageAttempt(s).executorCpuTime() for job in own for s in stages(store.job(job)))


def last_job(context: Any) -> int:
    """Number of the latest job, -1 if there was none."""
    found = context.statusStore().jobsList(None)
    return max((found.apply(i).jobId() for i in range(found.size())), default=-1)


def stages(job: Any) -> list[int]:
    """The numbers of a job's stages."""
    return [job.stageIds().apply(i) for i in range(job.stageIds().size())]
