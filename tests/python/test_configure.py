"""configure() appends and never overwrites. No session is started here."""

from __future__ import annotations

import pytest
import spark_zorder
from spark_zorder import _install


class Builder:
    """As much of pyspark's builder as configure() uses."""

    def __init__(self, **options):
        self._options = {key.replace("__", "."): value for key, value in options.items()}

    def config(self, key, value):
        self._options[key] = value
        return self


@pytest.fixture(autouse=True)
def no_jvm(monkeypatch):
    monkeypatch.setattr(_install, "_of_running_jvm", lambda key: None)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)


def extensions(builder):
    return builder._options["spark.sql.extensions"].split(",")


def jars(builder):
    return builder._options["spark.jars"].split(",")


def test_returns_the_builder_with_jar_and_extension():
    builder = Builder()
    assert spark_zorder.configure(builder) is builder
    assert extensions(builder) == [_install.EXTENSION]
    assert len(jars(builder)) == 1 and "spark-zorder-spark" in jars(builder)[0]


def test_what_is_set_stays_and_ours_is_last():
    builder = Builder(spark__jars="/x/delta.jar, /x/b.jar", spark__sql__extensions="io.delta.X,org.Y")
    spark_zorder.configure(builder)
    assert jars(builder)[:2] == ["/x/delta.jar", "/x/b.jar"] and len(jars(builder)) == 3
    assert extensions(builder) == ["io.delta.X", "org.Y", _install.EXTENSION]


def test_twice_is_once_and_ours_moves_to_the_end():
    builder = spark_zorder.configure(Builder(spark__sql__extensions=f"{_install.EXTENSION},org.Y"))
    again = spark_zorder.configure(builder)
    assert extensions(again) == ["org.Y", _install.EXTENSION]
    assert len(jars(again)) == 1


def test_on_a_terminal_runs_say_their_steps_unless_somebody_decided(monkeypatch):
    monkeypatch.setattr(_install, "_on_terminal", lambda: True)
    assert spark_zorder.configure(Builder())._options[_install.PROGRESS] == "true"
    quiet = Builder(spark__zorder__progress__show="false")
    assert spark_zorder.configure(quiet)._options[_install.PROGRESS] == "false"
    monkeypatch.setattr(_install, "_on_terminal", lambda: False)
    assert _install.PROGRESS not in spark_zorder.configure(Builder())._options


def test_values_of_spark_defaults_stay(tmp_path, monkeypatch):
    (tmp_path / "spark-defaults.conf").write_text("# x\nspark.sql.extensions   org.Y\nspark.jars=/x/a.jar\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    builder = spark_zorder.configure(Builder())
    assert extensions(builder) == ["org.Y", _install.EXTENSION]
    assert jars(builder)[0] == "/x/a.jar"


def test_values_of_submit_args_stay(monkeypatch):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.sql.extensions=org.Z pyspark-shell")
    assert extensions(spark_zorder.configure(Builder())) == ["org.Z", _install.EXTENSION]


def test_the_builder_of_a_remote_server_is_left_alone():
    builder = Builder(spark__remote="sc://host:15002")
    assert spark_zorder.configure(builder)._options == {"spark.remote": "sc://host:15002"}
