extension TaskContext where Payload: Decodable {
  /// Copies what the run was given, so it stays usable when the host's memory is gone, and decodes the payload.
  ///
  /// - Throws: ``TaskHostError`` when the run is over, `DecodingError` or what the payload's own decoding throws.
  init(_ run: RunHandle) throws {
    let bytes = try run.payload()
    if Payload.self == NoPayload.self, let none = NoPayload() as? Payload {
      payload = none
    } else {
      payload = try JSON.decode(Payload.self, from: bytes)
    }
    payloadBytes = bytes
    identifier = run.functions.pointee.identifier(run.task).map { String(cString: $0) } ?? ""
    requestID = run.functions.pointee.request_id(run.task).map { String(cString: $0) } ?? ""
    attempt = Int(run.functions.pointee.attempt(run.task))
    self.run = run
  }
}
