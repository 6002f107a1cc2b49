package sparkzorder.mark;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.scalatest.TagAnnotation;

/**
 * Marks a suite in which Spark has little part: files, journals and decisions of ours, faults of a disk.
 * `make test` runs it on the first of the full lines only, `make test-all` on all of them. The tag of the same
 * name marks a single test.
 */
@TagAnnotation
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface SameOnAllLines {}
