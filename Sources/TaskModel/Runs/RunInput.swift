/// What the next run of a request gets from its submission.
public struct RunInput: Sendable, Hashable {
  /// The payload: that of the event it waited for, if any, otherwise the submitted one.
  public var payload: [UInt8]
  /// The trace in which the request was submitted; nil for none.
  public var traceparent: TraceParent?
  /// Why the payload cannot be read, a sentence: then the request cannot run. Nil: it could.
  public var damage: String?

  /// Creates an input.
  public init(payload: [UInt8], traceparent: TraceParent? = nil, damage: String? = nil) {
    self.payload = payload
    self.traceparent = traceparent
    self.damage = damage
  }
}
