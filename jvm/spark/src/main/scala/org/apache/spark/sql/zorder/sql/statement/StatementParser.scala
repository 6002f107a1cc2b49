package org.apache.spark.sql.zorder.sql.statement

import scala.util.Try

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.zorder.conf.{IndexOptions, NearestName, OptionSetting, ZOrderOption}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.clustering.request.ClusterRequest
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice}
import sparkzorder.curve.build.CurveRegistry

/**
 * Makes the command of a statement that begins with `OPTIMIZE` or `ZORDER`; its table has not been looked up
 * then. Refuses, with one sentence, everything that is not one of the statements in docs/spec.md.
 *
 * @param delegate
 *   Spark's parser, or another extension's on top of it: it parses names and expressions
 */
final class StatementParser(delegate: ParserInterface) {

  def parse(statement: OwnStatement): ZOrderCommand = {
    val tokens = withoutSemicolons(statement.tokens)
    val found = StatementKind.of(tokens)
    val text = new StatementText(statement.sql, tokens, StatementKind.usage(tokens), delegate)
    val kind = found.getOrElse(noKind(text))
    refuseMarkers(text)
    tokens.find(_.isSymbol(";")).foreach(text.found(_, "inside a statement, one statement at a time"))
    kind match {
      case StatementKind.Log => LogStatement.parse(text, kind.words.size)
      case StatementKind.Explain => ExplainStatement.parse(text, kind.words.size)
      case _ => onTable(kind, text, kind.words.size)
    }
  }

  private def onTable(kind: StatementKind, text: StatementText, from: Int): ZOrderCommand = {
    val ifExists = kind == StatementKind.RefreshIndex &&
      Seq("IF", "EXISTS").zipWithIndex.forall { case (word, i) =>
        text.tokens.lift(from + i).exists(_.is(word))
      }
    val (table, next) = TableRefParser.read(text, if (ifExists) from + 2 else from)
    val clauses = Clause.split(text, next, kind.grammar)
    kind match {
      case StatementKind.Vacuum => VacuumStatement.parse(table, clauses)
      case StatementKind.Rollback => RollbackCommand(table)
      case StatementKind.Audit => AuditCommand(table, clauses.columns(Clause.By))
      case StatementKind.History => HistoryCommand(table)
      case StatementKind.Remove => RemoveStatement.parse(table, clauses)
      case StatementKind.CreateIndex => IndexStatement.parse(table, clauses)
      case StatementKind.RefreshIndex => RefreshIndexCommand(table, ifExists)
      case StatementKind.DescribeIndex => DescribeIndexCommand(table)
      case StatementKind.DropIndex => DropIndexCommand(table)
      case _ => ClusterStatement.parse(text, table, clauses)
    }
  }

  private def withoutSemicolons(tokens: IndexedSeq[Token]): IndexedSeq[Token] =
    tokens.take(tokens.lastIndexWhere(!_.isSymbol(";")) + 1)

  private def noKind(text: StatementText): Nothing = {
    val second = text.tokens.lift(1).getOrElse(text.ended("it ends after ZORDER"))
    val kinds = StatementKind.zorderKinds
    kinds.find(k => second.is(k.second)).flatMap(_.missing(text.tokens)).foreach { word =>
      text.fail(second.start, s"${second.text} must be followed by $word")
    }
    val hint = NearestName.guess(NearestName.to(second.text, kinds.map(_.second)))
    text.found(second, s"after ZORDER$hint")
  }

  private def refuseMarkers(text: StatementText): Unit = {
    import text.tokens
    tokens.indices.find(i => isMarker(tokens, i)).foreach { i =>
      val marker = if (tokens(i).isSymbol("?")) "?" else ":" + tokens(i + 1).text
      refuse("ZORDER_SYNTAX.PARAMETER_MARKER", "marker" -> marker)
    }
  }

  /** `?` or `:name`, but neither `a::int` nor `a:field`. */
  private def isMarker(tokens: IndexedSeq[Token], i: Int): Boolean = {
    val token = tokens(i)
    def touches(k: Int): Boolean = tokens.isDefinedAt(k) && tokens.isDefinedAt(k + 1) &&
      tokens(k).end == tokens(k + 1).start
    token.isSymbol("?") || token.isSymbol(":") && touches(i) && tokens(i + 1).kind == TokenKind.Word &&
    !(touches(i - 1) && closesAnOperand(tokens(i - 1)))
  }

