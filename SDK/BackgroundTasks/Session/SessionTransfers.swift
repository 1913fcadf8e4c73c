import Foundation
import Synchronization
import TaskHostSDK

/// The background sessions of the process, the tasks that wait for the end of the run, and what the host tells of them.
final class SessionTransfers: Sendable {
  private struct State {
    var sessions: [String: BackgroundURLSession] = [:]
    /// Resumed, and not yet handed to the host.
    var queued: [BackgroundURLSessionTask] = []
    /// What the app's scenes do when a session has events, by the session's identifier.
    var actions: [String: @Sendable () async -> Void] = [:]
  }

  private let state = Mutex(State())
  private let runs: LiveRuns
  /// As many as a payload has room for, with long addresses.
  private static let batch = 100

  init(_ runs: LiveRuns) { self.runs = runs }

  func add(_ session: BackgroundURLSession) { state.withLock { $0.sessions[session.identifier] = session } }

  func remove(_ session: BackgroundURLSession) {
    state.withLock { state in
      if state.sessions[session.identifier] === session { state.sessions[session.identifier] = nil }
    }
  }

  func set(_ action: @escaping @Sendable () async -> Void, for session: String) { state.withLock { $0.actions[session] = action } }

  // MARK: What tasks do

  func resume(_ task: BackgroundURLSessionTask) {
    let transfer = task.mutable.withLock { mutable -> String?? in
      guard mutable.state == .suspended else { return nil }
      mutable.state = .running
      return .some(mutable.transfer)
    }
    guard let transfer else { return }
    if let transfer {
      call { try $0.resume(transfer) }
    } else {
      state.withLock { $0.queued.append(task) }
    }
  }

  func suspend(_ task: BackgroundURLSessionTask) {
    let transfer = task.mutable.withLock { mutable -> String? in
      if mutable.state == .running { mutable.state = .suspended }
      return mutable.transfer
    }
    unqueue(task)
    if let transfer { call { try $0.pause(transfer) } }
  }

  func cancel(_ task: BackgroundURLSessionTask) {
    let transfer = task.mutable.withLock { mutable -> String? in
      if mutable.state != .completed { mutable.state = mutable.transfer == nil ? .completed : .canceling }
      return mutable.transfer
    }
    unqueue(task)
    if let transfer {
      call { try $0.cancel(transfer) }
    } else {
      tell(task, URLError(.cancelled))
    }
  }

  private func unqueue(_ task: BackgroundURLSessionTask) { state.withLock { $0.queued.removeAll { $0 === task } } }

  /// Does something with a transfer that the host has, through a live run. Without one nothing happens, and the log says so.
  private func call(_ body: (Transfers) throws -> Void) {
    for channel in runs.channels {
      do {
        if try channel.call({ try body(Transfers(run: $0)) }) != nil { return }
      } catch {
        _ = channel.log(.warning, "a background session's task was not changed: \(error)")
        return
      }
    }
  }

  /// The session's tasks that have not ended.
  func tasks(of session: BackgroundURLSession) -> [BackgroundURLSessionTask] {
    var tasks = state.withLock { $0.queued.filter { $0.session === session } }
    call { transfers in
      for transfer in try transfers.list() {
        for item in transfer.items {
          guard let context = Self.context(item.path), context.session == session.identifier else { continue }
          let task = session.task(context, url: item.url, isDownload: item.isDownload)
          task.mutable.withLock { ($0.state, $0.transfer) = (transfer.isPaused ? .suspended : .running, transfer.id) }
          tasks.append(task)
        }
      }
    }
    return tasks
  }

  // MARK: To the host

  /// Hands the tasks that were resumed to the host, in batches of what they share. Called before a run ends.
  func flush(_ run: RunHandle, _ log: (Logger.Level, String) -> Void) {
    let queued = state.withLock { state in
      defer { state.queued = [] }
      return state.queued
    }
    guard !queued.isEmpty else { return }
    var groups: [(key: Group, tasks: [BackgroundURLSessionTask])] = []
    for task in queued {
      let key = Group(task)
      if let index = groups.firstIndex(where: { $0.key == key && $0.tasks.count < Self.batch }) {
        groups[index].tasks.append(task)
      } else {
        groups.append((key, [task]))
      }
    }
    for (key, tasks) in groups {
      do {
        let items = try tasks.map { task in
          let context = TransferContext(session: key.session, task: task.taskIdentifier, description: task.taskDescription)
          return (transfer: try Self.transfer(task), context: String(decoding: try JSON.encode(context), as: UTF8.self))
        }
        let id = try Transfers(run: run).submit(items, options: key.options).requestID
        for task in tasks { task.mutable.withLock { $0.transfer = id } }
      } catch {
        log(.error, "\(tasks.count) tasks of the background session \(key.session) were not begun: \(error)")
        for task in tasks {
          task.mutable.withLock { $0.state = .completed }
          tell(task, URLError(.cannotLoadFromNetwork, userInfo: [NSLocalizedDescriptionKey: "\(error)"]))
        }
      }
    }
  }

