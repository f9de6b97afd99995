"""What the servers of these tests share: HTTP on 127.0.0.1, ranges, and answers that break off."""
import http.server, threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", length=None, **headers):
        """length: what Content-Length says, where the body ends earlier."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.close_connection = True

    def body(self, body, part=1):
        """What was asked for, or its first half (part=2) before the connection breaks."""
        asked = self.headers.get("Range")
        if not asked:
            return self.answer(200, body[: len(body) // part], length=len(body))
        start = int(asked.split("=")[1].split("-")[0])
        if start >= len(body):
            return self.answer(416, b"beyond the end", Content_Range="bytes */%d" % len(body))
        rest = body[start:]
        span = "bytes %d-%d/%d" % (start, len(body) - 1, len(body))
        return self.answer(206, rest[: len(rest) // part], length=len(rest), Content_Range=span)


def start(handler, n):
    """n servers; returns their ports."""
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(n)]
    for s in servers:
        s.daemon_threads = True
        threading.Thread(target=s.serve_forever, daemon=True).start()
    return [s.server_address[1] for s in servers]
