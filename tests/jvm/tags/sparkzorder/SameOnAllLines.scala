package sparkzorder

import org.scalatest.Tag

/** Marks a test that `make test` runs on the first of the full lines only, as the annotation does for a suite. */
object SameOnAllLines extends Tag("sparkzorder.mark.SameOnAllLines")
