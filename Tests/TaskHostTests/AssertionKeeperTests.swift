import Glibc
import Synchronization
import TaskModel
import TestSupport
import Testing

@testable import TaskHost

/// With the real clock, a thread and processes.
@Suite("The keeper of assertions", .timeLimit(.minutes(2))) struct AssertionKeeperTests {
  /// What the keeper tells, and who waits for it.
  private final class Told: Sendable {
    private let told = Mutex<[Assertion]>([])
    private let spared = Mutex<[Set<RunID>]>([])
    let end = Event()

    var states: [Assertion.State] { told.withLock { $0.map(\.state) } }

    var sparedRuns: [Set<RunID>] { spared.withLock { $0 } }

    func spare(_ runs: Set<RunID>) { spared.withLock { $0.append(runs) } }

    func add(_ assertion: Assertion) {
      told.withLock { $0.append(assertion) }
      if assertion.state != .held { end.set() }
    }
  }

  private let told = Told()
  private let keeper: AssertionKeeper

  init() {
    let told = told
    keeper = AssertionKeeper(tell: { told.add($0) }, spare: { told.spare($0) })
  }

  @Test("a drain waits until the last one is given back")
  func giveBack() async throws {
    let first = try keeper.begin(AssertionRequest(name: "first"))
    let second = try keeper.begin(AssertionRequest(name: "second"))
    keeper.close()
    _ = try keeper.giveBack(first.id)
    let keeper = keeper
    let drain = Task { await keeper.released() }
    #expect(keeper.all.map(\.id) == [second.id])
    _ = try keeper.giveBack(second.id)
    await drain.value
    #expect(told.states == [.held, .held, .givenBack, .givenBack])
    keeper.stop()
  }

  @Test("what is told of is that the first one is taken and that the last one has ended")
  func held() throws {
    let held = Mutex<[Bool]>([])
    let keeper = AssertionKeeper(tell: { _ in }, spare: { _ in }, held: { isHeld in held.withLock { $0.append(isHeld) } })
    let first = try keeper.begin(AssertionRequest(name: "first"))
    let second = try keeper.begin(AssertionRequest(name: "second"))
    _ = try keeper.giveBack(first.id)
    #expect(held.withLock { $0 } == [true])
    _ = try keeper.giveBack(second.id)
    _ = try keeper.begin(AssertionRequest(name: "third"))
    keeper.overrule()
    #expect(held.withLock { $0 } == [true, false, true, false])
    keeper.stop()
  }

  @Test("one that nobody gives back expires by itself, also if it is taken while a longer one is waited for")
  func expires() async throws {
    let long = try keeper.begin(AssertionRequest(name: "long"))
    _ = try keeper.begin(AssertionRequest(name: "short", length: .milliseconds(20)))
    await told.end.wait()
    #expect(told.states == [.held, .held, .expired])
    #expect(keeper.all.map(\.id) == [long.id])
    keeper.overrule()
    await keeper.released()
    #expect(told.states.last == .overruled)
    keeper.stop()
  }

  @Test("one ends when its process is killed")
  func killed() async throws {
    let child = try ChildProcess(["sleep", "600"], environment: Program.plainEnvironment, descriptors: [])
    _ = try keeper.begin(AssertionRequest(name: "child", process: child.processID))
    _ = try keeper.begin(AssertionRequest(name: "this process", process: getpid()))
    child.send(SIGKILL)
    await told.end.wait()
    #expect(told.states == [.held, .held, .holderEnded])
    #expect(keeper.all.map(\.request.name) == ["this process"])
    _ = try await onThread { try child.wait() }
    keeper.stop()
  }

  @Test("a process that has ended can hold nothing")
  func gone() async throws {
    let child = try ChildProcess(["true"], environment: Program.plainEnvironment, descriptors: [])
    _ = try await onThread { try child.wait() }
    let refusal = #expect(throws: RequestRefusal.self) {
      _ = try keeper.begin(AssertionRequest(name: "child", process: child.processID))
    }
    #expect(refusal?.code == .invalid && refusal?.field == "process_id", "\(refusal?.message ?? "")")
    #expect(keeper.all.isEmpty && told.states.isEmpty)
    keeper.stop()
  }

  @Test("a drain spares the runs that hold assertions: it learns of the first, and of each end")
  func spared() throws {
    let run = RunReference(
      run: RunID(sequence: 1, origin: 1), request: RequestID(sequence: 2, origin: 1), identifier: try TaskIdentifier("a.b"))
    var request = AssertionRequest(name: "of a run")
    request.run = run
    let first = try keeper.begin(request)
    _ = try keeper.begin(request)
    _ = try keeper.begin(AssertionRequest(name: "of nobody"))
    let stranger = RunID(sequence: 9, origin: 1)
    #expect(throws: RequestRefusal.self) { try keeper.giveBack(first.id, by: stranger) }
    keeper.end(of: stranger)
    try keeper.giveBack(first.id, by: run.run)
    keeper.end(of: run.run)
    #expect(told.sparedRuns == [[run.run], [run.run], [run.run], []])
    #expect(told.states == [.held, .held, .held, .givenBack, .runEnded])
    #expect(keeper.all.map(\.request.name) == ["of nobody"])
    keeper.stop()
  }

  @Test("nothing is taken after the end")
  func stopped() throws {
    keeper.stop()
    #expect(throws: RequestRefusal.self) { _ = try keeper.begin(AssertionRequest(name: "late")) }
  }
}
