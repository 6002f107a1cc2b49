package sparkzorder

import scala.util.control.NonFatal

import org.scalatest.Assertions
import org.scalatest.exceptions.ModifiableMessage

/** For tests whose steps build on each other: each step has a promise of its own, and a failure names it. */
trait Steps extends Assertions {

  protected def step[T](promise: String)(body: => T): T =
    try withClue(s"$promise: ")(body)
    catch { case NonFatal(e) if !e.isInstanceOf[ModifiableMessage[_]] => fail(s"$promise: $e", e) }
}
