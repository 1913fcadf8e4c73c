/// One thing that keeps a request from running now.
public struct Gate: Sendable, Hashable {
  /// The kind of gate: `paused`, `standing`, `suspended`, `no_handler`, `approval`, `predecessor`, `time`, `backoff`, `event`, `conditions`,
  /// `idle_stage`, `window`, `plugin_busy`, `host_busy`, `key_busy`, `resource`, `rate`, `quota`, `draining` or `store`; in a fleet also
  /// `host` and `prefer`; `running` or `ended` if the request is past all gates.
  public var kind: String
  /// What keeps the request from running, without a full stop: "the plugin is busy: 1 of 1 runs".
  public var sentence: String
  /// When the gate closed; nil if unknown.
  public var since: WallTime?
  /// The earliest time at which the gate can open; nil if unknown.
  public var until: WallTime?
  /// The ids of the runs and requests that keep the gate closed.
  public var heldBy: [String]
  /// What would open the gate; nil if only time does.
  public var remedy: String?
  /// Whether it holds a request of a fleet on all hosts. The others are this host's own, but for those that the request itself brings along.
  public var isOfFleet = false

  /// Creates a gate.
  public init(
    kind: String, sentence: String, since: WallTime? = nil, until: WallTime? = nil, heldBy: [String] = [], remedy: String? = nil
  ) {
    self.kind = kind
    self.sentence = sentence
    self.since = since
    self.until = until
    self.heldBy = heldBy
    self.remedy = remedy
  }
}
