/// An event that a run raised.
public struct RaisedEvent: Sendable, Hashable, CustomStringConvertible {
  /// The event's name.
  public let name: String
  /// The payload of the runs that it wakes; `nil` if each request keeps its own.
  public let payload: [UInt8]?

  /// Creates an event.
  public init(name: String, payload: [UInt8]? = nil) {
    self.name = name
    self.payload = payload
  }

  /// The payload, decoded from JSON.
  ///
  /// - Throws: `DecodingError`; ``TestHostError`` when there is no payload.
  public func payload<Value: Decodable>(as type: Value.Type) throws -> Value {
    guard let payload else { throw TestHostError.nothingThere("the event has no payload") }
    return try TestJSON.decode(type, from: payload)
  }

  /// The name, and the payload if there is one.
  public var description: String { payload.map { "\(name): \($0.shown)" } ?? name }
}
