package org.apache.spark.sql.zorder

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.zorder.build.StartCheck
import org.apache.spark.sql.zorder.conf.{SessionKeys, Setting}
import org.apache.spark.sql.zorder.skipping.SkippingRule
import org.apache.spark.sql.zorder.skipping.join.{
  AfterKeysStrategy,
  JoinKeysRule,
  KeysFirstEnds,
  KeysFirstRule
}
import org.apache.spark.sql.zorder.skipping.scan.PlannedScanStrategy
import org.apache.spark.sql.zorder.clustering.sort.ZOrderSortStrategy
import org.apache.spark.sql.zorder.sql.ZOrderParser
import org.apache.spark.sql.zorder.sql.function.{ScalarFunctions, TableFunctions}
import org.apache.spark.sql.zorder.table.parquet.ExchangeGuard
import org.apache.spark.sql.zorder.querylog.QueryLogging

/**
 * What Spark loads: `spark.sql.extensions=org.apache.spark.sql.zorder.ZOrderExtensions`, best listed last.
 * Spark also finds it by the service file in the jar, so it may be applied twice; that changes nothing. Each part can be
 * left out by a setting `spark.zorder.inject.*`, which is read here once. A part that this Spark cannot load is left out
 * with a warning.
 *
 * {{{
 * SparkSession.builder().config("spark.sql.extensions", "org.apache.spark.sql.zorder.ZOrderExtensions")
 * }}}
 *
 * @throws java.lang.IllegalStateException
 *   as a session starts, if the jar is for another Spark or Scala
 */
class ZOrderExtensions extends SparkSessionExtensionsProvider with Logging {

  override def apply(extensions: SparkSessionExtensions): Unit = {
    Option(StartCheck.problem()).foreach(problem => throw new IllegalStateException(problem))
    guarded("session keys")(SessionKeys.register())
    part(SessionKeys.InjectFunctions) {
      ScalarFunctions.all.foreach { f =>
        extensions.injectFunction((FunctionIdentifier(f.name), f.info, f.builder))
      }
    }
    part(SessionKeys.InjectTableFunctions) {
      TableFunctions.all.foreach { f =>
        extensions.injectTableFunction((FunctionIdentifier(f.name), f.info, f.builder))
      }
    }
    part(SessionKeys.InjectSort)(extensions.injectPlannerStrategy(_ => ZOrderSortStrategy))
    part(SessionKeys.InjectQueryLog)(extensions.injectCheckRule(QueryLogging.check))
    // before the rules that look at how a table is listed
    part(SessionKeys.InjectExchangeGuard)(extensions.injectPreCBORule(ExchangeGuard(_)))
    part(SessionKeys.InjectSkipping) {
      extensions.injectPreCBORule(SkippingRule(_))
      extensions.injectPreCBORule(KeysFirstRule(_))
      extensions.injectRuntimeOptimizerRule(_ => KeysFirstEnds)
      extensions.injectRuntimeOptimizerRule(_ => JoinKeysRule)
      extensions.injectPlannerStrategy(_ => PlannedScanStrategy)
      extensions.injectPlannerStrategy(_ => AfterKeysStrategy)
    }
    part(SessionKeys.InjectParser) {
      extensions.injectParser((session, delegate) => ZOrderParser.over(session, delegate))
    }
  }

  private def part(switch: Setting[Boolean])(install: => Unit): Unit =
    if (switch.atStart) guarded(switch.key)(install)
    else logInfo(s"${switch.key} is false: this part of spark-zorder is not installed")

  /** A part that a changed Spark cannot load must not take the others with it. */
  private def guarded(what: String)(install: => Unit): Unit =
    try install
    catch {
      case e: LinkageError =>
        logWarning(s"spark-zorder goes on without $what, which this Spark cannot load", e)
    }
}
