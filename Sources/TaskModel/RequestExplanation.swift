/// Why a request is not running now.
public struct RequestExplanation: Sendable, Hashable {
  /// The request.
  public var id: RequestID
  /// Every gate that is closed; empty: nothing holds it.
  public var gates: [Gate]
  /// When it may start at the earliest, all gates together; nil: nobody knows.
  public var earliestStart: WallTime?
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
