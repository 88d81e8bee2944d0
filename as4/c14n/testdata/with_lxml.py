"""Canonicalises elements of documents with lxml, for the comparison with ours.

Reads a line of JSON for each element: the document, the element's number in document
order, the prefixes of the list, whether comments stay. Writes its canonical form as a
line of JSON.
"""
import json
import sys

from lxml import etree

for line in sys.stdin:
    case = json.loads(line)
    root = etree.fromstring(case["document"].encode())
    element = [e for e in root.iter() if isinstance(e.tag, str)][case["element"]]
    element.tail = None
    canonical = etree.tostring(
        element,
        method="c14n",
        exclusive=True,
        with_comments=case["comments"],
        inclusive_ns_prefixes=case["prefixes"],
    )
    print(json.dumps(canonical.decode()))
