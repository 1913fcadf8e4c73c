/// A service manager that makes the control socket, passes it to the host, and starts the host again when it ends, as systemd does.
enum SocketLauncher {
  /// A program in Python: the path of the socket, the names that it passes, and the command. It waits for the file `PATH.start`, and starts the
  /// host again while there is a file `PATH.again`.
  static let program = """
    import os, socket, sys, time
    path, names, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    kind = socket.SOCK_DGRAM if names == "datagram" else socket.SOCK_STREAM
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(path)
    if kind == socket.SOCK_STREAM and names != "deaf": listener.listen(512)
    print("the launcher listens", file=sys.stderr, flush=True)
    while not os.path.exists(path + ".start"): time.sleep(0.02)
    while True:
        child = os.fork()
        if child == 0:
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES=names)
            os.execv(command[0], command)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print("the host has ended:", status, file=sys.stderr, flush=True)
        if not os.path.exists(path + ".again"): sys.exit(status)
    """

  /// What is put before the command of the host.
  static func wrapper(_ socket: String, names: String = "control") -> [String] { ["/usr/bin/python3", "-c", program, socket, names] }
}
