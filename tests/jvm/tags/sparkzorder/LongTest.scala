package sparkzorder

import org.scalatest.Tag

/** Marks a test that only `make test-all` runs, as the annotation does for a whole suite. */
object LongTest extends Tag("sparkzorder.mark.LongTest") {

  /** For tests made in a loop: no tag for those that `make test` runs too, this one for the others. */
  def unless(short: Boolean): Seq[Tag] = if (short) Nil else Seq(this)
}
