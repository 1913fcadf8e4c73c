public import TaskModel

extension HostConfiguration {
  /// `[log]`: what is logged and how.
  public struct Log: Sendable, Equatable {
    /// The least severe message that is logged.
    public enum Level: String, Sendable, CaseIterable {
      /// Every step.
      case trace
      /// What a developer of the host or a plugin wants to see.
      case debug
      /// What happens.
      case info
      /// What happens seldom.
      case notice
      /// What may need attention.
      case warning
      /// What went wrong.
      case error
      /// What stops the host.
      case critical
    }

    /// How a message is written.
    public enum Format: String, Sendable, CaseIterable {
      /// ``text`` on a terminal, else ``json``.
      case auto
      /// A line for people.
      case text
      /// A JSON object a line.
      case json
    }

    /// `level`, `info` by default.
    public var level = Level.info

    /// `format`, `auto` by default.
    public var format = Format.auto
  }

  /// `[history]`: how long records of runs are kept; whichever limit is reached first prunes.
  public struct History: Sendable, Equatable {
    /// `keep`, 1 min to 10 years; 7 days by default.
    public var keep: Duration = .seconds(7 * 86_400)

    /// `runs`, 1 to 100,000,000; 100,000 by default.
    public var runs = 100_000
  }

  /// `[retry]`: defaults for requests that say nothing.
  public struct Retry: Sendable, Equatable {
    /// How the delay grows from one attempt to the next.
    public enum Backoff: String, Sendable, CaseIterable {
      /// By the first delay each time.
      case linear
      /// Twice the last one.
      case exponential
    }

    /// `attempts`, 1 to 1000; 5 by default.
    public var attempts = 5

    /// `backoff`, exponential by default.
    public var backoff = Backoff.exponential

    /// `initial` delay, 100 ms to 30 days; 30 s by default.
    public var initial: Duration = .seconds(30)

    /// `maximum` delay, not less than ``initial``, up to 30 days; 5 h by default.
    public var maximum: Duration = .seconds(5 * 3600)
  }

  /// `[[trusted_keys]]`: a key that plugins may be signed with. Both keys are required.
  public struct TrustedKey: Sendable, Equatable {
    /// `file`: path of the public key.
    public var file = ""

    /// `identifiers` whose plugins the key may sign.
    public var identifiers: [IdentifierPattern] = []
  }
}
