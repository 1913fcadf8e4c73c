/// Where an earlier run of the same request left off, at most 1 MiB; gone when the request ends.
///
/// Every function throws ``TaskHostError``: `tooBig` above 1 MiB, `unavailable` where nothing was stored, `stale` once the run is over.
public struct Checkpoint: Sendable {
  let run: RunHandle

  /// What was saved last, `nil` if nothing was.
  public func load() throws(TaskHostError) -> [UInt8]? {
    try run.read { run.functions.pointee.checkpoint_get(run.task, $0, $1, $2) }
  }

  /// Records where this run is; durable when this returns.
  public func save(_ bytes: [UInt8]) throws(TaskHostError) {
    try run.write(bytes) { run.functions.pointee.checkpoint_set(run.task, $0, $1) }
  }

  /// What was saved last, decoded from JSON, `nil` if nothing was.
  ///
  /// - Throws: `DecodingError` as well.
  public func value<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    guard let bytes = try load() else { return nil }
    return try JSON.decode(type, from: bytes)
  }

  /// Records `value` as JSON.
  ///
  /// - Throws: `EncodingError` as well.
  public func setValue(_ value: some Encodable) throws {
    try save(try JSON.encode(value))
  }
}
