import TaskHostSDK

/// The payload of a request, as JSON: `{"background_task":"refresh"}`. Time and conditions are fields of the request itself.
///
/// Any other payload comes from elsewhere (an operator's `taskhost submit`, a schedule) and reads as `nil`.
struct RequestDetails: Codable, Equatable, Sendable {
  let type: BackgroundTasksPlugin.Kind
  /// The submitted identifier, if the host knows only that of the wildcard.
  var identifier: String?
  var title: String?
  var subtitle: String?
  var strategy: Int?
  var protection: String?
  /// `TASKHOST_REQUIRES_` bits that the author asked for and the host lacks.
  var ignoredConditions: UInt32?

  private enum CodingKeys: String, CodingKey {
    case type = "background_task"
    case identifier, title, subtitle, strategy, protection
    case ignoredConditions = "ignored_conditions"
  }
}

extension RequestDetails {
  /// `nil` if `payload` does not come from this module.
  init?(payload: [UInt8]) {
    guard let record = try? JSON.decode(RequestDetails.self, from: payload) else { return nil }
    self = record
  }

  /// - Throws: `EncodingError`.
  func payload() throws -> [UInt8] { try JSON.encode(self) }
}
