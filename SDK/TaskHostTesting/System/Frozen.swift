/// Where the threads of a killed run stay: its process has died, so nothing of it goes on.
enum Frozen {
  private static let monitor = Monitor()

  /// Never returns.
  static func forever() -> Never {
    monitor.lock()
    while true { monitor.waitAsPlugin() }
  }
}
