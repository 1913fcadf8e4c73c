import Glibc
import PostgresTestSupport
import TestSupport

/// PgBouncer in transaction mode in front of a server.
enum PgBouncer {
  private static let program = "/usr/sbin/pgbouncer"
  static var isThere: Bool { access(program, X_OK) == 0 }

  /// Gives `body` the address of a database through a pool.
  ///
  /// - Parameter database: An address of a database that a server of tests has made.
  static func pooling(_ server: PostgresServer, database: String, _ body: (String) async throws -> Void) async throws {
    let name = database.split(separator: "dbname=").last ?? ""
    let folder = try TestDirectory()
    let settings = try folder.file(
      "pool.ini",
      """
      [databases]
      \(name) = host=\(server.directory) user=taskhost
      [pgbouncer]
      unix_socket_dir = \(folder.path)
      listen_addr =
      auth_type = any
      pool_mode = transaction
      user = nobody
      """)
    chmod(folder.path, 0o777)
    let pool = try LineProgram(["/bin/sh", "-c", "exec \"$0\" \"$1\" 2>&1", Self.program, settings])
    defer {
      pool.send(SIGTERM)
      _ = try? pool.end()
    }
    _ = try pool.line { $0.contains("process up") }
    try await body("host=\(folder.path) port=6432 user=taskhost dbname=\(name)")
  }
}
