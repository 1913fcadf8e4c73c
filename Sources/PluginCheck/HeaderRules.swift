/// For each kind of finding, the rule of taskhost.h or advice.
enum HeaderRules {
  static let result = "The header: a handler returns a taskhost_result; any other value counts as FAILURE, with a message."
  static let grace =
    "The header: grace_ms() says how long the handler still has. Then it is stopped by force: in a process by killing the process, in a thread by suspending the plugin. Return soon after is_expired(), expiration_fd() or the expiration handler reports the expiration."
  static let launch = "The header: taskhost_plugin_launch registers the handler and does no I/O of consequence."
  static let launchSame = "The header: launch may be called more than once and must register the same each time."
  static let worker =
    "A worker has only the C library, the plugin and the plugin's libraries, not the checker's. Of the machine's files, it can access only the system's libraries and the plugin's own folder."
  static let workerSwift =
    "A worker provides no Swift runtime, so a plugin in Swift must bring its own. Build it with `swift build -c release -Xswiftc -static-stdlib`."
  static let late = "The header: launch functions are valid until taskhost_plugin_launch returns."
  static let crash =
    "The header: nothing may cross into the host or end its process; a crash costs the run, and in thread isolation the host."
  static let memory =
    crash
    + " Memory that the host lends is read-only here, ends at an inaccessible page, and becomes inaccessible when its time is over: the payload, identifier and request id when the handler returns, the configuration and data directory when the launch returns."
  static let fork = "The header: a plugin must not fork without exec. Use posix_spawn."
  static let exit = "The header: a plugin must not call exit, _exit or quick_exit."
  static let threadExit = "The header: a plugin must not end its run's thread with pthread_exit."
  static let handlerThreads = "The header: a handler may start threads of its own but returns only when they have finished."
  static let children = "A run must wait for the processes that it starts, otherwise each run leaves one behind: use waitpid."
  static let shutdownThreads =
    "The header: a plugin must not keep threads after taskhost_plugin_shutdown has returned. A worker process ends then, and sleeping threads end with it."
  static let shutdown = "The header: taskhost_plugin_shutdown is called once, when no run is live, and has 5 s."
  static let stale = "The header: a task handle is valid until the handler returns; 0 is never valid."
  static let context =
    "The header: a context on the run's stack is safe only if set_expiration_handler(task, NULL, NULL) is called before the handler returns."
  static let descriptor = "The header: the descriptor of expiration_fd is for poll only: never read it, never close it."
  static let arguments = "The header: EINVAL says that an argument is malformed: NULL, out of range, a bad struct_size or unknown bits."
  static let output = "A plugin's standard output and error go to the host's log, not to a run's log: use the table's log()."
  static let brokenPipe =
    "A host and its workers ignore SIGPIPE. With the default disposition, writing to a pipe or socket whose reader has gone ends the process."
  static let leak = "A worker process serves runs for days, so whatever each run keeps accumulates until a limit ends the process."
  static let timeout = "A plugin must not hang: see --timeout if it is only slow."

  /// The rules for properties that a plugin must not change.
  static let marks: [String: String] = [
    "working directory": "The header: a plugin must not change the working directory.",
    "umask": "The header: a plugin must not change the umask.",
    "locale":
      "The header: a plugin must not change the locale. In a worker process only the plugin uses it; with isolation = \"thread\" it is the host's.",
    "standard descriptors": "Descriptors that a plugin did not open are the host's: do not close or replace them.",
    "credentials": "The header: a plugin must not change the credentials.",
    "signal dispositions":
      "The header: a plugin must not install signal handlers or change dispositions. In a worker process that costs at most the stack of the plugin's own crash; with isolation = \"thread\" the signals are the host's.",
  ]
}
