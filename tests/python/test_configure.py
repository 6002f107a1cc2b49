"""configure() appends and never overwrites. No session is started here."""

from __future__ import annotations

import os
from pathlib import Path

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
    monkeypatch.setattr(_install, "_jvm_runs", lambda: False)
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


def test_what_is_set_stays_and_ours_is_appended():
    builder = Builder(spark__jars="/x/delta.jar, /x/b.jar", spark__sql__extensions="io.delta.X,org.Y")
    spark_zorder.configure(builder)
    assert jars(builder)[:2] == ["/x/delta.jar", "/x/b.jar"] and len(jars(builder)) == 3
    assert extensions(builder) == ["io.delta.X", "org.Y", _install.EXTENSION]


def test_twice_is_once():
    again = spark_zorder.configure(spark_zorder.configure(Builder(spark__sql__extensions="org.Y")))
    assert extensions(again) == ["org.Y", _install.EXTENSION]
    assert len(jars(again)) == 1


def test_ours_stays_where_it_is_listed():
    """As the guide says for an Iceberg whose extension has to come after ours."""
    listed = [_install.EXTENSION, "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"]
    assert extensions(spark_zorder.configure(Builder(spark__sql__extensions=", ".join(listed)))) == listed


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


@pytest.mark.parametrize(
    "text",
    [
        "spark.jars  s3://b/env=prod/x.jar",
        "spark.jars: s3://b/env=prod/x.jar",
        "spark.jars = /x/old.jar\nspark.jars\ts3://b/env=prod/x.jar\n! spark.jars /x/no.jar\nspark.jars2 /y",
    ],
)
def test_spark_defaults_are_read_as_java_does(tmp_path, monkeypatch, text):
    (tmp_path / "spark-defaults.conf").write_text(text)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert jars(spark_zorder.configure(Builder()))[0] == "s3://b/env=prod/x.jar"


def test_lines_of_spark_defaults_go_on_behind_a_backslash_and_comments_may_have_any_encoding(
    tmp_path, monkeypatch
):
    text = (
        "# für alle \\\nspark.sql.extensions org.D,\\\n    org.I\n"
        "spark.jars /x/a.jar,\\\n\t/x/b.jar\nspark.x y\\\\\nspark.app.name z\\"
    )
    (tmp_path / "spark-defaults.conf").write_text(text, encoding="latin-1")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    builder = spark_zorder.configure(Builder())
    assert extensions(builder) == ["org.D", "org.I", _install.EXTENSION]
    assert jars(builder) == ["/x/a.jar", "/x/b.jar", _install.jar_path()]
    assert _install._of_files("spark.app.name") == "z"


@pytest.mark.parametrize("place", ["builder", "defaults"])
def test_packages_of_a_builder_or_of_defaults_are_kept_on_executors(monkeypatch, tmp_path, place):
    """Jars of a builder would take the place of what spark-submit finds, which has those of packages."""
    (tmp_path / "spark-defaults.conf").write_text("spark.jars.packages g:a:1" if place == "defaults" else "")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    # an empty value, so that what configure() writes is taken back
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "")
    options = {"spark__jars__packages": "g:a:1"} if place == "builder" else {}
    for _ in range(2):
        builder = spark_zorder.configure(Builder(**options))
        assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--jars {_install.jar_path()} pyspark-shell"
        assert "spark.jars" not in builder._options


def test_another_version_of_our_jar_is_refused():
    ours = Path(_install.jar_path()).name
    old = ours.replace(spark_zorder.__version__, "0.0.1")
    with pytest.raises(_install.SetupError, match=rf"/x/{old} is among .* has {ours}: remove the old one"):
        spark_zorder.configure(Builder(spark__jars=f"/x/{old}"))
    # by the name that Ivy gives it
    fetched = f"/ivy/jars/io.github.spark-zorder_{ours}"
    assert jars(spark_zorder.configure(Builder(spark__jars=fetched))) == [fetched]


def test_values_of_submit_args_stay(monkeypatch):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.sql.extensions=org.Z pyspark-shell")
    assert extensions(spark_zorder.configure(Builder())) == ["org.Z", _install.EXTENSION]


@pytest.fixture
def two_files(tmp_path, monkeypatch):
    """A file for --properties-file, beside a spark-defaults.conf."""
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.extensions org.D\nspark.jars /x/d.jar\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    file = tmp_path / "my.conf"
    file.write_text("spark.sql.extensions org.P\n")
    return file


@pytest.mark.parametrize("option", ["--properties-file {}", "--properties-file=/x/none --properties-file={}"])
def test_values_of_a_properties_file_stay_and_those_of_spark_defaults_do_not_count(
    monkeypatch, two_files, option
):
    _, builder = submitted(monkeypatch, f"{option.format(two_files)} pyspark-shell")
    assert extensions(builder) == ["org.P", _install.EXTENSION] and jars(builder) == [_install.jar_path()]
    _, builder = submitted(monkeypatch, f"--load-spark-defaults {option.format(two_files)} pyspark-shell")
    assert extensions(builder) == ["org.P", _install.EXTENSION]
    assert jars(builder) == ["/x/d.jar", _install.jar_path()]
    other = "--conf spark.sql.extensions=org.Z"
    _, builder = submitted(monkeypatch, f"{option.format(two_files)} {other} pyspark-shell")
    assert extensions(builder) == ["org.Z", _install.EXTENSION]


