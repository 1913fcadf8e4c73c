public import FoundationEssentials

/// A request for a run, as a plugin submits it.
public struct TaskRequest: Sendable {
  /// The task identifier: the plugin's own, or one that the operator permits.
  public var identifier: String

  /// The bytes for the run, JSON by convention; at most 65,536.
  public var payload: [UInt8]

  /// The earliest start on the host's clock, rounded up to milliseconds; `nil` or a past time means now.
  public var earliestBegin: Date?

  /// The request's unique name within its identifier, 1 to 256 bytes of UTF-8; `nil`: none.
  public var uniqueKey: String?

  /// What to do when a live request holds the unique key. Anything but ``ConflictPolicy/none`` needs a ``uniqueKey``.
  public var onConflict: ConflictPolicy

  /// The conditions that the run requires.
  public var conditions: Conditions

  /// Creates a request with a payload of bytes.
  public init(
    identifier: String, payload: [UInt8] = [], earliestBegin: Date? = nil, uniqueKey: String? = nil, onConflict: ConflictPolicy = .none,
    conditions: Conditions = []
  ) {
    self.identifier = identifier
    self.payload = payload
    self.earliestBegin = earliestBegin
    self.uniqueKey = uniqueKey
    self.onConflict = onConflict
    self.conditions = conditions
  }

  /// Creates a request whose payload is `json`, encoded as JSON.
  ///
  /// - Throws: `EncodingError`.
  public init(
    identifier: String, json: some Encodable, earliestBegin: Date? = nil, uniqueKey: String? = nil, onConflict: ConflictPolicy = .none,
    conditions: Conditions = []
  ) throws {
    self.init(
      identifier: identifier, payload: try JSON.encode(json), earliestBegin: earliestBegin, uniqueKey: uniqueKey, onConflict: onConflict,
      conditions: conditions)
  }
}
