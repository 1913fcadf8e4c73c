public import Logging
public import TaskModel

extension HostConfiguration {
  /// `[log]`: what is logged and how.
  public struct Log: Sendable, Equatable {
    /// How a message is written.
    public enum Format: String, Sendable, CaseIterable {
      /// ``text`` on a terminal, else ``json``.
      case auto
      /// A line for people.
      case text
      /// A JSON object a line.
      case json
    }

    /// `level`: the least severe message that is logged; `info` by default.
    public var level = Logger.Level.info

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

  /// `[[trusted_keys]]`: a key that plugins may be signed with. Both keys are required.
  public struct TrustedKey: Sendable, Equatable {
    /// `file`: path of the public key.
    public var file = ""

    /// `identifiers` whose plugins the key may sign.
    public var identifiers: [IdentifierPattern] = []
  }
}