  private def closesAnOperand(token: Token): Boolean =
    token.kind != TokenKind.Symbol || Seq(":", ")", "]").exists(token.isSymbol)
}

/** Parses the clauses of `OPTIMIZE` and `ZORDER TABLE`. */
private[statement] object ClusterStatement {

  def parse(text: StatementText, target: TableRef, clauses: ClauseList): ClusterCommand = {
    val asRows = clauses.flag(Clause.AsRows)
    val request = ClusterRequest(
      target = target,
      full = clauses.flag(Clause.Full),
      dryRun = clauses.flag(Clause.DryRun),
      by = clauses.columns(Clause.ZOrderBy, Clause.By),
      where = clauses.get(Clause.Where).map(c => text.expression(c.notEmpty, "the predicate")),
      curve = clauses.get(Clause.UsingCurve).map(curve),
      options = clauses.options(setting).map(_._2),
      into = clauses.get(Clause.Into).map(c => text.path(c.single)),
      statement = text.slice(text.tokens)
    )
    ClusterCommand(request, asRows)
  }

  private def curve(clause: ClauseBody): String = {
    val token = clause.single
    CurveRegistry.names.find(token.is).getOrElse {
      val hint = NearestName.guess(NearestName.to(token.text, CurveRegistry.names))
      clause.text.found(token, s"where a curve belongs$hint, one of ${CurveRegistry.names.mkString(", ")}")
    }
  }

  private def setting(name: String, value: String): (String, OptionSetting) = {
    val option = ZOrderOption.named(name)
    (option.name, option.setting(option.name, value))
  }
}

/** Parses the clauses of `ZORDER INDEX`. */
private[statement] object IndexStatement {

  def parse(target: TableRef, clauses: ClauseList): CreateIndexCommand = {
    val options = clauses.options((name, value) => (IndexOptions.named(name), value)).toMap
    CreateIndexCommand(target, clauses.columns(Clause.Columns), IndexOptions.of(options))
  }
}

/** Parses the clauses of `ZORDER VACUUM`. */
private[statement] object VacuumStatement {

  def parse(target: TableRef, clauses: ClauseList): VacuumCommand = {
    val dryRun = clauses.flag(Clause.DryRun)
    val retain = clauses.get(Clause.Retain).map(hours)
    VacuumCommand(target, retain, clauses.get(Clause.LateFiles).map(late), dryRun)
  }

  private def late(clause: ClauseBody): LateChoice =
    LateChoice.all.find(c => clause.body.size == 1 && clause.body.head.is(c.word)).getOrElse(
      clause.fail(s"LATE FILES takes one of the words ${LateChoice.all.map(_.word).mkString(", ")}"))

  private def hours(clause: ClauseBody): Double = {
    val unit = clause.body.lastOption.filter(t => t.is("HOURS") || t.is("HOUR"))
    val number = unit.filter(_ => clause.body.size > 1).map(_ => clause.text.slice(clause.body.init))
    number.filter(_.matches("""\d+(\.\d+)?""")).flatMap(n => Try(n.toDouble).toOption).getOrElse(
      clause.fail("RETAIN takes a number of hours, as in RETAIN 168 HOURS"))
  }
}

/** Parses the clauses of `ZORDER REMOVE`. */
private[statement] object RemoveStatement {

  def parse(target: TableRef, clauses: ClauseList): RemoveCommand = {
    val home = clauses.flag(Clause.MoveHome)
    val stay = clauses.flag(Clause.Stay)
    if (home && stay) clauses.get(Clause.Stay).foreach(_.fail("MOVE HOME and STAY exclude each other"))
    val choice: Option[HomeChoice] =
      if (home) Some(HomeChoice.MoveHome) else if (stay) Some(HomeChoice.Stay) else None
    RemoveCommand(target, choice)
  }
}