  private static func transfer(_ task: BackgroundURLSessionTask) throws -> Transfer {
    guard let url = task.originalRequest?.url?.absoluteString else { throw URLError(.badURL) }
    guard let file = task.file else { return Transfer(url: url, direction: .download(to: "")) }
    return .upload(file.path, to: url, method: task.originalRequest?.httpMethod ?? "PUT")
  }

  /// What the tasks of a batch have in common.
  private struct Group: Hashable {
    let session: String
    let headers: [String: String]
    let isExpensiveAllowed, isDiscretionary, launches: Bool
    let earliestBegin: Date?
    let priority: Int
    let atOnce: Int?

    init(_ task: BackgroundURLSessionTask) {
      let copy = task.session.copy
      session = copy.identifier
      headers = copy.headers.merging(task.originalRequest?.allHTTPHeaderFields ?? [:]) { _, own in own }
      isExpensiveAllowed = copy.isExpensiveAllowed && task.originalRequest?.allowsExpensiveNetworkAccess != false
      isDiscretionary = copy.isDiscretionary
      launches = copy.sendsLaunchEvents
      earliestBegin = task.earliestBeginDate
      let share = task.priority
      priority = share.isFinite ? Int(((min(1, max(0, share)) - 0.5) * 20).rounded()) : 0
      atOnce = copy.atOnce
    }

    var options: TransferOptions {
      var options = TransferOptions()
      options.headers = headers
      options.conditions = isExpensiveAllowed ? .network : [.network, .unmetered]
      (options.isDiscretionary, options.earliestBegin, options.priority) = (isDiscretionary, earliestBegin, priority)
      (options.atOnce, options.launchesHandler) = (atOnce, launches)
      return options
    }
  }

  // MARK: From the host

  /// Tells the delegates what became of a transfer, on the calling thread until they have been told.
  ///
  /// - Returns: Why it cannot be told; `nil` if it was.
  func deliver(_ ended: EndedTransfer, _ run: TaskRun) -> String? {
    var sessions: [String] = []
    for item in ended.items {
      if let session = Self.context(item.info.path)?.session, !sessions.contains(session) { sessions.append(session) }
    }
    for identifier in sessions {
      act(identifier, run)
      guard let session = state.withLock({ $0.sessions[identifier] }) else {
        return "there is no BackgroundURLSession with the identifier \(identifier): create it while launching"
      }
      deliver(ended.items.filter { Self.context($0.info.path)?.session == identifier }, to: session)
    }
    for item in ended.items { unlink(item.info.stagedPath) }
    return nil
  }

  /// Calls the action of the app's scene, which may create the session, and waits for it.
  private func act(_ session: String, _ run: TaskRun) {
    guard let action = state.withLock({ $0.actions[session] }) else { return }
    let done = DispatchSemaphore(value: 0)
    let executor = QueueExecutor(DispatchQueue(label: "org.taskhost.background-tasks.\(session)"))
    let work = Task(executorPreference: executor) {
      await CurrentRun.$own.withValue(run.channel.gated) { await action() }
      done.signal()
    }
    let expiration = Expiration(run.channel.run) { _ in work.cancel() }
    done.wait()
    expiration.clear()
  }

  private func deliver(_ items: [EndedTransfer.Item], to session: BackgroundURLSession) {
    let told = BlockOperation {
      for item in items {
        guard let context = Self.context(item.info.path) else { continue }
        let task = session.task(context, url: item.info.url, isDownload: item.info.isDownload)
        task.mutable.withLock { ($0.state, $0.statusCode) = (.completed, item.status) }
        var problem = item.problem
        if problem == nil, let download = task as? BackgroundURLSessionDownloadTask {
          if access(item.info.stagedPath, F_OK) == 0 {
            session.delegate?.urlSession(session, downloadTask: download, didFinishDownloadingTo: URL(filePath: item.info.stagedPath))
            unlink(item.info.stagedPath)
          } else {
            // An earlier attempt of this run has given it to the app.
            problem = nil
          }
        }
        let error = problem.map { URLError(.badServerResponse, userInfo: [NSLocalizedDescriptionKey: $0]) }
        session.delegate?.urlSession(session, task: task, didCompleteWithError: error)
      }
      session.delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: session)
    }
    session.queue.addOperation(told)
    told.waitUntilFinished()
  }

  private func tell(_ task: BackgroundURLSessionTask, _ error: URLError) {
    let session = task.session
    session.queue.addOperation { session.delegate?.urlSession(session, task: task, didCompleteWithError: error) }
  }

  private static func context(_ text: String?) -> TransferContext? {
    text.flatMap { try? JSON.decode(TransferContext.self, from: Array($0.utf8)) }
  }
}
