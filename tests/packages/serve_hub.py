"""A hub on the loopback with one model, acme/model, whose files are those of a folder.
usage: serve_hub.py FOLDER PORT CERTIFICATE KEY      by https alone"""
import hashlib
import http.server
import json
import pathlib
import ssl
import sys

folder, port = pathlib.Path(sys.argv[1]), int(sys.argv[2])
COMMIT = "a" * 40


def entry(path):
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return {"rfilename": str(path.relative_to(folder)), "size": len(content), "blobId": blob}


class Hub(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.split("?")[0]
        start = f"/acme/model/resolve/{COMMIT}/"
        if path == "/api/models/acme/model/revision/main":
            files = sorted(p for p in folder.rglob("*") if p.is_file())
            self.answer(json.dumps({"id": "acme/model", "sha": COMMIT, "siblings": [entry(p) for p in files]}).encode())
        elif path.startswith(start) and (folder / path[len(start):]).is_file():
            self.answer((folder / path[len(start):]).read_bytes())
        else:
            self.send_error(404)

    def answer(self, content):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", '"%s"' % hashlib.sha256(content).hexdigest())
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Hub)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[3], sys.argv[4])
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
