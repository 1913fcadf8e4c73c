import Glibc

/// Where the threads of a killed run stop for ever.
enum Frozen {
  static func forever() -> Never {
    while true { pause() }
  }
}
