import Foundation
import Glibc
import TestSupport
import Testing

/// A host with the plugin, which may write and read in `files`, and a server.
struct TransferSurroundings: Sendable {
  let host: HostProcess
  let server: RangeServer

  func file(_ name: String) -> String { host.directory("files/\(name)") }

  /// Submits a transfer and waits for its end.
  func transfer(_ arguments: String...) async throws -> Program.Result {
    try await host.cli(["transfers", "submit"] + arguments + ["--wait"])
  }

  /// Submits a batch, and waits for the end of it.
  func batch(_ json: String, _ arguments: String...) async throws -> Program.Result {
    try host.directory.file("batch.json", json)
    return try await host.cli(["transfers", "submit", "--list", host.directory("batch.json"), "--wait"] + arguments)
  }

  /// The first sweep that was submitted after a transfer.
  func sweep(after id: String) async throws -> String {
    let requests = try await host.json("tasks", "list", "identifier:org.taskhost.transfers", "--limit", "100")["requests"]?.array ?? []
    let sweeps = requests.filter { $0["unique_key"]?.string?.hasSuffix("sweep") == true }.compactMap { $0["id"]?.string }
    // Ids sort by the time of their creation.
    return try #require(sweeps.filter { $0 > id }.min(), "no sweep in \(requests)")
  }

  /// The names in `files`, hidden ones too.
  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: host.directory("files")).sorted() }

  func expectContent(_ name: String, of path: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let expected = Data(try await server.get(path))
    let found = FileManager.default.contents(atPath: file(name))
    #expect(found == expected, "\(name): \(found?.count ?? -1) of \(expected.count) bytes", sourceLocation: sourceLocation)
  }

  /// Runs `body` with a host and a server of its own.
  ///
  /// - Parameters:
  ///   - environment: Of the host.
  ///   - readable: Further places that the plugin may read.
  ///   - options: Those of a file system in memory for `files`, which only root can mount; nil mounts none.
  static func run(
    _ configuration: String = "", environment: [String: String] = [:], reading readable: [String] = [], mounting options: String? = nil,
    _ body: (TransferSurroundings) async throws -> Void
  ) async throws {
    let server = try await RangeServer.start()
    try await HostProcess.prepare(environment: environment) { host in
      try host.directory.file(
        "plugins/libTransfers.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTransfers.so"))))
      let files = try host.directory.folder("files")
      if let options {
        let mounted = try await Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", files])
        try #require(mounted.status == 0, "\(mounted)")
      }
      defer { if options != nil { umount2(files, Int32(MNT_DETACH)) } }
      try host.configure(
        """
        \(configuration)
        [plugin."org.taskhost.transfers".entitlements]
        network = "connect"
        write = ["\(host.directory("files"))"]
        read = [\(readable.map { "\"\($0)\"" }.joined(separator: ", "))]

        """)
      try await host.start()
      try await body(TransferSurroundings(host: host, server: server))
    }
    await server.stop()
  }
}

extension HostProcess {
  /// Waits until a run of the request has told that much progress.
  func progress(of id: String, reaches count: Int64) async throws {
    let socket = socket
    try await onThread {
      let events = try SocketClient(socket, limit: .seconds(30))
      try events.send("GET /v1/stream?request=\(id) HTTP/1.1\r\nhost: x\r\n\r\n")
      _ = try events.read(until: ": subscribed\n\n")
      let client = try SocketClient(socket, limit: .seconds(30))
      let runs = try client.request("GET", "/v1/runs?request=\(id)").json()["runs"]?.array ?? []
      if (runs.first?["progress"]?["completed"]?.integer ?? 0) >= count { return }
      while true {
        _ = try events.read(until: "event: progress\ndata: ")
        let told = try JSON(parsing: try events.read(until: "\n\n"))
        if (told["completed"]?.integer ?? told["progress"]?["completed"]?.integer ?? 0) >= count { return }
      }
    }
  }
}
