package sparkzorder.mark;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.scalatest.TagAnnotation;

/**
 * Marks a suite that only `make test-all` runs: it takes long, and shorter tests of the same area are part of
 * `make test`. The tag of the same name marks a single test.
 */
@TagAnnotation
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface LongTest {}
