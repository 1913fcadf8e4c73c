import TaskModel

/// A span of a trace, as OpenTelemetry has it.
struct Span: Sendable {
  /// Its role (`SpanKind` of OTLP).
  enum Kind: Int, Sendable {
    case inner = 1
    case producer = 4
    case consumer = 5
  }

  /// The value of an attribute.
  enum Value: Sendable, Equatable {
    case text(String)
    case number(Int64)
    case fraction(Double)
    case flag(Bool)
  }

  /// Its trace and its own id.
  let place: TraceParent
  /// The span that it is a part of; nil for the root of a trace.
  var parent: TraceParent?
  /// What it follows from, in another trace.
  var link: TraceParent?
  let name: String
  let kind: Kind
  /// When it began and ended, in nanoseconds since 1970.
  let start, end: UInt64
  var attributes: [(name: String, value: Value)]
  /// Why it failed, in one word or two; nil if it did not.
  var failure: String?
}

extension WallTime {
  /// Nanoseconds since 1970: 0 for what is before, the largest number for what is too far away.
  var unixNanoseconds: UInt64 {
    let (nanoseconds, isTooLarge) = UInt64(max(0, unixMilliseconds)).multipliedReportingOverflow(by: 1_000_000)
    return isTooLarge ? .max : nanoseconds
  }
}
