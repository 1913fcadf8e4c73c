import TestSupport
import Foundation

extension HostProcess {
  /// Submits a payload and waits for the end of its run, whatever it is.
  ///
  /// - Returns: The answer of `submit --wait --json`: `submission`, `outcome`, `run`.
  func submitAndWait(_ identifier: String, _ payload: String) async throws -> JSON {
    let result = try await cli(["submit", identifier, "--payload", payload, "--wait", "--json"])
    guard [0, 1, 4].contains(result.status) else { throw TestFailure("submit \(payload): exit \(result.status): \(result.errors)") }
    return try result.json()
  }

  /// Sends a body to the control API.
  func post(_ path: String, _ body: String) async throws -> SocketClient.Answer {
    let socket = socket
    return try await onThread { try SocketClient(socket).request("POST", path, body: body) }
  }
}
