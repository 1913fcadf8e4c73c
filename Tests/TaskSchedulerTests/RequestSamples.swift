import StoreTestSupport
import TaskModel

@testable import TaskScheduler

extension TaskRequest {
  /// A request that is due `begin`, or at once, when those have succeeded.
  static func sample(_ identifier: TaskIdentifier = .sample(), begin: WallTime? = nil, after: [RequestID]) -> TaskRequest {
    var request = TaskRequest.sample(begin: begin, after: after.map(Dependency.Predecessor.request))
    request.identifier = identifier
    return request
  }

  /// A request that is due `begin`, or at once, when those have succeeded.
  static func sample(begin: WallTime? = nil, after: [Dependency.Predecessor]) -> TaskRequest {
    var request = TaskRequest.sample(begin: begin)
    request.after = after.map { Dependency($0) }
    return request
  }
}

extension World {
  /// Several in one submission.
  func submit(_ requests: [TaskRequest]) throws -> [Submission] {
    try turn { core, transaction in try core.submit(requests, transaction, now: self.now) }
  }
}
