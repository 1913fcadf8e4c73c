"""What the servers of this folder share: how they tell a test where they are, and serve it.

Each is a real authorization server with one client and one user. Beside its own endpoints it has two for the test:
GET /test/sign-in gives a new pair of tokens, as at the end of an authorization code flow;
GET /test/whoami is 200 for an access token that the server takes, else 401.
"""

import json
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def serve(make_application):
    """Serves make_application(address) on a free port of the loopback interface, and prints where, until it is killed.

    make_application returns the WSGI application and what the test must know: the token endpoint and the client.
    """
    application = None
    server = make_server("127.0.0.1", 0, lambda environ, start: application(environ, start), Server, Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    application, facts = make_application(address)
    print(json.dumps({"address": address, **facts}), file=sys.stderr, flush=True)
    server.serve_forever()
