import HTTPTransfer

/// A browser as far as HTTP goes: sends what browsers send, and runs no script.
struct PageClient: Sendable {
  struct Answer: Sendable {
    let head: TransferHead
    let text: String
    var status: Int { head.status }
    /// Where a form leads.
    var location: String? { head.values("location").first }
  }

  let socket: String

  func get(_ path: String, _ headers: [(name: String, value: String)] = []) async throws -> Answer {
    try await send("GET", path, headers)
  }

  /// Sends a form as a page of the host does.
  func post(_ path: String, _ form: String = "") async throws -> Answer {
    try await send("POST", path, [("sec-fetch-site", "same-origin")], form)
  }

  func send(_ method: String, _ path: String, _ headers: [(name: String, value: String)], _ form: String? = nil) async throws -> Answer {
    var request = TransferRequest(url: "http://localhost" + path)
    request.method = method
    request.socketPath = socket
    request.timeout = .seconds(30)
    request.headers = headers
    request.body = form.map { Array($0.utf8) }
    let answer = try await Transfer(request).onThread { transfer throws(TransferFailure) in try transfer.answer(mostBytes: 1 << 24) }
    return Answer(head: answer.head, text: String(decoding: answer.body, as: UTF8.self))
  }
}
