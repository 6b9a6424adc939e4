"""Records times of cftime for nomina-data: data/tests/data/calendars.json.

usage: python3 scripts/calendars.py      (needs cftime)
"""
import json
import random
from pathlib import Path

import cftime

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
UNITS = [
    "days since 1859-12-01",
    "days since 1970-01-01 00:00:00",
    "hours since 1-1-1 00:00:0.0",
    "seconds since 1970-01-01T00:00:00Z",
    "minutes since 1992-10-8 15:15:42.5 -06:00",
    "days since 0001-01-01 12:00",
    "milliseconds since 2000-02-28 23:59:59",
    "hours since 1582-10-04 18:00",
    "days since -4712-01-01 12:00",
    "microseconds since 1900-01-01",
]
PER_DAY = {"days": 1, "hours": 24, "minutes": 1440, "seconds": 86400, "milliseconds": 86400e3, "microseconds": 86400e6}

random.seed(44)
cases = []
for calendar in CALENDARS:
    for units in UNITS:
        per_day = PER_DAY[units.split()[0]]
        values = [0, 1, -1, 59 * per_day, 60 * per_day, 365 * per_day, 366 * per_day, 0.5, 12.25]
        values += [random.randint(-100_000, 400_000) * per_day for _ in range(8)]
        values += [round(random.uniform(-40_000, 40_000) * per_day, 3) for _ in range(8)]
        for value in values:
            try:
                t = cftime.num2date(value, units, calendar)
                back = cftime.date2num(t, units, calendar)
            except (ValueError, OverflowError):
                continue
            parts = [t.year, t.month, t.day, t.hour, t.minute, t.second, t.microsecond]
            cases.append([calendar, units, value, parts, t.dayofyr, t.daysinmonth, float(back)])

out = Path(__file__).parent.parent / "data/tests/data/calendars.json"
out.parent.mkdir(parents=True, exist_ok=True)
lines = ",\n".join(json.dumps(case) for case in cases)
out.write_text(f"[\n{lines}\n]\n")
print(len(cases), "times by cftime", cftime.__version__, "in", out)
