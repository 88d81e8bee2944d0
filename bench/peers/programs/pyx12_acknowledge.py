"""Has pyx12 judge each file by its own maps and acknowledge it: its name, "sound" or "faulty", and the 997 or 999 that
it writes, without line ends, empty where the file is one itself."""
import io
import logging
import sys

import pyx12.params
import pyx12.x12n_document

logging.disable(logging.CRITICAL)
param = pyx12.params.ParamsBase()
for name in sys.argv[1:]:
    written = io.StringIO()
    try:
        sound = pyx12.x12n_document.x12n_document(param, name, written, None)
        print(name, "sound" if sound else "faulty", written.getvalue().replace("\n", ""), sep="\t")
    except Exception as e:  # whatever it throws is its answer
        print(name, "refused", " ".join(repr(e).split()), sep="\t")
