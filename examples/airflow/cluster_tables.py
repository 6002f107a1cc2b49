"""An Airflow DAG that clusters the tables of a list every night, after the loads.

It needs no operator of ours: the command ends with 1 if a table failed, with 4 if another job wrote to a
table at the same time, and else with 0, also if tables were not started when the time was up (NOT_STARTED)
or wait for your consent (NEEDS_CONSENT): its last line counts them. A retry is right for both failures,
since what is done is not done again, but not after ZORDER_COMMIT_UNKNOWN: look at that table first
(docs/guide/errors.md).
"""

from __future__ import annotations

from datetime import datetime, timedelta

# Airflow 3; in Airflow 2 these are airflow.DAG and airflow.operators.bash.BashOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

# the file that spark-submit starts lies in the installed package
MAINTAIN = (
    'spark-submit --master "$SPARK_MASTER" '
    "$(python -c 'import spark_zorder.__main__ as shell; print(shell.__file__)') "
    'maintain --tables "$TABLES" --max-duration 3h --vacuum --hive'
)

with DAG(
    dag_id="cluster_tables",
    schedule="15 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # two runs at once would do nothing twice, but wait for cores
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=15)},
):
    BashOperator(
        task_id="maintain",
        bash_command=MAINTAIN,
        env={"SPARK_MASTER": "yarn", "TABLES": "/etc/zorder/tables.txt"},
        append_env=True,
        execution_timeout=timedelta(hours=6),
    )
