import StrictText
import TaskModel

/// What a key of `taskhost top` does to the selected row, after a question.
enum TopAction: Character, CaseIterable, Sendable {
  case cancel = "c"
  case retry = "r"
  case snooze = "z"
  case discard = "d"
  case launch = "x"

  /// How long a snooze is, in milliseconds.
  static let snoozed: Int64 = 15 * 60 * 1000

  /// The question; nil if the action fits no such row.
  func question(_ row: TopRow) -> String? {
    let request = row.request.map { String($0.prefix(ShortIDText.least)) }
    let of = row.identifier.map { " of \($0)" } ?? ""
    switch self {
    case .cancel: return request.map { "Cancel request \($0)\(of)?" }
    case .retry: return request.map { "Run the failed request \($0)\(of) again?" }
    case .snooze: return request.map { "Postpone request \($0)\(of) by 15 minutes?" }
    case .discard: return request.map { "Discard the failed request \($0)\(of)?" }
    case .launch: return row.identifier.map { "Run \($0) now?" }
    }
  }

  /// The request to the host.
  func call(_ row: TopRow) -> (method: String, path: String, body: [UInt8]?) {
    let request = "/v1/requests/\(ControlClient.escape(row.request ?? ""))"
    switch self {
    case .cancel: return ("DELETE", request, nil)
    case .retry: return ("POST", "\(request)/retry", nil)
    case .snooze: return ("POST", "\(request)/snooze", JSONWriter.object { $0.member(RequestField.delay, Self.snoozed) })
    case .discard: return ("POST", "\(request)/discard", nil)
    case .launch: return ("POST", "/v1/simulate/launch", JSONWriter.object { $0.member("identifier", row.identifier ?? "") })
    }
  }

  /// What to say when it is done.
  var done: String {
    switch self {
    case .cancel: "cancelled"
    case .retry: "it runs again"
    case .snooze: "postponed"
    case .discard: "discarded"
    case .launch: "started"
    }
  }
}
