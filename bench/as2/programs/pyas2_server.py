"""Receives AS2 messages with pyas2lib: pyas2_server.py KEYS OWN OTHER FOLDER.

Prints `listening PORT`. What it received stands in the folder under the number of its
arrival: NUMBER.json tells of the message, NUMBER.0 is the payload. It ends when its
input does.
"""
import http.server
import itertools
import json
import os
import sys
import threading
import urllib.request
from pathlib import Path

from pyas2lib import Message

from pyas2_peer import organisation, partner

KEYS, OWN, OTHER, FOLDER = sys.argv[1:]
arrivals = itertools.count()
lock = threading.Lock()


class Door(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        head = "".join(f"{k}: {v}\r\n" for k, v in self.headers.items()).encode()
        body = self.body()
        m = Message()
        status, failure, mdn = m.parse(
            head + b"\r\n" + body,
            find_org_cb=lambda name: organisation(KEYS, OWN, name),
            find_partner_cb=lambda name: partner(KEYS, OTHER, name),
        )
        if status == "processed":
            keep(m, mdn)
        else:
            print(failure[1], file=sys.stderr)
        if mdn and mdn.mdn_url:
            self.answer(200, {}, b"")
            request = urllib.request.Request(mdn.mdn_url, data=mdn.content, headers=mdn.headers, method="POST")
            urllib.request.urlopen(request, timeout=60).read()
        elif mdn:
            self.answer(200, mdn.headers, mdn.content)
        else:
            self.answer(200, {}, b"")

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"]))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, status, headers, content):
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def keep(m, mdn):
    content = m.content if isinstance(m.content, bytes) else m.content.encode()
    told = {
        "messageId": m.message_id,
        "from": m.headers.get("as2-from") or m.headers.get("AS2-From"),
        "filename": m.payload.get_filename() or "",
        "signed": m.signed,
        "encrypted": m.encrypted,
        "compressed": m.compressed,
        "mdn": "none" if not mdn else "async" if mdn.mdn_url else "sync",
    }
    with lock:
        number = next(arrivals)
    (Path(FOLDER) / f"{number}.0").write_bytes(content)
    whole = Path(FOLDER) / f"{number}.part"
    whole.write_text(json.dumps(told))
    whole.rename(Path(FOLDER) / f"{number}.json")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"listening {server.server_port}", flush=True)
sys.stdin.read()
os._exit(0)