def test_values_of_extra_properties_files_beat_those_of_the_others(monkeypatch, two_files):
    """As spark-submit of Spark 4.3 reads them; its help does not name the option."""
    words = []
    for name in ("E", "F"):
        (two_files.parent / name).write_text(f"spark.sql.extensions org.{name}\n")
        words += ["--extra-properties-file", str(two_files.parent / name)]
    _, builder = submitted(monkeypatch, " ".join([*words, "pyspark-shell"]))
    assert extensions(builder) == ["org.F", _install.EXTENSION] and jars(builder)[0] == "/x/d.jar"
    _, builder = submitted(monkeypatch, " ".join([*words, f"--properties-file {two_files} pyspark-shell"]))
    assert extensions(builder) == ["org.F", _install.EXTENSION] and len(jars(builder)) == 1


def test_packages_of_a_properties_file_are_kept_on_executors(monkeypatch, two_files):
    two_files.write_text("spark.jars.packages=g:a:1\nspark.jars /x/p.jar\n")
    options = f"--properties-file {two_files} pyspark-shell"
    words, builder = submitted(monkeypatch, options)
    assert words == ["--jars", f"/x/p.jar,{_install.jar_path()}", *options.split()]
    assert "spark.jars" not in builder._options


def submitted(monkeypatch, text, **options):
    """What configure() makes of PYSPARK_SUBMIT_ARGS, and the builder."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", text)
    builder = spark_zorder.configure(Builder(**options))
    return os.environ["PYSPARK_SUBMIT_ARGS"].split(" "), builder


@pytest.mark.parametrize(
    "text",
    [
        "--jars /x/a.jar,/x/b.jar pyspark-shell",
        "--jars=/x/a.jar,/x/b.jar pyspark-shell",
        "--jars /x/old.jar --verbose --jars /x/a.jar,/x/b.jar pyspark-shell",
        "--jars=/x/a.jar,/x/b.jar --conf spark.jars=/x/old.jar pyspark-shell --jars /x/of-the-job.jar",
        "--conf spark.jars=/x/a.jar,/x/b.jar pyspark-shell",
    ],
)
def test_jars_of_submit_args_beat_those_of_a_builder_so_ours_is_among_them(monkeypatch, text):
    words, builder = submitted(monkeypatch, text)
    ours = _install.jar_path()
    assert words[:2] == ["--jars", f"/x/a.jar,/x/b.jar,{ours}"]
    assert sum(word.startswith("--jars") for word in words[: words.index("pyspark-shell")]) == 1
    assert ("--verbose" in words, "/x/of-the-job.jar" in words) == ("--verbose" in text, "of-the-job" in text)
    # Spark puts there what it finds, such as the jars of packages
    assert "spark.jars" not in builder._options
    again, _ = submitted(monkeypatch, " ".join(words))
    assert again == words


@pytest.mark.parametrize("option", ["--packages g:a:1", "--conf spark.jars.packages=g:a:1"])
def test_jars_of_a_builder_take_the_place_of_packages_so_ours_is_submitted(monkeypatch, tmp_path, option):
    (tmp_path / "spark-defaults.conf").write_text("spark.jars /x/a.jar\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    words, builder = submitted(monkeypatch, f"{option} pyspark-shell")
    assert words == ["--jars", f"/x/a.jar,{_install.jar_path()}", *option.split(), "pyspark-shell"]
    assert "spark.jars" not in builder._options


def test_jars_of_submit_args_and_of_a_builder(monkeypatch):
    words, builder = submitted(monkeypatch, "--jars /x/a.jar pyspark-shell", spark__jars="/x/b.jar,/x/a.jar")
    assert jars(builder) == ["/x/a.jar", "/x/b.jar", _install.jar_path()] == words[1].split(",")
    assert words[2:] == ["pyspark-shell"]


def test_submit_args_without_jars_stay_as_they_are(monkeypatch):
    text = "--name '--jars' --conf 'spark.a=b c' pyspark-shell --jars /x/of-the-job.jar"
    _, builder = submitted(monkeypatch, text)
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == text and jars(builder) == [_install.jar_path()]


def test_words_of_submit_args_keep_their_quotes(monkeypatch):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars /x/a.jar --conf 'spark.a=b c' pyspark-shell")
    spark_zorder.configure(Builder())
    assert os.environ["PYSPARK_SUBMIT_ARGS"].endswith(" --conf 'spark.a=b c' pyspark-shell")


@pytest.mark.parametrize(
    "text",
    [
        "--conf spark.sql.extensions=org.Y --conf spark.sql.extensions=org.Z pyspark-shell",
        "--conf=spark.sql.extensions=org.Z pyspark-shell",
        "-c spark.sql.extensions=org.Z pyspark-shell --conf spark.sql.extensions=org.Y",
    ],
)
def test_of_submit_args_the_value_that_spark_takes_stays(monkeypatch, text):
    _, builder = submitted(monkeypatch, text)
    assert extensions(builder) == ["org.Z", _install.EXTENSION]


def test_the_builder_of_a_remote_server_is_left_alone():
    builder = Builder(spark__remote="sc://host:15002")
    assert spark_zorder.configure(builder)._options == {"spark.remote": "sc://host:15002"}
