import TaskModel

/// Which requests in backoff are tried again as soon as a file changes.
///
/// Kept in memory alone, as a hint: a request that is missing here waits for its backoff, and one that no longer is in its backoff is left
/// alone when its file changes.
struct AwaitedRetries {
  private var files: [RequestID: String] = [:]
  private var requests: [String: Set<RequestID>] = [:]
  /// The most files; requests that wait for others wait for their backoff.
  private static let mostFiles = 1000

  var paths: some Collection<String> { requests.keys }

  /// The file that a request waits for; nil if it waits for none.
  func path(of request: RequestID) -> String? { files[request] }

  /// The requests that wait for a file, oldest first.
  func requests(awaiting path: String) -> [RequestID] { (requests[path] ?? []).sorted() }

  mutating func add(_ request: RequestID, path: String) {
    guard files[request] != path else { return }
    remove(request)
    guard requests[path] != nil || requests.count < Self.mostFiles else { return }
    files[request] = path
    requests[path, default: []].insert(request)
  }

  mutating func remove(_ request: RequestID) {
    guard let path = files.removeValue(forKey: request) else { return }
    requests[path]?.remove(request)
    if requests[path]?.isEmpty == true { requests[path] = nil }
  }
}
