/// The words of filters. Names are fixed: scripts use them.
enum FilterWord: String, CaseIterable {
  case id, state, identifier, tag, key, outcome, request, since, until, payload

  /// The words for requests.
  static let ofRequests: [FilterWord] = [.id, .state, .identifier, .tag, .key, .outcome, .since, .until, .payload]
  /// The words for runs.
  static let ofRuns: [FilterWord] = [.id, .identifier, .outcome, .request, .since, .until]

  /// A term that shows how to use the word.
  var example: String {
    switch self {
    case .id: "id:01976c1e"
    case .state: "state:failed"
    case .identifier: "identifier:com.example.*"
    case .tag: "tag:nightly"
    case .key: "key:monthly-report"
    case .outcome: "outcome:crashed"
    case .request: "request:01976c1e-0000-7000-8000-000000000000"
    case .since: "since:2h"
    case .until: "until:2026-11-21T08:00:00Z"
    case .payload: "payload.account:\"x\""
    }
  }

  /// Whether the word may occur more than once; each term narrows the filter.
  var mayRepeat: Bool { self == .tag || self == .payload }
}
