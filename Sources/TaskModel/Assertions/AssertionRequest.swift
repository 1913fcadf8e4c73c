/// Who asks for an ``Assertion``, why, and for how long.
public struct AssertionRequest: Sendable, Hashable {
  /// Who holds it, in words that an operator understands.
  public var name: String
  /// Why the host must not end; nil if the holder does not say.
  public var reason: String?
  /// How long it is held at most, on the monotonic clock.
  public var length: Duration
  /// The process that it stands for: it ends with that process. Nil: it stands until it is given back or expires.
  public var process: Int32?
  /// The user who asked for it, as the kernel says; nil if unknown.
  public var user: UInt32?
  /// The run that took it: it ends with that run. Nil: it was not taken by a plugin.
  public var run: RunReference?

  /// Creates a request. Check it with ``check()``.
  public init(
    name: String, reason: String? = nil, length: Duration = Limits.assertionPreset, process: Int32? = nil, user: UInt32? = nil
  ) {
    self.name = name
    self.reason = reason
    self.length = length
    self.process = process
    self.user = user
  }

  /// Refuses what no host takes. A refusal names the member of the JSON body.
  public func check() throws(RequestRefusal) {
    try Self.check(name, "name", atMost: Limits.assertionNameBytes)
    if let reason { try Self.check(reason, "reason", atMost: Limits.assertionReasonBytes) }
    guard Limits.assertionLengths.contains(length) else {
      let (low, high) = (Limits.assertionLengths.lowerBound.wholeMilliseconds, Limits.assertionLengths.upperBound.wholeMilliseconds)
      throw RequestRefusal(
        .invalid, "for_ms: \(length.wholeMilliseconds) is outside of \(low) to \(high): nobody holds a host for longer than 10 minutes",
        field: "for_ms")
    }
    guard process.map({ $0 > 0 }) != false else {
      throw RequestRefusal(.invalid, "process_id: \(process ?? 0) is the id of no process", field: "process_id")
    }
  }

  private static func check(_ text: String, _ field: String, atMost limit: Int) throws(RequestRefusal) {
    guard !text.isEmpty else { throw RequestRefusal(.invalid, "\(field): is empty: give it 1 to \(limit) bytes", field: field) }
    guard text.utf8.count <= limit else {
      throw RequestRefusal(.invalid, "\(field): \(text.utf8.count) bytes, more than \(limit): give a shorter one", field: field)
    }
    guard text.utf8.allSatisfy({ $0 != 0 }) else {
      throw RequestRefusal(.invalid, "\(field): it has a NUL character: leave that out", field: field)
    }
  }
}
