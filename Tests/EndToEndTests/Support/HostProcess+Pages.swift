import TestSupport
import Testing

/// The answer to a request for a page of the dashboard.
struct PageAnswer {
  let status: Int
  let head: String
  let text: String
}

extension HostProcess {
  /// Asks for a page of the dashboard over the host's socket.
  func page(_ method: String, _ path: String, _ headers: [String] = [], form: String = "") async throws -> PageAnswer {
    try await onThread { [socket] in
      let client = try SocketClient(socket)
      let lines = ["\(method) \(path) HTTP/1.1", "host: localhost", "connection: close", "content-length: \(form.utf8.count)"] + headers
      try client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + form)
      let head = try client.read(until: "\r\n\r\n")
      let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) }
      return PageAnswer(status: status ?? 0, head: head, text: try client.readToEnd())
    }
  }

  /// Sends a form of a page, and returns the path that it leads to.
  func sendForm(_ path: String, _ form: String = "") async throws -> String {
    let answer = try await page("POST", path, ["sec-fetch-site: same-origin"], form: form)
    #expect(answer.status == 303, "\(path): \(answer.text)")
    return answer.head.split(separator: "\r\n").first { $0.hasPrefix("location: ") }.map { String($0.dropFirst(10)) } ?? ""
  }
}
