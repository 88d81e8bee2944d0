"""Reads each file with the parser of bots and the grammars that come with it, so messages are judged too: its name,
"read" and the number of segments, or "refused" and why. The release on PyPI is the parser taken out of the translator.
What the rest of bots does for it is done here: the file is read, the character sets of EDIFACT are named, and the
grammars stand in one folder."""
import encodings.aliases
import glob
import logging
import os
import sys

logging.disable(logging.CRITICAL)
import edi_parser  # gives the module "bots" that its grammars import
import edi_parser.grammars.edifact
import edi_parser.grammars.x12
from edi_parser.core import inmessage

encodings.aliases.aliases.update(
    unoa="iso8859_1", unob="iso8859_1", unoc="iso8859_1", unod="iso8859_2", unoe="iso8859_5", unof="iso8859_7",
    unog="iso8859_3", unoh="iso8859_4", unoi="iso8859_6", unoj="iso8859_8", unok="iso8859_9", unol="iso8859_15",
    unow="utf_8", unoy="utf_8")
for grammars in edi_parser.grammars.edifact, edi_parser.grammars.x12:
    grammars.__path__ += [d for d in glob.glob(os.path.join(grammars.__path__[0], "*")) if os.path.isdir(d)]

# A subset, 0057 or what follows the release in GS08, has no grammar of its own: that of the whole message serves.
inmessage.edifact._manipulatemessagetype = staticmethod(lambda name, envelope: name[:12])
inmessage.x12._manipulatemessagetype = staticmethod(lambda name, group: name + group.record.get("GS08", "")[:6])


def content_of(filename):
    with open(filename, "rb") as f:
        return f.read()


inmessage.botslib.readdata_bin = content_of
for name in sys.argv[1:]:
    syntax = "x12" if name.endswith(".x12") else "edifact"
    try:
        read = inmessage.parse_edi_file(
            editype=syntax, messagetype=syntax, charset="iso-8859-1", filename=name, _edi_content=content_of(name),
            checkunknownentities=True, has_structure=True, field_validation_mode="strict", require_envelope=True)
        if read.errorfatal:
            raise ValueError(*read.errorlist)
        read.checkforerrorlist()
        print(name, "read", read.root.getcount(), sep="\t")
    except Exception as e:  # whatever it throws is its answer
        why = " ".join(str(e).split()).split(" The above exception")[0].split("exceptions.MessageError: ")[-1]
        print(name, "refused", why[:300], sep="\t")
