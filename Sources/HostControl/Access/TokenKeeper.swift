import Logging
import Synchronization

/// The tokens of a running host. It reads them again when their file changes, and closes the connections of those that were revoked.
final class TokenKeeper: Sendable {
  private struct Connection {
    let token: TokenRecord
    let close: @Sendable () -> Void
  }

  private struct State {
    var tokens: [String: TokenRecord] = [:]
    var connections: [Int: Connection] = [:]
    var next = 0
  }

  private let file: TokenFile
  private let logger: Logger
  private let state = Mutex(State())
  /// Compared with where there is no token with that id, so that an answer takes as long.
  private let dummy = [UInt8](repeating: 0, count: 32)

  /// Reads the tokens.
  init(_ file: TokenFile, logger: Logger) throws(TokenFileError) {
    self.file = file
    self.logger = logger
    let records = try file.read()
    state.withLock { $0.tokens = Self.byID(records) }
    if records.isEmpty {
      logger.warning(
        "no token exists, so nobody can use control.listen: make one with taskhost tokens create", metadata: ["file": "\(file.path)"])
    }
  }

  private static func byID(_ records: [TokenRecord]) -> [String: TokenRecord] {
    Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The file may have changed. Blocks briefly. While the file cannot be read, no token is accepted: it may revoke any of them.
  func reload() {
    var records: [TokenRecord] = []
    do { records = try file.read() } catch { logger.error("no token is accepted until this is repaired: \(error)") }
    let present = Self.byID(records)
    let (created, revoked, closing) = state.withLock { state in
      let before = state.tokens
      state.tokens = present
      let gone = state.connections.filter { present[$0.value.token.id] != $0.value.token }
      for number in gone.keys { state.connections[number] = nil }
      return (
        present.keys.filter { before[$0] == nil }.sorted(), before.keys.filter { present[$0] != before[$0] }.sorted(),
        gone.values.map(\.close)
      )
    }
    for close in closing { close() }
    guard !created.isEmpty || !revoked.isEmpty else { return }
    logger.notice(
      "the tokens have changed",
      metadata: ["created": "\(created.joined(separator: " "))", "revoked": "\(revoked.joined(separator: " "))"])
  }

  /// The record of a token; nil if it is not accepted.
  func record(of token: ControlToken) -> TokenRecord? {
    let found = state.withLock { $0.tokens[token.id] }
    let isEqual = ControlToken.areEqual(token.hash, found?.hash ?? dummy)
    return isEqual ? found : nil
  }

  /// Calls `close` when the token is revoked or changed, at once if it is by now.
  ///
  /// - Returns: A number for ``leave(_:)``.
  func enter(_ token: TokenRecord, close: @escaping @Sendable () -> Void) -> Int {
    let (number, isValid) = state.withLock { state in
      state.next += 1
      guard state.tokens[token.id] == token else { return (state.next, false) }
      state.connections[state.next] = Connection(token: token, close: close)
      return (state.next, true)
    }
    if !isValid { close() }
    return number
  }

  func leave(_ number: Int) { state.withLock { $0.connections[number] = nil } }
}