/** Parses `ZORDER LOG START` and `ZORDER LOG STOP`. */
private[statement] object LogStatement {

  def parse(text: StatementText, from: Int): ZOrderCommand = {
    val word = text.tokens.lift(from).getOrElse(text.ended("it ends after ZORDER LOG"))
    if (word.is("START")) start(text, text.tokens.drop(from + 1))
    else if (word.is("STOP")) {
      text.tokens.lift(from + 1).foreach(text.found(_, "after STOP"))
      LogStopCommand()
    } else text.found(word, "after ZORDER LOG")
  }

  private def start(text: StatementText, tokens: IndexedSeq[Token]): LogStartCommand = {
    val path = tokens.headOption.filter(_.kind == TokenKind.Text)
    val rest = tokens.drop(path.size)
    val verb = rest.headOption.filter(t => t.is("KEEP") || t.is("DROP"))
      .filter(_ => rest.lift(1).exists(_.is("LITERALS")))
    rest.drop(if (verb.isDefined) 2 else 0).headOption.foreach(text.found(_, "after START"))
    LogStartCommand(path.map(text.string(_, "a path")), verb.map(_.is("KEEP")))
  }
}

/** Parses `ZORDER EXPLAIN query` and `ZORDER EXPLAIN LOG table`. No query begins with LOG. */
private[statement] object ExplainStatement {

  def parse(text: StatementText, from: Int): ZOrderCommand = {
    val word = text.tokens.lift(from).getOrElse(text.ended("it ends after ZORDER EXPLAIN"))
    if (word.is("LOG")) {
      val (log, next) = TableRefParser.read(text, from + 1)
      text.tokens.lift(next).foreach(text.found(_, "after the query log"))
      ExplainLogCommand(log match {
        case TableRef.Location(path, _) => path
        case name: TableRef.Name => name.sql
      })
    } else {
      val query = text.tokens.drop(from)
      if (isName(query))
        text.found(word, "where a query belongs, as in ZORDER EXPLAIN SELECT * FROM t WHERE ...")
      ExplainQueryCommand(text.slice(query))
    }
  }

  /** Whether these are a table's name alone. */
  private def isName(tokens: Seq[Token]): Boolean = tokens.size % 2 == 1 && tokens.zipWithIndex.forall {
    case (t, i) => t.isSymbol(".") == (i % 2 == 1)
  }
}

/**
 * One kind of statement.
 *
 * @param opening
 *   the words it begins with
 * @param grammar
 *   its clauses, in the order in which they must stand
 * @param clauses
 *   how an error shows the clauses
 */
sealed abstract private[statement] class StatementKind(
    val opening: String,
    val grammar: Seq[Clause],
    clauses: String) {

  /** The whole statement as an error shows it. */
  def usage: String = s"$opening table$clauses"

  /** The words that it begins with. */
  val words: Seq[String] = opening.split(' ').toSeq

  /** The word after ZORDER. */
  def second: String = words(1)

  /** The first of its words that does not stand where it belongs. */
  def missing(tokens: IndexedSeq[Token]): Option[String] =
    words.indices.find(i => !tokens.lift(i).exists(_.is(words(i)))).map(words)
}

