import TaskModel

/// What was done, as the address of the page says that follows. Only these words are known: nobody's link can put a sentence into a page.
enum PageResult: String {
  case cancelled, stopping, retried, discarded, snoozed, paused, resumed, started, expired, released, overridden, cleared
  case pauseBegun = "pause_begun"
  case pauseEnded = "pause_ended"
  case created, kept, replaced, updated, appended, bulk

  init(_ disposition: Disposition) { self = Self(rawValue: disposition.rawValue) ?? .created }

  func sentence(_ count: Int?) -> String {
    let requests = count == 1 ? "1 request was" : "\(count ?? 0) requests were"
    return switch self {
    case .cancelled: "The request was cancelled."
    case .stopping: "The run was asked to stop; the request ends with it."
    case .retried: "The request is pending again."
    case .discarded: "The dead letter was discarded."
    case .snoozed: "The request was postponed; one that is due later anyway keeps its time."
    case .paused: "The request is paused until somebody resumes it."
    case .resumed: "The request goes on."
    case .started: "It was made due at once, and goes ahead of others."
    case .expired: count == 1 ? "1 run was asked to stop." : "\(count ?? 0) runs were asked to stop."
    case .released: "The plugin gets runs again."
    case .overridden: "The condition is overridden until the override is cleared."
    case .cleared: "The machine decides again."
    case .pauseBegun: "The pause is in force: \(count == 1 ? "1 request waits" : "\(count ?? 0) requests wait") now."
    case .pauseEnded: "\(count == 1 ? "The pause has" : "\(count ?? 0) pauses have") ended: what no other pause holds goes on."
    case .created: "The request was submitted."
    case .kept: "A live request with this key was kept; nothing was added."
    case .replaced: "The request was submitted in place of the one with its key."
    case .updated: "The request with this key was changed."
    case .appended: "The request was submitted, and waits for the one with its key."
    case .bulk: "\(requests) changed or asked to stop."
    }
  }
}
