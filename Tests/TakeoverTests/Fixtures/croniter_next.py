"""Prints, for each line of `seconds<TAB>expression` on standard input, the next twenty times in UTC by croniter, as seconds since 1970."""
import sys
from datetime import datetime, timezone

import croniter

for line in sys.stdin:
    begin, expression = line.rstrip("\n").split("\t")
    times = croniter.croniter(expression, datetime.fromtimestamp(int(begin), timezone.utc))
    print(" ".join(str(int(times.get_next(float))) for _ in range(20)))
