import TaskHostClient

/// A page of requests.
struct RequestPage: ListingPage {
  let requests: [RequestAnswer]
  let next: String?
  let incomplete: String?

  var rows: [RequestAnswer] { requests }
}

/// A part of the requests that matched was cancelled.
struct CancelledAnswer: PagedAnswer {
  let cancelled: Int64
  let next: String?
}

/// A page of failed requests that are pending again.
struct RetriedAnswer: PagedAnswer {
  struct Refusal: Decodable {
    let id: String
    let message: String
  }

  let retried: [String]
  let refused: [Refusal]
  let next: String?
}

/// A part of the requests that a bulk action is for.
struct BulkAnswer: PagedAnswer {
  /// Why requests stay as they are, and how many.
  struct Reason: Decodable {
    let reason: String
    let count: Int64
  }

  let matched: Int64
  let changes: Int64
  let reasons: [Reason]
  let done: [String]
  let refused: [RetriedAnswer.Refusal]
  let next: String?
}

/// A page of failed requests that were discarded.
struct DiscardedAnswer: PagedAnswer {
  let discarded: [String]
  let next: String?
}
