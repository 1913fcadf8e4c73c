/// Options of a check.
public struct CheckOptions: Sendable {
  /// The result of `configuration`: a JSON object.
  public var settings = "{}"
  /// A payload that the handler accepts, at most 65,536 bytes.
  public var payload = Array("{}".utf8)
  /// The seed of everything random.
  public var seed: UInt64
  /// What to try; empty: everything.
  public var cases: Set<CheckCase> = []
  /// How long one case may take before its process is killed.
  public var timeout = Duration.seconds(60)
  /// How long a run with the valid payload may take before it expires.
  public var budget = Duration.seconds(5)
  /// How long a handler may take from its expiration to its return; nil means its kind's default.
  public var grace: Duration?
  /// How many cases are tried at once.
  public var parallel = 2

  /// Creates options: all cases, with the kinds' grace.
  public init(seed: UInt64) { self.seed = seed }
}