private[statement] object StatementKind {
  import Clause._

  private val tail = "[USING CURVE name] [WITH (option = value, ...)] [INTO 'path'] [DRY RUN]"

  case object Optimize extends StatementKind(
        "OPTIMIZE",
        Seq(Full, Where, ZOrderBy, UsingCurve, With, Into, DryRun),
        s" [FULL] [WHERE predicate] [ZORDER BY (a, b)] $tail")

  case object ZOrderTable extends StatementKind(
        "ZORDER TABLE",
        Seq(Full, Where, By, UsingCurve, With, Into, DryRun, AsRows),
        s" [FULL] [WHERE predicate] [BY (a, b)] $tail [AS ROWS]")

  case object Vacuum extends StatementKind(
        "ZORDER VACUUM",
        Seq(Retain, LateFiles, DryRun),
        " [RETAIN n HOURS] [LATE FILES APPEND | REPLACE | IGNORE] [DRY RUN]")

  case object Rollback extends StatementKind("ZORDER ROLLBACK", Nil, "")

  case object Remove
      extends StatementKind("ZORDER REMOVE", Seq(MoveHome, Stay), " [MOVE HOME | STAY]")

  case object Audit extends StatementKind("ZORDER AUDIT", Seq(By), " [BY (a, b)]")

  case object History extends StatementKind("ZORDER HISTORY", Nil, "")

  case object CreateIndex extends StatementKind(
        "ZORDER INDEX",
        Seq(Columns, With),
        " [COLUMNS (a, b)] [WITH (bloom = 'a, b', bloomBudget = '10%', values = 'c')]")

  case object RefreshIndex extends StatementKind("ZORDER REFRESH INDEX", Nil, "") {
    override val usage: String = "ZORDER REFRESH INDEX [IF EXISTS] table"
  }

  case object DescribeIndex extends StatementKind("ZORDER DESCRIBE INDEX", Nil, "")

  case object DropIndex extends StatementKind("ZORDER DROP INDEX", Nil, "")

  case object Log extends StatementKind("ZORDER LOG", Nil, "") {
    override val usage: String =
      "ZORDER LOG START ['path'] [KEEP LITERALS | DROP LITERALS] or ZORDER LOG STOP"
  }

  case object Explain extends StatementKind("ZORDER EXPLAIN", Nil, "") {
    override val usage: String = "ZORDER EXPLAIN query or ZORDER EXPLAIN LOG table"
  }

  /** The statements that begin with ZORDER. */
  val zorderKinds: Seq[StatementKind] = Seq(
    ZOrderTable,
    Vacuum,
    Rollback,
    Remove,
    Audit,
    History,
    CreateIndex,
    RefreshIndex,
    DescribeIndex,
    DropIndex,
    Log,
    Explain)

  /** The kind of a statement; None if its first words are not all there. */
  def of(tokens: IndexedSeq[Token]): Option[StatementKind] =
    (Optimize +: zorderKinds).find(_.missing(tokens).isEmpty)

  /** The grammar of the statement that begins with these words. */
  def usage(tokens: IndexedSeq[Token]): String =
    of(tokens).fold(zorderKinds.map(_.opening).mkString(" or "))(_.usage)
}

/** A clause by the words that open it. */
final private[statement] case class Clause(words: String*) {
  def name: String = words.mkString(" ")
}

/**
 * One clause of a statement.
 *
 * @param head
 *   the first of its opening words
 * @param body
 *   the tokens behind those words, up to the next clause
 */
