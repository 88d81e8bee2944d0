"""Reads each file with pyx12, envelopes judged: its name, "read" and the number of segments, or "refused" and why."""
import logging
import sys

import pyx12.x12file

logging.disable(logging.CRITICAL)
for name in sys.argv[1:]:
    try:
        r = pyx12.x12file.X12Reader(name)
        segments, faults = 0, []
        for _ in r:
            segments += 1
            faults += r.pop_errors()
        r.cleanup()
        faults += r.pop_errors()
        if faults:
            print(name, "refused", " ".join(repr(faults[0]).split()), sep="\t")
        else:
            print(name, "read", segments, sep="\t")
    except Exception as e:  # whatever it throws is its answer
        print(name, "refused", " ".join(repr(e).split()), sep="\t")
