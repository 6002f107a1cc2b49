"""A session that was started without the extension: what attach makes possible there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import spark_zorder
from spark_zorder import _install
from support import facts_of

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A session that was started without us."""
    return facts_of("attach_session.py", tmp_path_factory.mktemp("attach"))


def test_before_attach_the_doctor_says_what_to_do(facts):
    assert facts["ok_before"] is False
    assert any("spark_zorder.attach(spark)" in advice for advice in facts["advice_before"])


def test_before_attach_everything_says_the_same_sentence(facts):
    refused = facts["refused"]
    assert len(refused) == 10
    sentence = "spark-zorder is not installed in this session: call spark_zorder.attach(spark)"
    wrong = {name: text for name, text in refused.items() if not text.startswith(sentence)}
    assert wrong == {}


def test_a_running_session_is_not_configured_unless_it_has_the_jar(facts):
    before, after = facts["configured"]
    assert before.startswith("A session runs already") and after == "nothing"


def test_the_jar_is_the_one_for_the_session(facts):
    assert facts["jar"] is True


def test_functions_are_registered_in_the_version_of_the_package(facts):
    assert facts["functions"] == spark_zorder.__version__
    assert facts["ordered"] is True and facts["guarded"] is True


def test_the_parser_stays_sparks_own_and_the_doctor_names_only_that(facts):
    assert facts["understood"] is False
    assert facts["advice_after"] == ["OPTIMIZE and ZORDER in spark.sql"]


def test_optimize_runs_through_the_bridge(facts):
    assert (facts["dry"], facts["status"]) == ("DRY_RUN", "DONE")
    assert facts["same"] is True and facts["history"] == 1


def test_cluster_gives_so_many_partitions(facts):
    assert facts["cluster"] == 4


def test_the_classes_are_found_from_another_thread(facts):
    assert facts["in_thread"] is True


def test_queries_are_logged_through_the_bridge(facts):
    assert (facts["logged"], facts["of_sql"]) == (1, 1)


def test_configure_in_a_jvm_that_runs_already(tmp_path):
    """As in a notebook, after spark.stop()."""
    facts = facts_of("restarted_session.py", tmp_path)
    assert facts.pop("usage") == [2, 0, 2]
    assert facts == {"status": "DONE", "keys": 4, "doctor": True}


def test_a_catalog_without_functions_has_none_of_ours():
    """Unity Catalog's connector, if it is the current catalog."""
    from pyspark.errors import AnalysisException

    def refused(_):
        raise AnalysisException("Catalog unity does not support functions.")

    spark = SimpleNamespace(catalog=SimpleNamespace(functionExists=refused))
    assert spark_zorder._session.has_functions(spark) is False


def test_the_jar_is_chosen_by_the_session_and_not_by_what_is_on_disk(monkeypatch):
    """Databricks has Spark's jars elsewhere than pyspark has."""
    added = []
    spark = SimpleNamespace(
        sql=lambda text: added.append(text) or SimpleNamespace(collect=list),
        conf=SimpleNamespace(get=lambda *_: "false"),
    )
    monkeypatch.setattr(_install, "own_jar", lambda session: "/x/ours.jar" if session is spark else None)
    monkeypatch.setattr(_install, "_check_jar", lambda _: None)
    monkeypatch.setattr(_install._session, "is_connect", lambda _: False)
    monkeypatch.setattr(_install._session, "jvm_class", lambda *_: added or None)
    monkeypatch.setattr(_install._session, "version_of", lambda _: spark_zorder.__version__)
    assert spark_zorder.attach(spark) is spark
    assert added == ["ADD JAR '/x/ours.jar'"]
