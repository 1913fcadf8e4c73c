import Glibc

/// Where the threads of a killed run stay: its process has died, so nothing of it goes on.
enum Frozen {
  /// Never returns.
  static func forever() -> Never {
    while true { pause() }
  }
}
