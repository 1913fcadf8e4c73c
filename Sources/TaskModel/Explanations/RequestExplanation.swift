/// Why a request is not running now.
public struct RequestExplanation: Sendable, Hashable {
  /// The request.
  public var id: RequestID
  /// The closed gates; empty if nothing keeps it from running.
  public var gates: [Gate]
  /// The request's place among the due requests that wait for the same thing: 1 starts next. Nil if it does not queue or the place is
  /// unknown.
  public var place: Int?
  /// When the request starts if nothing changes, from all gates, its place and its deadline; nil if unknown.
  public var earliestStart: WallTime?
  /// The assumptions behind ``earliestStart``, each a sentence without a full stop.
  public var assumptions: [String] = []
  /// What must happen for the request to run, each a sentence without a full stop.
  public var wouldRunIf: [String]

  /// What the operator expects of its identifier, and whether it is late, each a sentence without a full stop.
  public var expectations: [String] = []

  /// Creates an explanation.
  public init(id: RequestID, gates: [Gate], earliestStart: WallTime? = nil, wouldRunIf: [String] = []) {
    self.id = id
    self.gates = gates
    self.earliestStart = earliestStart
    self.wouldRunIf = wouldRunIf
  }
}
