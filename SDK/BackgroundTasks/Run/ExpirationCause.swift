import TaskHostSDK

enum ExpirationCause: Equatable, Sendable {
  /// The host says so.
  case host(StopReason)
  /// The 30 s of an app refresh are over; this module counts them if the identifier has a longer kind.
  case refresh(Duration)

  /// A sentence for people.
  var sentence: String {
    switch self {
    case .refresh(let budget): "Its \(budget) as an app refresh task are over."
    case .host(.none): "The host has given the run up."
    case .host(.budget): "Its time is over."
    case .host(.cancelled): "Its request was cancelled."
    case .host(.conditions): "A condition it requires was lost."
    case .host(.draining): "The host is shutting down."
    case .host(.replaced): "A newer request took its place."
    case .host(.stalled): "Its progress has not risen for too long."
    case .host(.other(let reason)): "The host asked it to stop (reason \(reason))."
    }
  }

  /// Whether the run itself took too long; otherwise something around it changed.
  var isOvertime: Bool {
    switch self {
    case .refresh, .host(.budget), .host(.stalled): true
    case .host: false
    }
  }
}
