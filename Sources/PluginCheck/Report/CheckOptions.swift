/// The options of a check.
public struct CheckOptions: Sendable {
  /// The settings that `configuration` returns: a JSON object.
  public var settings = "{}"
  /// A payload that the handler accepts, at most 65,536 bytes.
  public var payload = Array("{}".utf8)
  /// The seed of all random choices.
  public var seed: UInt64
  /// The cases to try; empty means all.
  public var cases: Set<CheckCase> = []
  /// How long one case may take before its process is killed.
  public var timeout = Duration.seconds(60)
  /// How long a run with the valid payload may take before it expires.
  public var budget = Duration.seconds(5)
  /// How long a handler may take from its expiration to its return; nil means its kind's default.
  public var grace: Duration?
  /// The maximum number of cases that run at once.
  public var parallel = 2

  /// Creates options with all cases and the kinds' default grace.
  public init(seed: UInt64) { self.seed = seed }
}
