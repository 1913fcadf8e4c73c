import MemoryStore
import TaskModel
import TaskScheduler

extension TestHost {
  /// Returns the durable values of an identifier.
  ///
  /// - Parameter identifier: Default: the first one registered.
  /// - Throws: ``TestHostError`` when this host has no plugin.
  public func state(of identifier: String? = nil) throws -> [String: [UInt8]] {
    let identifier = try self.identifier(identifier)
    return try core.store.state(of: try TaskIdentifier(identifier))
  }

  /// Returns a durable value of an identifier, decoded from JSON.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - key: The value's key.
  ///   - identifier: Default: the first one registered.
  /// - Throws: `DecodingError`; ``TestHostError`` when the value does not exist.
  public func state<Value: Decodable>(as type: Value.Type, _ key: String, of identifier: String? = nil) throws -> Value {
    guard let bytes = try state(of: identifier)[key] else { throw TestHostError.nothingThere("the state has no key \"\(key)\"") }
    return try TestJSON.decode(type, from: bytes)
  }

  /// Stores a durable value of an identifier, as an earlier run would have left it.
  ///
  /// - Parameters:
  ///   - value: A value that is encoded as JSON, `.json(…)`, or `[UInt8]` unchanged.
  ///   - key: The value's key.
  ///   - identifier: Default: the first one registered.
  /// - Throws: `EncodingError`, ``TestHostError``.
  public func setState(_ value: some Encodable, for key: String, of identifier: String? = nil) throws {
    let identifier = try self.identifier(identifier)
    let bytes = try TestJSON.bytes(of: value)
    try change { try $0.setState(key, to: bytes, of: try TaskIdentifier(identifier)) }
  }

  /// Stores the checkpoint of a pending request, as an earlier run would have left it: a value that is encoded as JSON, `.json(…)`, or
  /// `[UInt8]` unchanged.
  ///
  /// - Throws: `EncodingError`; ``TestHostError`` when the request does not exist.
  public func setCheckpoint(_ value: some Encodable, of requestID: String) throws {
    let bytes = try TestJSON.bytes(of: value)
    let id = try record(requestID).id
    try change { try $0.setCheckpoint(bytes, of: id) }
  }
}
