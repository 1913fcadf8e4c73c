/// Why a request is not running now.
public struct RequestExplanation: Sendable, Hashable {
  /// The request.
  public var id: RequestID
  /// Every gate that is closed; empty: nothing holds it.
  public var gates: [Gate]
  /// Its place among the requests that are due and wait for the same: 1 starts next. Nil: it waits in no line, or that is not known.
  public var place: Int?
  /// When it starts if nothing changes: all gates together, its place in line and its deadline; nil: nobody knows.
  public var earliestStart: WallTime?
  /// What ``earliestStart`` rests on, a sentence each without a full stop.
  public var assumptions: [String] = []
  /// What must come true for it to run, a sentence each without a full stop; empty: nothing.
  public var wouldRunIf: [String]

  /// An explanation as given.
  public init(id: RequestID, gates: [Gate], earliestStart: WallTime? = nil, wouldRunIf: [String] = []) {
    self.id = id
    self.gates = gates
    self.earliestStart = earliestStart
    self.wouldRunIf = wouldRunIf
  }
}
