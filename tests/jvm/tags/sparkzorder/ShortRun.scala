package sparkzorder

/** For tests that `make test` has in a cheaper form; whole in `make test-all`, and where a suite is started by its name. */
object ShortRun {
  val is: Boolean = sys.props.contains("sparkzorder.tests.without")
}
