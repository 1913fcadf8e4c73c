import ArgumentParser

/// What commands about several requests share.
enum ManyRequests {
  /// Does something to each; what is refused is told, and keeps no other from its turn.
  ///
  /// - Throws: The first refusal; `ExitCode` with its status when it has been told already.
  static func each(_ ids: [String], _ body: (String) async throws -> Void) async throws {
    var first: CommandFailure?
    for id in ids {
      do {
        try await body(id)
      } catch let failure as CommandFailure where failure.status == .refused {
        if ids.count > 1 { Terminal.note(failure.description) }
        first = first ?? failure
      }
    }
    guard let first else { return }
    if ids.count > 1 { throw ExitCode(first.status.rawValue) }
    throw first
  }

  /// Requests that the host looks at in one commit: for so long nothing else is done.
  private static let atOnce = 2000

  /// Asks the host for one page after the other of what is done to many requests.
  ///
  /// - Parameter query: What chooses them; may be empty.
  static func pages<Page: PagedAnswer>(
    of page: Page.Type, _ method: String, _ path: String, _ query: String, _ client: ControlClient, json: Bool, _ body: (Page) -> Void
  ) async throws {
    var next: String?
    repeat {
      let parts = ["limit=\(atOnce)", query, next.map { "after=\(ControlClient.escape($0))" } ?? ""].filter { !$0.isEmpty }
      let answer = try await client.send(method, "\(path)?\(parts.joined(separator: "&"))")
      if json { Terminal.print(answer.bytes) }
      let page = try answer.read(page)
      body(page)
      next = page.next
    } while next != nil
  }

  /// A query for the requests that match both.
  static func query(tag: String?, identifier: String?) -> String {
    [("tag", tag), ("identifier", identifier)].compactMap { name, value in
      value.map { "\(name)=\(ControlClient.escape($0))" }
    }.joined(separator: "&")
  }
}
