"""Reads each file with pydifact: its name, "read" and the number of segments, or "refused" and why."""
import sys

from pydifact.parser import Parser

for name in sys.argv[1:]:
    try:
        with open(name, encoding="latin-1", newline="") as f:
            segments = [s for s in Parser().parse(f.read()) if s.tag != "UNA"]
        print(name, "read", len(segments), sep="\t")
    except Exception as e:  # whatever it throws is its answer
        print(name, "refused", " ".join(repr(e).split()), sep="\t")
