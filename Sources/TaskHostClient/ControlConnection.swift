import HostThreads
import TaskModel

/// A connection to a host for one request and its answer. Calls block, except ``interrupt()``.
package final class ControlConnection: Sendable {
  private let line: any ByteLine
  /// The headers that say to which host a request goes, and who sends it.
  private let headers: String

  /// Connects.
  ///
  /// - Parameter timeout: The maximum wait for the connection, and for the host to take the request.
  package init(to address: ControlAddress, timeout: Duration) throws(ConnectionFailure) {
    switch address {
    case .socket(let path):
      line = try SocketLine(to: path, timeout: timeout)
      headers = "Host: localhost\r\n"
    case .remote(let remote):
      line = try RemoteLine(to: remote, timeout: timeout)
      headers = "Host: \(remote.authority)\r\n" + (remote.token.map { "Authorization: Bearer \($0)\r\n" } ?? "")
    }
  }

  /// The process that opened the host's socket, as the kernel numbers it here; 0 if it has no number here.
  package var peerProcess: Int32 { (line as? SocketLine)?.peerProcess ?? 0 }

  package func send(_ method: String, _ path: String, _ body: [UInt8]?) throws(ConnectionFailure) {
    var head = "\(method) \(path) HTTP/1.1\r\n\(headers)Connection: close\r\n"
    if body != nil { head += "Content-Type: application/json\r\n" }
    if body != nil || method != "GET" { head += "Content-Length: \(body?.count ?? 0)\r\n" }
    try line.write(Array((head + "\r\n").utf8) + (body ?? []))
  }

  /// Reads the answer.
  ///
  /// - Parameters:
  ///   - timeout: The maximum wait for the whole answer.
  ///   - take: Called with the status and each part of the body. Returns false to stop reading.
  /// - Returns: The status.
  package func answer(timeout: Duration, _ take: (_ status: Int, _ part: [UInt8]) -> Bool) throws -> Int {
    let deadline = SystemClock.now + timeout
    var reader = AnswerReader()
    while !reader.hasEnded {
      let bytes = try line.read(until: deadline)
      guard !bytes.isEmpty else {
        if reader.mayEnd { break }
        throw ConnectionFailure("the connection ended before the answer was complete")
      }
      let part = try reader.take(bytes)
      if !part.isEmpty, !take(reader.status, part) { break }
    }
    return reader.status
  }

  /// The next bytes of a stream, as they come; none at its end.
  func read() throws(ConnectionFailure) -> [UInt8] { try line.read(until: nil) }

  /// Ends the connection: wakes a thread that reads. Any thread.
  func interrupt() { line.interrupt() }
}
