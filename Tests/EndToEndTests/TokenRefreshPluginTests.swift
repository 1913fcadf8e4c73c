import Foundation
import TestSupport
import Testing

/// The plugin of tokens in a worker: it schedules itself, and tells of sign-ins and sign-outs.
@Suite("Token refresh plugin", .timeLimit(.minutes(20)))
struct TokenRefreshPluginTests {
  @Test("without a schedule, a token is refreshed before it expires, and the next run is when the new one needs it")
  func schedulesItself() async throws {
    try await TokenHost.run(starts: false) { at in
      // Due 720 s before it expires: by then, the host has started and somebody waits for its event, on a busy machine too.
      try at.signIn(expiresIn: 735)
      try await at.host.start()
      try await at.host.request(try await at.waiting(for: "token-refresh.refreshed"), is: "succeeded")
      #expect(try at.accessToken == "ACCESS-number-1")
      try await at.host.current.line(with: "mail: refreshed")
      let due = try #require(try await at.own("next")?["due_unix_ms"]?.integer)
      #expect(abs(Double(due) / 1000 - Date().timeIntervalSince1970 - 2880) < 60, "\(due)")
      // Its own change of the file is not a sign-in, and asks the server nothing.
      try await at.host.terminate()
      try await at.host.start()
      #expect(try await at.server() == 1)
    }
  }

  @Test("a token file that appears, changes or goes raises an event, with the account in its payload")
  func signInAndOut() async throws {
    try await TokenHost.run { at in
      try await at.host.request(try await firstLook(at), is: "succeeded")
      let signedIn = try await at.waiting(for: "token-refresh.signed-in")
      try at.signIn()
      try await at.host.request(signedIn, is: "succeeded")
      try await at.host.current.line(with: "token_file", "mail.json")
      let signedOut = try await at.waiting(for: "token-refresh.signed-out")
      try FileManager.default.removeItem(atPath: at.file)
      try await at.host.request(signedOut, is: "succeeded")
      let again = try await at.waiting(for: "token-refresh.signed-in")
      try at.signIn("second", expiresIn: 722)
      try await at.host.request(again, is: "succeeded")
    }
  }

  @Test("a sign-in while the host was down is told after the next launch")
  func whileDown() async throws {
    try await TokenHost.run { at in
      try await at.host.request(try await firstLook(at), is: "succeeded")
      let signedIn = try await at.waiting(for: "token-refresh.signed-in")
      try await at.host.terminate()
      try at.signIn()
      try await at.host.start()
      try await at.host.request(signedIn, is: "succeeded")
    }
  }

  /// The look at launch, with which the plugin begins to watch.
  private func firstLook(_ at: TokenHost) async throws -> String {
    let requests = try await at.host.json("tasks", "list", "--identifier", TokenHost.identifier)["requests"]?.array ?? []
    return try #require(requests.first { $0["unique_key"]?.string == "look" }?["id"]?.string, "\(requests)")
  }
}
