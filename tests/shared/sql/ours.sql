-- Statements that spark-zorder takes: one a paragraph. Every reader of this file checks that each parses.

OPTIMIZE t

OPTIMIZE db.t FULL

OPTIMIZE c.db.t WHERE day >= DATE'2026-01-01' ZORDER BY a, b.c

OPTIMIZE '/data/t' ZORDER BY (a, b)

OPTIMIZE parquet.`/data/t` ZORDER BY (a, b) USING CURVE hilbert WITH (targetFileSize = 256m, force = true) DRY RUN;

optimize `my db`.`a.t` zorder by (`x,y`) into '/data/copy'

ZORDER TABLE t

ZORDER TABLE t BY (a, b)

ZORDER TABLE t FULL WHERE s = 'ZORDER BY' AND d IN ('DRY RUN', ')') BY (a, b.c) USING CURVE lexical
WITH (fileCount = 64, codec = 'zstd', maxDuration = 7d) -- comments stand anywhere
INTO '/data/copy' /* even /* nested */ ones */ DRY RUN

ZORDER TABLE t BY (a, b) DRY RUN AS ROWS

ZORDER TABLE t WHERE d = 'AS ROWS' as rows

ZORDER VACUUM t

ZORDER VACUUM '/data/t' RETAIN 168 HOURS DRY RUN

ZORDER ROLLBACK db.t

ZORDER REMOVE parquet.`/data/t`

ZORDER AUDIT db.t BY (a, b)

ZORDER HISTORY '/data/t'

ZORDER LOG START

zorder log start '/logs/queries' keep literals

ZORDER LOG STOP
