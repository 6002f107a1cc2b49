package org.apache.spark.sql.zorder.skip.join

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.skip.marker.KeyRange
import sparkzorder.curve.Word

/**
 * The range of keys that are too many to be listed.
 *
 * @param word
 *   of a value: words are in the order of values
 */
final private[join] class GrowingRange(dataType: DataType, word: Any => Word) {

  /**
   * From the least of the values to the greatest. A range only grows: once that of some values helps nobody, the rest
   * are not read, which may be millions. It is asked after `first` values, and whenever these have doubled.
   *
   * @param values
   *   at least one, none NULL
   */
  def of(values: Iterator[Any], first: Int, helps: KeyRange => Boolean): Option[KeyRange] = {
    var low = values.next()
    var high = low
    var (lowWord, highWord) = (word(low), word(high))
    def range: KeyRange = KeyRange(Literal(low, dataType), Literal(high, dataType))
    var read = 1L
    var nextQuestion = first.toLong
    var helping = true
    while (helping && values.hasNext) {
      val value = values.next()
      val w = word(value)
      if (w < lowWord) {
        low = value
        lowWord = w
      } else if (w > highWord) {
        high = value
        highWord = w
      }
      read += 1
      if (read >= nextQuestion) {
        helping = helps(range)
        nextQuestion *= 2
      }
    }
    if (helping && helps(range)) Some(range) else None
  }
}
