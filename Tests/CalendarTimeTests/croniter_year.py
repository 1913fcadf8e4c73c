"""Prints, for each line of `zone<TAB>expression` on standard input, the times of a year by croniter with zoneinfo, as seconds since 1970.

Times within a day and a half of a change of the clocks are left out: there croniter has a policy of its own.
"""
import sys
import zoneinfo
from datetime import datetime, timedelta, timezone

import croniter

for line in sys.stdin:
    zone_name, expression = line.rstrip("\n").split("\t")
    zone = zoneinfo.ZoneInfo(zone_name)
    # By local time alone: what local time means is zoneinfo's to say.
    moment, end = datetime(2026, 1, 1), datetime(2027, 1, 1)
    times = croniter.croniter(expression, moment - timedelta(minutes=1))
    found = []
    while (local := times.get_next(datetime)) < end:
        before, after = ((local + timedelta(hours=hours)).replace(tzinfo=zone).utcoffset() for hours in (-36, 36))
        if before == after:
            found.append(int(local.replace(tzinfo=zone).astimezone(timezone.utc).timestamp()))
    print(" ".join(map(str, found)))
