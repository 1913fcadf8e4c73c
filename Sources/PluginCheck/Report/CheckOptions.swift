/// Options of a check.
public struct CheckOptions: Sendable {
  /// The result of `configuration`: a JSON object.
  public var settings: String
  /// A payload that the handler accepts, at most 65,536 bytes.
  public var payload: [UInt8]
  /// The seed of everything random.
  public var seed: UInt64
  /// What to try; empty: everything.
  public var cases: Set<CheckCase>
  /// How long one case may take before its process is killed.
  public var timeout: Duration
  /// How long a run with the valid payload may take before it expires.
  public var budget: Duration
  /// How long a handler may take from its expiration to its return; nil means its kind's default.
  public var grace: Duration?
  /// How many cases are tried at once.
  public var parallel: Int

  /// Creates options; by default all cases, with the kinds' grace.
  public init(
    settings: String = "{}", payload: [UInt8] = Array("{}".utf8), seed: UInt64, cases: Set<CheckCase> = [],
    timeout: Duration = .seconds(60), budget: Duration = .seconds(5), grace: Duration? = nil, parallel: Int = 2
  ) {
    self.settings = settings
    self.payload = payload
    self.seed = seed
    self.cases = cases
    self.timeout = timeout
    self.budget = budget
    self.grace = grace
    self.parallel = max(1, parallel)
  }
}
