/// How a host makes traces of requests that are submitted without one.
public struct TraceSampling: Sendable, Hashable {
  /// The part of these traces that is recorded, from 0 to 1.
  public var part: Double

  /// Creates a sampling.
  public init(part: Double = 1) { self.part = part }

  /// The trace of a request that was submitted without one: its root is the span of the submission.
  ///
  /// It follows from the request's id, so nothing needs to be stored, and each of its runs is decided on alike.
  public func root(of request: RequestID) -> TraceParent {
    let seed = UInt64(bitPattern: request.sequence) ^ request.origin.mixed
    let (high, low) = ((seed ^ 0x524F_4F54_4849_4748).mixed, (seed ^ 0x524F_4F54_4C4F_575F).mixed)
    // 53 bits are the exact whole numbers of a Double.
    let isSampled = Double(low >> 11) < part * 0x1p53
    return TraceParent(traceHigh: high, traceLow: low, span: TraceParent.submissionSpan(of: request), isSampled: isSampled)
  }
}

extension TraceParent {
  /// The id of the span of a request's submission, in whatever trace it is.
  static func submissionSpan(of request: RequestID) -> UInt64 {
    let span = (UInt64(bitPattern: request.sequence) ^ request.origin.mixed ^ 0x5355_424D_4954_5F5F).mixed
    return span == 0 ? 1 : span
  }

  /// The place of the submission of a request in this trace.
  public func submission(of request: RequestID) -> TraceParent {
    TraceParent(traceHigh: traceHigh, traceLow: traceLow, span: Self.submissionSpan(of: request), isSampled: isSampled)
  }

  /// Another place in this trace, for a span that belongs to this one.
  ///
  /// - Parameter number: Different for each span of one owner.
  public func inner(_ number: UInt64) -> TraceParent {
    TraceParent(
      traceHigh: traceHigh, traceLow: traceLow, span: (span ^ (number &+ 0x494E_4E45_525F_5F5F).mixed).mixed, isSampled: isSampled)
  }
}
