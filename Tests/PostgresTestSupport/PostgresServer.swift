import Foundation
import Glibc
import StoreTestSupport
import TestSupport

/// A PostgreSQL server of its own on a Unix socket, which ends with this object or this process.
public final class PostgresServer: Sendable {
  /// The folder of its data, its socket and its log.
  public let directory: String
  private let guardian: LineProgram

  /// The server that tests share: each makes a database of its own there.
  public static let shared = Result { try PostgresServer() }

  /// Makes and starts one.
  ///
  /// - Parameter settings: Lines for its configuration, such as `max_connections = 5`.
  public init(settings: [String] = []) throws {
    let binaries = ["/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin"]
    guard let programs = binaries.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/postgres") }) else {
      throw TestFailure("there is no PostgreSQL server here: install the package postgresql")
    }
    // Short, because a socket's path is: and open to the user that the server runs as.
    let directory = "/tmp/pg-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    self.directory = directory
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    // A server refuses to be root. The shell ends it when its standard input ends, which is when this process does.
    let isRoot = geteuid() == 0
    if isRoot {
      guard let owner = getpwnam("postgres"), chown(directory, owner.pointee.pw_uid, owner.pointee.pw_gid) == 0 else {
        throw TestFailure("there is no user postgres, as whom root runs a server")
      }
    }
    let script = """
      cd \(directory) && \(programs)/initdb -D data -A trust -U taskhost --no-sync >log 2>&1 &&
      printf '%s\\n' "listen_addresses = ''" "unix_socket_directories = '\(directory)'" "fsync = off" "max_connections = 100" \
      "$@" >>data/postgresql.conf &&
      \(programs)/pg_ctl -D data -l log -w start >/dev/null 2>&1 && echo ready || { tail -5 log; echo failed; }
      while read -r order; do
        case $order in
          kill) \(programs)/pg_ctl -D data -m immediate stop >/dev/null 2>&1; echo ready;;
          start) \(programs)/pg_ctl -D data -l log -w start >/dev/null 2>&1; echo ready;;
        esac
      done
      \(programs)/pg_ctl -D data -m immediate stop >/dev/null 2>&1
      rm -rf data log
      """
    let shell = ["/bin/sh", "-c", script, "sh"] + settings
    guardian = try LineProgram((isRoot ? ["/sbin/runuser", "-u", "postgres", "--"] : []) + shell)
    let answer = try guardian.line(within: .seconds(60)) { $0 == "ready" || $0 == "failed" }
    guard answer == "ready" else { throw TestFailure("the PostgreSQL server did not start: see \(directory)/log") }
  }

  deinit {
    guardian.closeInput()
    _ = try? guardian.end(within: .seconds(30))
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Ends it as a crash does.
  public func kill() throws { try order("kill") }

  /// Starts it again.
  public func start() throws { try order("start") }

  private func order(_ word: String) throws {
    try guardian.say(word)
    try guardian.line(within: .seconds(60)) { $0 == "ready" }
  }

  /// The address of a database, as libpq takes it.
  public func address(of database: String) -> String { "host=\(directory) user=taskhost dbname=\(database)" }

  /// Makes an empty database and returns its address.
  public func makeDatabase() throws -> String {
    let name = "db_\(UInt64.random(in: 0 ... .max))"
    try run("CREATE DATABASE \(name)", on: "postgres")
    return address(of: name)
  }

  /// Runs SQL with psql, and returns what it prints: fields with | between them.
  @discardableResult public func run(_ sql: String, on database: String) throws -> String {
    let psql = try LineProgram([
      "/usr/bin/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d",
      database.contains("=") ? database : address(of: database), "-c", sql,
    ])
    let (lines, status) = try psql.end()
    guard status == 0 else { throw TestFailure("psql ended with \(status): \(sql)") }
    return lines.joined(separator: "\n")
  }
}
