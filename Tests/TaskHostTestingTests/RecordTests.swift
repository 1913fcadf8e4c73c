import TaskHostSDK
import TaskHostTesting
import Testing

/// What a run counts and says of its progress, through the real runtime.
@Suite("Records of runs", .timeLimit(.minutes(10)))
struct RecordTests {
  struct Uploader: BackgroundTask {
    struct Payload: Decodable { var failing: Int? }
    struct Refused: Error {}

    static let identifier = "org.example.records"
    static var kind: TaskKind { .processing }

    init(_ launch: LaunchContext<NoSettings>) {}

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      task.progress(0, of: 5, unit: "files", message: "looking")
      task.addWork(WorkCounts(bytesIn: 7))
      return try await task.forEach(1...5) { number, meter in
        if number == task.payload.failing { throw Refused() }
        meter.spend(bytesOut: number)
        task.progress(UInt64(number), of: 5, message: number == 5 ? "" : "sent \(number)")
      }.taskResult
    }
  }

  @Test("a meter, forEach and addWork are summed up; the unit stays, an empty message removes the last")
  func counts() async throws {
    let host = try TestHost(Uploader.self)
    let run = try await host.run(payload: [String: Int]())
    #expect(run.result == .success)
    #expect(run.work == WorkCounts(attempted: 5, completed: 5, bytesIn: 7, bytesOut: 15))
    #expect(run.progress.first.map { "\($0)" } == "0 of 5 files: looking")
    #expect(run.progress.contains { "\($0)" == "2 of 5 files: sent 2" })
    #expect(run.progress.last.map { "\($0)" } == "5 of 5 files")
    #expect("\(run)".contains("work: 5 of 5 items, 0 failed, 7 bytes in, 15 out"))
  }

  @Test("an element whose body throws is attempted and failed")
  func failures() async throws {
    let host = try TestHost(Uploader.self)
    let run = try await host.run(payload: ["failing": 3])
    #expect(run.result == .retry())
    #expect(run.work == WorkCounts(attempted: 3, completed: 2, failed: 1, bytesIn: 7, bytesOut: 3))
  }
}
