// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// The shape of Apple's sample: an app delegate, chains of Operation subclasses that hand results on, a cleaning that is due once a week.
class NewsDelegate: NSObject, @unchecked Sendable {
  static let shared = NewsDelegate()
  private var lastPruning: Date?

  func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "test.field.news", using: nil) { task in
      // The cast is safe: requests of this identifier are app refreshes.
      self.handleNews(task: task as! BGAppRefreshTask)
    }
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "test.field.prune", using: nil) { task in
      self.handlePruning(task: task as! BGProcessingTask)
    }
  }

  func applicationDidEnterBackground() {
    scheduleNews()
    schedulePruning()
  }

  func scheduleNews() {
    let request = BGAppRefreshTaskRequest(identifier: "test.field.news")
    request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch {
      print("Could not schedule the news: \(error)")
    }
  }

  func schedulePruning() {
    let lastPruning = self.lastPruning ?? .distantPast
    let week = TimeInterval(7 * 24 * 60 * 60)
    guard Date() > (lastPruning + week) else { return }

    let request = BGProcessingTaskRequest(identifier: "test.field.prune")
    request.requiresNetworkConnectivity = false
    request.requiresExternalPower = true
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch {
      print("Could not schedule the pruning: \(error)")
    }
  }

  func handleNews(task: BGAppRefreshTask) {
    scheduleNews()

    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let operations = NewsOperations.all()
    let lastOperation = operations.last!

    task.expirationHandler = {
      // What is under way is cancelled; the last operation's completion block completes the task.
      queue.cancelAllOperations()
    }
    lastOperation.completionBlock = {
      task.setTaskCompleted(success: !lastOperation.isCancelled)
    }
    queue.addOperations(operations, waitUntilFinished: false)
  }

  func handlePruning(task: BGProcessingTask) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let pruning = PruneOperation(before: Date(timeIntervalSinceNow: -24 * 60 * 60))

    task.expirationHandler = {
      queue.cancelAllOperations()
    }
    pruning.completionBlock = {
      let success = !pruning.isCancelled
      if success {
        self.lastPruning = Date()
      }
      task.setTaskCompleted(success: success)
    }
    queue.addOperation(pruning)
  }
}

struct NewsOperations {
  static func all() -> [Operation] {
    let fetch = FetchOperation()
    let merge = MergeOperation()
    let hand = BlockOperation { [unowned fetch, unowned merge] in
      guard case let .success(items)? = fetch.result else {
        merge.cancel()
        return
      }
      merge.items = items
    }
    hand.addDependency(fetch)
    merge.addDependency(hand)
    return [fetch, hand, merge]
  }
}

/// An operation that ends later than its `start()` returns.
class FetchOperation: Operation, @unchecked Sendable {
  enum OperationError: Error {
    case cancelled
  }

  private(set) var result: Result<[String], Error>?
  private var fetching = false
  private let lock = NSLock()

  override var isAsynchronous: Bool { return true }
  override var isExecuting: Bool { return lock.withLock { fetching } }
  override var isFinished: Bool { return lock.withLock { result != nil } }

  override func start() {
    lock.withLock { fetching = true }
    guard !isCancelled else {
      finish(result: .failure(OperationError.cancelled))
      return
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) { [weak self] in
      self?.finish(result: .success(["one", "two"]))
    }
  }

  func finish(result: Result<[String], Error>) {
    guard isExecuting else { return }
    #if canImport(ObjectiveC)
      willChangeValue(forKey: #keyPath(isExecuting))
      willChangeValue(forKey: #keyPath(isFinished))
    #else
      willChangeValue(for: \.isExecuting)
      willChangeValue(for: \.isFinished)
    #endif
    lock.withLock {
      fetching = false
      self.result = result
    }
    #if canImport(ObjectiveC)
      didChangeValue(forKey: #keyPath(isExecuting))
      didChangeValue(forKey: #keyPath(isFinished))
    #else
      didChangeValue(for: \.isExecuting)
      didChangeValue(for: \.isFinished)
    #endif
  }
}

class MergeOperation: Operation, @unchecked Sendable {
  var items: [String]?

  override func main() {
    guard let items = items else { return }
    for item in items where !isCancelled { precondition(!item.isEmpty) }
  }
}

class PruneOperation: Operation, @unchecked Sendable {
  let date: Date

  init(before date: Date) {
    self.date = date
  }

  override func main() {
    for _ in 0..<5 {
      if isCancelled { return }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }
}