final private[statement] class ClauseBody(
    val text: StatementText,
    val clause: Clause,
    head: Token,
    val body: IndexedSeq[Token]) {

  /** Refuses the statement; the error points at this clause. */
  def fail(what: String): Nothing = text.fail(head.start, what)

  /** Refuses what stands behind a clause that takes nothing. */
  def refuseBody(): Unit = body.headOption.foreach(text.found(_, s"after ${clause.name}"))

  def notEmpty: IndexedSeq[Token] = if (body.nonEmpty) body else fail(s"nothing follows ${clause.name}")

  /** The only token. */
  def single: Token = {
    notEmpty.lift(1).foreach(text.found(_, s"after ${clause.name} and its value"))
    body.head
  }

  /** Columns with commas between them, in brackets or not. */
  def columns: Seq[String] = {
    val inner = unbracketed(notEmpty)
    if (inner.isEmpty) fail(s"the list of ${clause.name} is empty")
    commaSeparated(inner).map { item =>
      if (item.isEmpty) fail(s"the list of ${clause.name} has an empty place")
      text.column(item, clause.name)
    }
  }

  /** As [[ClauseList.options]]. */
  def options[A](known: (String, String) => (String, A)): Seq[(String, A)] = {
    val inner = unbracketed(notEmpty)
    if (inner eq body) {
      if (!body.head.isSymbol("("))
        text.found(body.head, "where WITH needs a list in brackets: (fileCount = 64)")
      text.found(body(closing(body) + 1), "after WITH and its list")
    }
    val pairs = (if (inner.isEmpty) Nil else commaSeparated(inner)).map(option(_)(known))
    pairs.groupBy(_._1).find(_._2.size > 1).foreach { case (name, _) =>
      fail(s"the option $name stands there a second time")
    }
    pairs
  }

  private def option[A](tokens: IndexedSeq[Token])(known: (String, String) => (String, A)): (String, A) = {
    val equals = tokens.indexWhere(_.isSymbol("="))
    if (equals < 1 || equals == tokens.size - 1)
      text.fail(tokens.headOption.getOrElse(head).start, "an option is written name = value")
    val name = tokens.take(equals) match {
      case IndexedSeq(quoted) if quoted.kind == TokenKind.Quoted => quoted.text.drop(1).dropRight(1)
      case others => plain(others, "a name")
    }
    known(name, plain(tokens.drop(equals + 1), "a value"))
  }

  /** One string in quotes, or words and signs without a gap such as `256m`, `zstd` and a column's name as SQL. */
  private def plain(tokens: IndexedSeq[Token], what: String): String = {
    val gap = tokens.zip(tokens.drop(1)).find { case (a, b) => a.end != b.start }
    gap.foreach { case (_, b) => text.found(b, s"after $what '${text.slice(tokens.take(1))}'") }
    tokens.head.kind match {
      case TokenKind.Text if tokens.size == 1 => text.string(tokens.head, what)
      case _ => text.slice(tokens)
    }
  }

  /** The tokens inside the brackets if one pair encloses everything; else the tokens themselves. */
  private def unbracketed(tokens: IndexedSeq[Token]): IndexedSeq[Token] = {
    val all = tokens.head.isSymbol("(") && closing(tokens) == tokens.size - 1
    if (all) tokens.slice(1, tokens.size - 1) else tokens
  }

  /** The index of the bracket that closes the one which opens these tokens. */
  private def closing(tokens: IndexedSeq[Token]): Int =
    tokens.indexWhere(t => t.isSymbol(")") && t.depth == tokens.head.depth)

  private def commaSeparated(tokens: IndexedSeq[Token]): Seq[IndexedSeq[Token]] = {
    val depth = tokens.map(_.depth).min
    val commas = tokens.indices.filter(i => tokens(i).isSymbol(",") && tokens(i).depth == depth)
    (-1 +: commas).zip(commas :+ tokens.size).map { case (from, to) => tokens.slice(from + 1, to) }
  }
}

/** The clauses of a statement, each at most once. */
final private[statement] class ClauseList(found: Seq[ClauseBody]) {

  /** The first that is one of these. */
  def get(wanted: Clause*): Option[ClauseBody] = found.find(c => wanted.contains(c.clause))

  /** Whether a clause that takes nothing is there. */
  def flag(wanted: Clause): Boolean = {
    val clause = get(wanted)
    clause.foreach(_.refuseBody())
    clause.isDefined
  }

  /** The columns of a clause; none without it. */
  def columns(wanted: Clause*): Seq[String] = get(wanted: _*).fold(Seq.empty[String])(_.columns)

  /**
   * The options of `WITH`, in their order; none without it.
   *
   * @param known
   *   the name as the option is declared, and the value; refuses what is no option
   */
  def options[A](known: (String, String) => (String, A)): Seq[(String, A)] =
    get(Clause.With).fold(Seq.empty[(String, A)])(_.options(known))
}

