/// The trace of a run whose request was submitted with a `traceparent`.
///
/// It follows from the run's id, so it is the same wherever it is asked for, and nothing needs to be stored.
public struct RunTrace: Sendable, Hashable {
  /// The run's own place: the parent of the spans that its handler begins.
  public let current: TraceParent
  /// The place of the submission, if the run is the root of a new trace that is linked to it; nil if the run is its child.
  public let link: TraceParent?

  /// Creates the trace of a run. The first attempt of a request that does not repeat is a child of the submission. A retry and a run of a
  /// request that repeats come so much later that each begins a new trace.
  ///
  /// - Parameters:
  ///   - attempt: 1 for a request's first run.
  ///   - parent: What the request was submitted with.
  public init(of run: RunID, attempt: Int, isRepeating: Bool, parent: TraceParent) {
    let seed = UInt64(bitPattern: run.sequence) ^ run.origin.mixed
    let span = seed.mixed
    guard attempt > 1 || isRepeating else {
      current = TraceParent(traceHigh: parent.traceHigh, traceLow: parent.traceLow, span: span, isSampled: parent.isSampled)
      link = nil
      return
    }
    current = TraceParent(
      traceHigh: (seed ^ 0x5452_4143_4548_4947).mixed, traceLow: (seed ^ 0x5452_4143_454C_4F57).mixed, span: span,
      isSampled: parent.isSampled)
    link = parent
  }

  /// Creates the trace that a host has told.
  public init(current: TraceParent, link: TraceParent?) {
    self.current = current
    self.link = link
  }
}

extension UInt64 {
  /// The number with its bits spread over the whole range, so that ids that follow each other do not look alike.
  ///
  /// - Source: splitmix64, Sebastiano Vigna.
  var mixed: UInt64 {
    var bits = self &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}
