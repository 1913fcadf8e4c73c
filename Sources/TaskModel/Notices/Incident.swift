/// Something that operators may be told of, see ``NoticeRule``.
public struct Incident: Sendable, Hashable {
  /// The kinds of incidents. The raw values are part of the configuration and of what receivers get, and never change.
  public enum Kind: String, Sendable, CaseIterable {
    /// A request failed for good, or an occurrence of a repeating one.
    case failed
    /// Several runs in a row failed.
    case failing
    /// The first success after somebody was told of one of the above, or of ``overdue``.
    case recovered
    /// No run has succeeded within `expect_within`.
    case overdue
    /// A plugin gets no runs until it is released.
    case quarantined

    /// Whether a later success is told of as ``recovered``.
    public var recovers: Bool { self == .failed || self == .failing || self == .overdue }
  }

  /// What happened.
  public var kind: Kind
  /// The identifier that it happened to.
  public var identifier: TaskIdentifier
  /// The unique key of the request, unless that is the one of the identifier's `schedule`; nil for none.
  public var key: String?
  /// When it happened.
  public var time: WallTime
  /// The request, if it is about one.
  public var request: RequestID?
  /// The run, if it is about one.
  public var run: RunID?
  /// How that run ended.
  public var outcome: RunOutcome?
  /// The number of runs in a row that failed; only of ``Kind/failing``.
  public var failures: Int?
  /// What the handler or the host said of it; may have a plugin's words.
  public var message: String?

  /// Creates an incident.
  public init(_ kind: Kind, of identifier: TaskIdentifier, key: String? = nil, at time: WallTime) {
    self.kind = kind
    self.identifier = identifier
    self.key = key
    self.time = time
  }

  /// What it happened to: the identifier, or `IDENTIFIER/KEY`.
  public var subject: String { shortKey.map { "\(identifier)/\($0)" } ?? identifier.rawValue }

  /// The most bytes of a message and of a key that are passed on.
  private static let (messageBytes, keyBytes) = (300, 128)

  /// What happened, as a clause that follows ``subject``, on one line.
  public var clause: String {
    let what: String
    switch kind {
    case .failed: what = "failed for good"
    case .failing: what = "failed \(failures ?? 0) times in a row"
    case .recovered: what = "has succeeded again"
    case .overdue: what = "is overdue"
    case .quarantined: what = "gets no more runs until it is released"
    }
    return what + (shortMessage.map { ": \($0)" } ?? "")
  }

  /// The beginning of the message, on one line and without control characters; nil if there is none.
  public var shortMessage: String? { message.flatMap { $0.isEmpty ? nil : Self.shortened($0, to: Self.messageBytes) } }

  /// The beginning of the key, on one line and without control characters; nil if there is none.
  public var shortKey: String? { key.map { Self.shortened($0, to: Self.keyBytes) } }

  private static func shortened(_ text: String, to limit: Int) -> String {
    // What is cut off is not escaped first: a message may be long.
    let line = String(decoding: text.utf8.prefix(limit + 1), as: UTF8.self).escapingControlCharacters
    return line.utf8.count > limit ? String(decoding: line.utf8.prefix(limit), as: UTF8.self) + "…" : line
  }
}
