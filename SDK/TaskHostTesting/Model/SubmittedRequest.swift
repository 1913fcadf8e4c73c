public import TaskHostSDK

/// A request as a plugin asked for it.
public struct SubmittedRequest: Sendable, Equatable, CustomStringConvertible {
  /// The task identifier.
  public let identifier: String
  /// The payload for the handler.
  public let payload: [UInt8]
  /// The earliest begin, in milliseconds since 1970 on the host's wall clock; `nil`: now.
  public let earliestBeginUnixMilliseconds: Int64?
  /// The request's unique name within its identifier.
  public let uniqueKey: String?
  /// What to do when a live request holds the unique key.
  public let onConflict: ConflictPolicy
  /// The conditions that the run requires.
  public let conditions: Conditions

  /// The payload, decoded from JSON.
  ///
  /// - Throws: `DecodingError`.
  public func payload<Value: Decodable>(as type: Value.Type) throws -> Value { try TestJSON.decode(type, from: payload) }

  /// The identifier, the payload, and the other fields that were set.
  public var description: String {
    var text = "\(identifier) \(payload.shown)"
    if let earliestBeginUnixMilliseconds { text += ", not before \(earliestBeginUnixMilliseconds) ms" }
    if let uniqueKey { text += ", key \"\(uniqueKey)\" (\(onConflict))" }
    if !conditions.isEmpty { text += ", conditions \(conditions.names)" }
    return text
  }
}

extension Conditions {
  static let all: Conditions = [.network, .unmetered, .power, .idle, .batteryNotLow, .storageNotLow]

  var names: String {
    let named: [(Conditions, String)] = [
      (.network, "network"), (.unmetered, "unmetered"), (.power, "power"), (.idle, "idle"), (.batteryNotLow, "battery not low"),
      (.storageNotLow, "storage not low"),
    ]
    return named.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
