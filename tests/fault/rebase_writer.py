"""An application that never stops to delete, update and merge rows of a table: FOLDER PAUSE.

It says `ready`. A line with a table as SQL names it and a seed begins its statements, the next line ends
them, and it answers with a file of JSON: the rows that the table must have, the rows that it once had, and
when each statement began and ended, and how. It is the table's only other writer. It rests PAUSE seconds
between two statements.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from pathlib import Path

import races

SOME = 20
CLASSES = ("ConcurrentDeleteReadException", "ConcurrentDeleteDeleteException", "ConcurrentAppendException")
CLASSES += ("ConcurrentWriteException", "ConcurrentTransactionException", "ConcurrentModification")
CLASSES += ("ValidationException", "CommitFailedException")
# what Iceberg says where another commit came while it planned a statement that copies on write
CLASSES += ("Runtime file filtering is not possible",)


class Writer:
    """What the table must hold, and the statements that change it."""

    def __init__(self, spark, table, seed):
        self.spark, self.table, self.chance = spark, table, random.Random(seed)
        self.rows = {}
        for row in races.rows(spark, table):
            self.rows.setdefault(row[0], []).append(row)
        self.next = max(self.rows) + 1
        self.once = set()
        # what each was, when it began and ended, and how
        self.statements = []

    def change(self):
        """One statement; what it changes is remembered if it was committed."""
        ids = self.chance.sample(sorted(self.rows), SOME)
        text, after = self.chance.choice((self.delete, self.update, self.merge))(ids)
        begin = time.time()
        try:
            self.spark.sql(text).collect()
        except Exception as error:
            said = races.words(error)
            ended = next((c for c in CLASSES if c in said), None)
            if ended is None:
                raise
        else:
            ended = "committed"
            for i, rows in after.items():
                self.once.update(self.rows.get(i, ()))
                self.rows[i] = rows
                if not rows:
                    del self.rows[i]
        self.statements.append((text.split()[0], begin, time.time(), ended))

    def delete(self, ids):
        return f"DELETE FROM {self.table} WHERE id IN {tuple(ids)}", {i: [] for i in ids}

    def update(self, ids):
        after = {i: [(i, a + 1, b) for _, a, b in self.rows[i]] for i in ids}
        return f"UPDATE {self.table} SET a = a + 1 WHERE id IN {tuple(ids)}", after

    def merge(self, ids):
        gone, other = ids[:5], ids[5:]
        more = range(self.next, self.next + SOME)
        self.next += SOME
        source = [f"({i}, -1)" for i in gone] + [f"({i}, 7)" for i in other] + [f"({i}, 8)" for i in more]
        after = {i: [] for i in gone} | {i: [(i, 8, 1)] for i in more}
        after |= {i: [(i, 7, b) for _, _, b in self.rows[i]] for i in other}
        text = (
            f"MERGE INTO {self.table} t USING (SELECT * FROM VALUES {', '.join(source)} AS v(id, a)) s "
            "ON t.id = s.id WHEN MATCHED AND s.a = -1 THEN DELETE WHEN MATCHED THEN UPDATE SET t.a = s.a "
            "WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (s.id, s.a, 1)"
        )
        return text, after


def main():
    folder, pause = Path(sys.argv[1]), float(sys.argv[2])
    spark = races.start(folder, ours=False)
    print("ready", flush=True)
    while line := sys.stdin.readline().split():
        writer, stop, broken = Writer(spark, line[0], int(line[1])), threading.Event(), []

        def work(writer=writer, stop=stop, broken=broken):
            try:
                while not stop.is_set():
                    writer.change()
                    stop.wait(pause)
            except Exception as error:
                broken.append(races.words(error)[:4000])

        thread = threading.Thread(target=work)
        thread.start()
        sys.stdin.readline()
        stop.set()
        thread.join()
        out = folder / "written.json"
        rows = [row for same in writer.rows.values() for row in same]
        found = {"rows": rows, "once": sorted(writer.once), "statements": writer.statements, "broken": broken}
        out.write_text(json.dumps(found))
        print(out, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
