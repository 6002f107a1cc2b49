-- Statements that begin like ours and are refused: one a paragraph. The comment in front of each holds words of the sentence.

-- it names no table
OPTIMIZE

-- did you mean ZORDER BY?
OPTIMIZE t ZORDERBY (a)

-- WHERE must stand before ZORDER BY
OPTIMIZE t ZORDER BY (a) WHERE b = 1

-- more than one plain expression
OPTIMIZE t ZORDER BY (a DESC)

-- did you mean hilbert?
OPTIMIZE t ZORDER BY (a) USING CURVE hilber

-- did you mean targetFileSize?
ZORDER TABLE t BY (a) WITH (targetSize = 1g)

-- takes a whole number from 1 to 1000000, not 'many'
ZORDER TABLE t BY (a) WITH (fileCount = many)

-- take no parameter markers
ZORDER TABLE t WHERE a = ? BY (b)

-- the quote ' is never closed
ZORDER TABLE t WHERE a = 'x BY (b)

-- RETAIN takes a number of hours
ZORDER VACUUM t RETAIN 7 DAYS

-- found 'AS' after DRY RUN
OPTIMIZE t ZORDER BY (a) DRY RUN AS ROWS

-- found 'x' after AS ROWS
ZORDER TABLE t BY (a) AS ROWS x

-- found 'BACK' after ZORDER
ZORDER BACK t

-- found 'PAUSE' after ZORDER LOG
ZORDER LOG PAUSE

-- expected ZORDER LOG START ['path'] [KEEP LITERALS | DROP LITERALS] or ZORDER LOG STOP
ZORDER LOG START KEEP

-- columns stand after BY: write BY (a, b)
ZORDER TABLE t (a, b)

-- 'a' is a text, and BY takes columns: write a
ZORDER TABLE t BY ('a', b)

-- write WITH (fileCount = 8)
ZORDER TABLE t BY (a) OPTIONS (fileCount = 8)
