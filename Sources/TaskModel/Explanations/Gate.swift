/// One thing that keeps a request from running now.
public struct Gate: Sendable, Hashable {
  /// Which sort of gate: `standing`, `suspended`, `no_handler`, `predecessor`, `time`, `backoff`, `event`, `conditions`, `window`,
  /// `plugin_busy`, `host_busy`, `key_busy`, `resource`, `rate`, `quota`, `draining` or `store`; `running` or `ended` where it is past them.
  public var kind: String
  /// What holds the request, without a full stop: "the plugin is busy: 1 of 1 runs".
  public var sentence: String
  /// Since when it is closed; nil: that is not known.
  public var since: WallTime?
  /// When it may open at the earliest; nil: nobody knows.
  public var until: WallTime?
  /// The ids of the runs and requests that hold it closed; empty: none does.
  public var heldBy: [String]
  /// What would open it; nil: nothing but time.
  public var remedy: String?

  /// A gate as given.
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
