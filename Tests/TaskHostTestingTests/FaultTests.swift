import CTaskHost
import Glibc
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Faults", .timeLimit(.minutes(10)))
struct FaultTests {
  /// Writes three values and tells how many it could.
  private func writer() throws -> TestHost {
    try TestHost.with { task in
      var written = 0
      for number in 1...3 {
        do {
          try task.state.setValue(number, for: "value \(number)")
          written += 1
        } catch let error as TaskHostError where error.code == .unavailable {
          task.logger.warning("\(error.message)")
        }
        try await task.sleep(for: .seconds(10))
      }
      try task.setOutput(written)
      return .success
    }
  }

  @Test("a full disk fails writes from the nth on, and stores nothing")
  func fromNth() async throws {
    let host = try writer()
    host.fillDisk(fromCall: 2)
    let run = try await host.run()
    #expect(try run.output(as: Int.self) == 1)
    #expect(try host.state().keys.sorted() == ["value 1"])
    #expect(run.log.map(\.message) == ["the store is full", "the store is full"])
    #expect(run.stateWrites == 1)
    host.repair()
    #expect(try await host.run().output(as: Int.self) == 3)
  }

  @Test("a full disk fails so many writes")
  func some() async throws {
    let host = try writer()
    host.fillDisk(fromCall: 1, count: 2)
    #expect(try await host.run().output(as: Int.self) == 1)
    #expect(try host.state().keys.sorted() == ["value 3"])
  }

  @Test("a full disk fails the writes in a span of time")
  func span() async throws {
    let host = try writer()
    host.fillDisk(during: .seconds(5)..<(.seconds(15)))
    #expect(try await host.run().output(as: Int.self) == 2)
    #expect(try host.state().keys.sorted() == ["value 1", "value 3"])
  }

  @Test("any call answers any status, and its sentence is the test's")
  func anyStatus() async throws {
    let host = try TestHost.with { task in
      let load = #expect(throws: TaskHostError.self) { try task.checkpoint.load() }
      #expect(load == TaskHostError(status: taskhost_status(TASKHOST_EINTERNAL), message: "a defect"))
      let submit = #expect(throws: TaskHostError.self) { try task.submit(TaskRequest(identifier: task.identifier)) }
      #expect(submit?.code == .limit)
      return .success
    }
    host.fail(.checkpointGet, with: taskhost_status(TASKHOST_EINTERNAL), "a defect")
    host.fail(.submit, with: taskhost_status(TASKHOST_ELIMIT))
    let run = try await host.run()
    #expect(run.result == .success, "\(run)")
    #expect(run.submissions.isEmpty)
    #expect(host.pendingRequests.isEmpty)
  }

  @Test("slow calls take virtual time, and expiration does not shorten them")
  func slow() async throws {
    let host = try TestHost.with(Refresh.self) { task in
      for number in 0..<10 { try task.checkpoint.setValue(number) }
      return task.isExpired ? .snooze() : .success
    }
    host.slow(.checkpointSet, by: .milliseconds(3200))
    let run = try await host.run()
    #expect(run.duration == .seconds(32))
    #expect(run.expiredAfter == .seconds(30))
    #expect(run.result == .snooze())
  }

  @Test("a server that refuses and one that never answers hold their ports")
  func servers() throws {
    let refusing = try FaultyServer(.refusing)
    #expect(connects(to: refusing.port) == ECONNREFUSED)
    let silent = try FaultyServer(.silent)
    #expect(connects(to: silent.port) == 0)
    #expect(silent.url == "http://127.0.0.1:\(silent.port)")
    #expect(silent.port != refusing.port)
  }

  /// The errno of a connection; 0: it was made.
  private func connects(to port: UInt16) -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        connect(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 ? 0 : errno
      }
    }
  }
}
