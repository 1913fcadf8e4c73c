import TaskHostSDK

/// What a request's payload says, as JSON: `{"background_task":"refresh"}`. The time and the conditions are the request's own fields.
///
/// A payload that is something else was not submitted through this module (an operator's `taskhost submit`, a schedule): it reads as `nil`.
struct RequestRecord: Codable, Equatable, Sendable {
  let type: BackgroundTasksPlugin.Kind
  /// The identifier as it was submitted, where the host knows a wildcard's.
  var identifier: String?
  var title: String?
  var subtitle: String?
  var strategy: Int?
  var protection: String?
  /// `TASKHOST_REQUIRES_` bits that the author asked for and the host does not offer.
  var ignoredConditions: UInt32?

  init(
    type: BackgroundTasksPlugin.Kind, identifier: String? = nil, title: String? = nil, subtitle: String? = nil, strategy: Int? = nil,
    protection: String? = nil
  ) {
    self.type = type
    self.identifier = identifier
    self.title = title
    self.subtitle = subtitle
    self.strategy = strategy
    self.protection = protection
  }

  /// What `payload` says, if it comes from this module.
  init?(payload: [UInt8]) {
    guard let record = try? JSON.decode(RequestRecord.self, from: payload) else { return nil }
    self = record
  }

  /// The payload.
  ///
  /// - Throws: `EncodingError`.
  func payload() throws -> [UInt8] { try JSON.encode(self) }

  private enum CodingKeys: String, CodingKey {
    case type = "background_task"
    case identifier, title, subtitle, strategy, protection
    case ignoredConditions = "ignored_conditions"
  }
}
