/// The point at which an earlier run of the same request stopped, at most 1 MiB; deleted when the request ends.
///
/// Every function throws ``TaskHostError``: `tooBig` above 1 MiB, `unavailable` if nothing was stored, `stale` once the run is over.
public struct Checkpoint: Sendable {
  let run: RunHandle

  /// The last saved value; `nil` if there is none.
  public func load() throws(TaskHostError) -> [UInt8]? {
    try run.read { run.functions.pointee.checkpoint_get(run.task, $0, $1, $2) }
  }

  /// Saves the point that this run has reached; durable when this returns.
  public func save(_ bytes: [UInt8]) throws(TaskHostError) {
    try run.write(bytes) { run.functions.pointee.checkpoint_set(run.task, $0, $1) }
  }

  /// The last saved value, decoded from JSON; `nil` if there is none.
  ///
  /// - Throws: `DecodingError` as well.
  public func value<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    guard let bytes = try load() else { return nil }
    return try JSON.decode(type, from: bytes)
  }

  /// Saves `value` as JSON.
  ///
  /// - Throws: `EncodingError` as well.
  public func setValue(_ value: some Encodable) throws {
    try save(try JSON.encode(value))
  }
}
