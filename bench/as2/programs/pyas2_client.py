"""Sends AS2 messages with pyas2lib: pyas2_client.py KEYS OWN OTHER.

Prints `listening PORT`, the port that asynchronous MDNs come to. Then it reads a
message from each line of its input, fields NAME=VALUE between tabs, and answers each
with a line of such fields that says what came back and what pyas2lib makes of it. They
are those of bench/as2/message.go.
"""
import http.server
import queue
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

from pyas2lib import Mdn, Message

from pyas2_peer import CIPHERS, organisation, partner

KEYS, OWN, OTHER = sys.argv[1:]
reports = queue.Queue()


class Reports(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        reports.put(head(self.headers.items()) + body)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def head(fields):
    return "".join(f"{k}: {v}\r\n" for k, v in fields).encode() + b"\r\n"


def send(m, port):
    settings = {"sign": bool(m["digest"]), "encrypt": bool(m["encryption"]), "compress": m["compressed"] == "true"}
    if m["digest"]:
        settings |= {"digest_alg": m["digest"], "sign_alg": "rsassa_pss" if m["pss"] == "true" else "rsassa_pkcs1v15"}
    if m["encryption"]:
        settings |= {"enc_alg": CIPHERS[m["encryption"]], "key_enc_alg": "rsaes_oaep" if m["oaep"] == "true" else "rsaes_pkcs1v15"}
    if m["mdn"] != "none":
        settings |= {"mdn_mode": m["mdn"].upper(), "mdn_digest_alg": m["mdnDigest"] or None}
    message = Message(organisation(KEYS, OWN, m["from"], f"http://127.0.0.1:{port}/"), partner(KEYS, OTHER, m["to"], **settings))
    message.build(Path(m["file"]).read_bytes(), filename=m["filename"], content_type=m["type"], message_id=m["messageId"])
    request = urllib.request.Request(m["url"], data=message.content, headers=message.headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            status, raw = response.status, head(response.headers.items()) + response.read()
    except urllib.error.HTTPError as refusal:
        return {"status": refusal.code, "failure": refusal.read().decode(errors="replace")[:500]}
    answer = {"status": status, "messageId": message.message_id}
    if m["mdn"] == "async":
        raw = reports.get(timeout=60)
    if m["mdn"] != "none":
        mdn = Mdn()
        disposition, detail = mdn.parse(raw, lambda id, to: message if id == message.message_id else None)
        answer |= {"disposition": disposition, "detail": detail or "", "signedWith": mdn.digest_alg or ""}
        answer["mic"] = mic(mdn, message)
    return answer


def mic(mdn, message):
    """equal, none, or what both say; pyas2lib itself has none where nothing is signed."""
    for part in mdn.payload.walk():
        field = part["Received-content-MIC"]
        if field:
            if not message.mic:
                return "unchecked"
            return "equal" if field.split(",")[0].strip() == message.mic.decode() else f"{field}, not {message.mic.decode()}"
    return "none"


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Reports)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"listening {server.server_port}", flush=True)
for line in sys.stdin:
    try:
        told = send(dict(field.split("=", 1) for field in line.rstrip("\n").split("\t")), server.server_port)
    except Exception as e:  # whatever it is, the driver has to know
        told = {"failure": f"{type(e).__name__}: {e}"}
    print("\t".join(f"{k}={' '.join(str(v).split())}" for k, v in told.items()), flush=True)
