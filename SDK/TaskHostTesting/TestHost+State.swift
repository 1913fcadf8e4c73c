import MemoryStore
import TaskModel
import TaskScheduler

extension TestHost {
  /// The durable values of an identifier.
  ///
  /// - Parameter identifier: Default: the only, or first, one registered.
  /// - Throws: ``TestHostError`` when this host has no plugin.
  public func state(of identifier: String? = nil) throws -> [String: [UInt8]] {
    let identifier = try self.identifier(identifier)
    return try core.store.state(of: try TaskIdentifier(identifier))
  }

  /// A durable value of an identifier, decoded from JSON.
  ///
  /// - Parameters:
  ///   - type: What it is decoded as.
  ///   - key: Its key.
  ///   - identifier: Default: the only, or first, one registered.
  /// - Throws: `DecodingError`; ``TestHostError`` when there is no such value.
  public func state<Value: Decodable>(as type: Value.Type, _ key: String, of identifier: String? = nil) throws -> Value {
    guard let bytes = try state(of: identifier)[key] else { throw TestHostError.nothingThere("the state has no key \"\(key)\"") }
    return try TestJSON.decode(type, from: bytes)
  }

  /// Gives an identifier a durable value, as an earlier run would have left it: a value that is encoded as JSON, `.json(…)`, or `[UInt8]`
  /// as they are.
  ///
  /// - Parameters:
  ///   - value: What is stored.
  ///   - key: Its key.
  ///   - identifier: Default: the only, or first, one registered.
  /// - Throws: `EncodingError`, ``TestHostError``.
  public func setState(_ value: some Encodable, for key: String, of identifier: String? = nil) throws {
    let identifier = try self.identifier(identifier)
    let bytes = try TestJSON.bytes(of: value)
    try change { try $0.setState(key, to: bytes, of: try TaskIdentifier(identifier)) }
  }

  /// Gives a pending request a checkpoint, as an earlier run of it would have left it: a value that is encoded as JSON, `.json(…)`, or
  /// `[UInt8]` as they are.
  ///
  /// - Throws: `EncodingError`, ``TestHostError`` when there is no such request.
  public func setCheckpoint(_ value: some Encodable, of requestID: String) throws {
    let bytes = try TestJSON.bytes(of: value)
    let id = try record(requestID).id
    try change { try $0.setCheckpoint(bytes, of: id) }
  }
}
