"""A way to a host's control socket for programs that speak TCP only. For tests; whoever reaches the port can do everything."""

import socket
import threading


class Bridge:
    """A TCP port that leads to the control socket, as `ssh -L` makes one."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            host = socket.socket(socket.AF_UNIX)
            try:
                host.connect(self.path)
            except OSError:
                client.close()
                continue
            for source, target in ((client, host), (host, client)):
                threading.Thread(target=self._copy, args=(source, target), daemon=True).start()

    @staticmethod
    def _copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
