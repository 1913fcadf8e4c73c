// As it is written for iOS, but for the lines that name BackgroundURLSession and BackgroundURLRequest instead of URLSession and URLRequest.

import BackgroundTasks
import Foundation

/// Two background sessions, and what the app does with them in its refreshes, one step in each.
final class Media: NSObject, BackgroundURLSessionDownloadDelegate, @unchecked Sendable {
  static let shared = Media()
  private let lock = NSLock()
  private var sessions: [String: BackgroundURLSession] = [:]

  /// Creates the session, unless this process has it.
  @discardableResult
  func connect(_ name: String) -> BackgroundURLSession {
    lock.withLock {
      if let session = sessions[name] { return session }
      let session = BackgroundURLSession(configuration: .background(withIdentifier: name), delegate: self, delegateQueue: nil)
      sessions[name] = session
      return session
    }
  }

  /// The journal tells how many steps were taken, so that they go on after a restart.
  func takeNextStep() async {
    let steps = (ProcessInfo.processInfo.environment["SESSION_STEPS"] ?? "").split(separator: " ")
    let taken = Journal.shared.lines.filter { $0.hasPrefix("step ") }.count
    guard taken < steps.count else { return }
    let step = String(steps[taken])
    Journal.shared.note("step \(step)")
    switch step {
    case "hesitate":
      let task = download("films", "never?size=1000", "never")
      task.resume()
      task.suspend()
    case "films":
      download("films", "film?size=3000000&hold=1500000", "the film").resume()
      announce("sequel")
    case "another": announce("epilogue")
    case "songs": download("songs", "song?size=200000&hold=1000", "the song").resume()
    case "upload": upload()
    case "list":
      for name in ["films", "songs"] { note(await connect(name).allTasks, of: name) }
    case "callback":
      let session = connect("films")
      await withCheckedContinuation { continuation in
        session.getAllTasks { tasks in
          self.note(tasks, of: "films")
          continuation.resume()
        }
      }
    case "suspend": for task in await connect("films").allTasks { task.suspend() }
    case "resume": for task in await connect("films").allTasks where task.taskDescription == "the film" { task.resume() }
    default: Journal.shared.note("there is no step \(step)")
    }
  }

  private func url(_ path: String) -> URL {
    let server = ProcessInfo.processInfo.environment["SESSION_SERVER"] ?? "http://127.0.0.1:1"
    return URL(string: "\(server)/\(path)") ?? URL(filePath: "/")
  }

  private func download(_ session: String, _ path: String, _ description: String) -> BackgroundURLSessionDownloadTask {
    let task = connect(session).downloadTask(with: url(path))
    task.taskDescription = description
    return task
  }

  private func announce(_ name: String) {
    let task = download("films", "\(name)?size=1000", "the \(name)")
    task.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
    task.resume()
  }

  private func upload() {
    let file = URL.documents.appending(path: "diary.bin")
    var request = BackgroundURLRequest(url: url("diary"))
    request.httpMethod = "POST"
    request.setValue("Anna", forHTTPHeaderField: "X-Author")
    // Every byte there is, and a size that is no multiple of a block.
    let bytes = Data((0..<300_001).map { UInt8(truncatingIfNeeded: $0 * 31 ^ $0 >> 8) })
    do { try bytes.write(to: file) } catch { Journal.shared.note("\(error)") }
    let task = connect("films").uploadTask(with: request, fromFile: file)
    task.taskDescription = "the diary"
    task.resume()
  }

  private func note(_ tasks: [BackgroundURLSessionTask], of name: String) {
    let all = tasks.map { task in
      let kind = task is BackgroundURLSessionDownloadTask ? "download" : "upload"
      return "\(task.taskDescription ?? "?") #\(task.taskIdentifier), \(kind), \(task.state)"
    }
    Journal.shared.note("\(name) has \(tasks.count): \(all.sorted().joined(separator: "; "))")
  }

  func urlSession(
    _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    let target = URL.documents.appending(path: downloadTask.originalRequest?.url?.lastPathComponent ?? "nameless")
    do { try FileManager.default.moveItem(at: location, to: target) } catch { Journal.shared.note("\(error)") }
    Journal.shared.note("\(downloadTask.taskDescription ?? "?") is there")
  }

  func urlSession(_ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?) {
    let end = error.map { $0.localizedDescription } ?? "status \(task.statusCode ?? -1)"
    Journal.shared.note("\(session.identifier), \(task.taskDescription ?? "?") #\(task.taskIdentifier): \(end)")
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {
    Journal.shared.note("all of \(session.identifier)")
  }
}
