import StrictText
public import TaskModel

/// Selects requests by a text: `state:failed identifier:com.example.* tag:nightly payload.account:"x" since:2h`.
///
/// Every term must match, and of the values of a term, which commas separate, one must. The store narrows by ``scan``; ``accepts(_:)`` decides.
public struct RequestFilter: Sendable, Hashable, CustomStringConvertible {
  /// What `state` says of live requests that somebody holds back, besides their own states.
  public static let paused = "paused"

  /// The text as written.
  public let text: String
  /// What a store can find: without a limit and a cursor.
  public private(set) var scan: RequestScan
  /// If the live requests that somebody holds back are selected, the states of others that are too.
  private let besidesPaused: [RequestState]?
  private let keys: [String]
  private let outcomes: [RunOutcome]
  private let payload: [PayloadTerm]

  /// Reads a filter. An empty one selects all.
  ///
  /// - Parameter now: The time from which `since` and `until` count back.
  public init(_ text: String, now: WallTime) throws(FilterError) {
    let terms = try FilterTerms(text, of: "requests", known: FilterWord.ofRequests)
    self.text = text
    var scan = RequestScan()
    scan.id = try terms.id()
    let (states, wantsPaused) = try terms.states()
    scan.states = states
    if wantsPaused {
      besidesPaused = states
      scan.states += RequestState.allCases.filter { !$0.isFinal && !states.contains($0) }
    } else {
      besidesPaused = nil
    }
    scan.identifiers = try terms.identifiers()
    scan.tags = terms.all(.tag).map { $0.values.map(\.text) }
    scan.since = try terms.moment(.since, now: now)
    scan.until = try terms.moment(.until, now: now)
    keys = terms.texts(.key)
    outcomes = try terms.outcomes()
    payload = terms.all(.payload).map(PayloadTerm.init)
    scan.readsPayload = !payload.isEmpty
    self.scan = scan
  }

  /// A text as a value of a term.
  public static func quoted(_ text: String) -> String {
    "\"" + text.replacing(scalars: ["\"": "\\\"", "\\": "\\\\"]) + "\""
  }

  /// The text as written.
  public var description: String { text }

  /// The filter with the same text that selects only what one of the patterns covers; nil if that is nothing.
  public func narrowed(to patterns: [IdentifierPattern]) -> RequestFilter? {
    var narrowed = self
    narrowed.scan.identifiers =
      scan.identifiers.isEmpty ? patterns : scan.identifiers.flatMap { own in patterns.compactMap(own.intersection) }
    return narrowed.scan.identifiers.isEmpty ? nil : narrowed
  }

  /// The members of payloads that the filter asks about: their names, from the outermost.
  public var payloadPaths: [[String]] { payload.map(\.path) }

  /// Whether the filter selects every request.
  public var selectsAll: Bool { scan == RequestScan() && keys.isEmpty && outcomes.isEmpty }

  /// The identifiers that the filter selects if it asks for nothing else, empty for all; nil if it asks for more.
  public var identifiersAlone: [IdentifierPattern]? {
    var rest = scan
    rest.identifiers = []
    return rest == RequestScan() && keys.isEmpty && outcomes.isEmpty ? scan.identifiers : nil
  }

  /// Whether a request matches. If the filter asks for it (``RequestScan/readsPayload``), the record must have its payload.
  public func accepts(_ record: RequestRecord) -> Bool {
    guard scan.covers(record) else { return false }
    if let besidesPaused, record.paused == nil || record.state.isFinal, !besidesPaused.contains(record.state) { return false }
    if !keys.isEmpty {
      guard let key = record.request.uniqueKey, keys.contains(where: { $0.utf8.elementsEqual(key.utf8) }) else { return false }
    }
    if !outcomes.isEmpty {
      guard let outcome = record.lastOutcome, outcomes.contains(outcome) else { return false }
    }
    guard !payload.isEmpty else { return true }
    let bytes = record.request.payload
    guard !bytes.isEmpty, let document = try? JSONReader.read(bytes) else { return false }
    return payload.allSatisfy { $0.matches(document, in: bytes) }
  }
}