/** Splits the part of a statement after the table into clauses, outside of brackets only. */
private[statement] object Clause {
  val Full: Clause = Clause("FULL")
  val Where: Clause = Clause("WHERE")
  val ZOrderBy: Clause = Clause("ZORDER", "BY")
  val By: Clause = Clause("BY")
  val UsingCurve: Clause = Clause("USING", "CURVE")
  val With: Clause = Clause("WITH")
  val Into: Clause = Clause("INTO")
  val DryRun: Clause = Clause("DRY", "RUN")
  val AsRows: Clause = Clause("AS", "ROWS")
  val Retain: Clause = Clause("RETAIN")
  val MoveHome: Clause = Clause("MOVE", "HOME")
  val Stay: Clause = Clause("STAY")
  val LateFiles: Clause = Clause("LATE", "FILES")
  val Columns: Clause = Clause("COLUMNS")

  /** Those that take a list of columns. */
  private val lists = Set(ZOrderBy, By, Columns)

  /**
   * @param grammar
   *   the clauses that the statement may have, in the order in which they must stand
   * @return
   *   the clauses found, each at most once
   */
  def split(text: StatementText, from: Int, grammar: Seq[Clause]): ClauseList = {
    import text.tokens
    val heads = (from until tokens.size).flatMap { i =>
      grammar.find(c => opens(c, tokens, i) && (c != Full || i == from)).map(c => (i, c))
    }
    heads.foreach { case (i, clause) => if (clause == UsingCurve) checkCurve(text, i) }
    if (heads.headOption.map(_._1) != tokens.indices.lift(from)) notAClause(text, tokens(from), grammar)
    checkOrder(text, heads, grammar)
    val ends = heads.drop(1).map(_._1) :+ tokens.size
    new ClauseList(heads.zip(ends).map { case ((i, clause), end) =>
      new ClauseBody(text, clause, tokens(i), tokens.slice(i + clause.words.size, end))
    })
  }

  private def opens(clause: Clause, tokens: IndexedSeq[Token], i: Int): Boolean = {
    // no expression has an unquoted USING: whatever follows it, CURVE was meant
    val words = if (clause == UsingCurve) clause.words.take(1) else clause.words
    tokens(i).depth == 0 && !isDotted(tokens, i - 1, i - 2) && !isDotted(tokens, i + 1, i + 2) &&
    words.zipWithIndex.forall { case (word, k) => tokens.lift(i + k).exists(_.is(word)) }
  }

  /** Whether a point makes a word a part of a name: `s.where`, but not `1. BY` or `WHERE .5 < x`. */
  private def isDotted(tokens: IndexedSeq[Token], point: Int, beyond: Int): Boolean =
    tokens.lift(point).exists(_.isSymbol(".")) && tokens.lift(beyond).exists(t =>
      t.kind == TokenKind.Quoted || t.isSymbol(")") || t.isSymbol("]") ||
        t.kind == TokenKind.Word && !t.text.forall(_.isDigit))

  private def checkCurve(text: StatementText, at: Int): Unit =
    if (!text.tokens.lift(at + 1).exists(_.is("CURVE")))
      text.fail(text.tokens(at).start, "USING must be followed by CURVE, as in USING CURVE hilbert")

  private def notAClause(text: StatementText, token: Token, grammar: Seq[Clause]): Nothing = {
    if (token.isSymbol("(")) grammar.find(lists).foreach { c =>
      val list = text.slice(text.bracketed(text.tokens.dropWhile(_ ne token)))
      text.fail(token.start, s"columns stand after ${c.name}: write ${c.name} $list")
    }
    val (before, rest) = text.tokens.span(_ ne token)
    val isDotted = before.dropRight(1).lastOption.exists(_.isSymbol("."))
    if (before.lastOption.exists(t => t.is("TABLE") || t.is("ON")) && !isDotted)
      text.fail(token.start, s"the table stands without ${before.last.text} here")
    val spellings = grammar.flatMap(c => Seq(c.words.mkString, c.words.head).map(_ -> c)).toMap
    val nearest =
      if (token.text.length < 3) None else NearestName.to(token.text, spellings.keys).map(spellings)
    // ZORDER BY, CLUSTER BY, BY
    def byColumns = if (rest.take(2).exists(_.is("BY"))) grammar.find(lists) else None
    val meant = nearest.orElse(byColumns)
    text.found(token, s"after the table${NearestName.guess(meant.map(_.name))}")
  }

  private def checkOrder(
      text: StatementText,
      heads: Seq[(Int, Clause)],
      grammar: Seq[Clause]): Unit =
    heads.zip(heads.drop(1)).foreach { case ((_, earlier), (i, later)) =>
      val position = text.tokens(i).start
      if (heads.exists { case (j, clause) => j < i && clause == later })
        text.fail(position, s"${later.name} stands there a second time")
      if (grammar.indexOf(later) < grammar.indexOf(earlier))
        text.fail(position, s"${later.name} must stand before ${earlier.name}")
    }
}
