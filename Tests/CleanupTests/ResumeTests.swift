import TestSupport
import Testing

@testable import Cleanup

@Suite("Sweep: stopping and going on") struct ResumeTests {
  @Test("cancelled half-way it stops at once, and the next run finishes exactly", arguments: [1, 4, 100])
  func resume(_ batchSize: Int) throws {
    let tree = try TestTree()
    for index in 1...20 { try tree.file("f\(index)", age: Int64(index) * 10, bytes: 10) }
    let rule = try Rule.about(tree, limits: Limits(maxCount: 5, keepNewest: 2))
    let sweep = Sweep()
    sweep.batchSize = batchSize
    var handled = 0
    sweep.interleave = { point, _ in if point == .claimed { handled += 1 } }
    sweep.isCancelled = { handled >= 6 }
    guard case .stopped(let first) = try sweep.run([rule]) else { throw TestFailure("not stopped") }
    #expect(first.removed == 6 && tree.names().count == 14)
    #expect(first.rules[0].status == .unfinished)

    sweep.isCancelled = { false }
    sweep.now += 3_600 * 1_000_000_000
    let report = try sweep.finish(rule)
    #expect(report.removed == 15 && report.bytesRemoved == 150 && report.scanned == 20 && report.matched == 20)
    #expect((1...20).filter { tree.exists("f\($0)") } == [1, 2, 3, 4, 5])
    #expect(sweep.progress.last.map { $0.completed == 15 && $0.total == 15 } == true)
  }

  @Test("ages are measured by the first run's clock, so that a pause removes nothing more")
  func instant() throws {
    let tree = try TestTree()
    try tree.file("old", age: 100)
    try tree.file("older", age: 200)
    try tree.file("young", age: 10)
    let rule = try Rule.about(tree, limits: Limits(maxAge: .seconds(50)))
    let sweep = Sweep()
    var handled = 0
    sweep.interleave = { point, _ in if point == .claimed { handled += 1 } }
    sweep.isCancelled = { handled == 1 }
    _ = try sweep.run([rule])
    sweep.isCancelled = { false }
    sweep.now += 3_600 * 1_000_000_000
    #expect(try sweep.finish(rule).removed == 2)
    #expect(tree.names() == ["young"])
  }

  @Test("a rule that is done is not carried out again, the next one is")
  func betweenRules() throws {
    let (one, two) = (try TestTree(), try TestTree())
    try one.file("a", age: 10)
    try two.file("b", age: 10)
    var (first, second) = (try Rule.about(one, limits: .everything), try Rule.about(two, limits: .everything))
    first.name = "first"
    second.name = "second"
    let sweep = Sweep()
    sweep.isCancelled = { !one.exists("a") }
    guard case .stopped = try sweep.run([first, second]) else { throw TestFailure("not stopped") }
    // The cancellation came after the last file of the first rule: it is done or empty, and the second has not begun.
    try one.file("a2", age: 10)
    #expect(two.exists("b"))
    sweep.isCancelled = { false }
    guard case .finished(let report) = try sweep.run([first, second]) else { throw TestFailure("not finished") }
    #expect(report.rules.map(\.removed) == [1, 1])
    #expect(one.exists("a2") && !two.exists("b"))
  }

  @Test("a checkpoint comes after each batch, and progress never goes back")
  func batches() throws {
    let tree = try TestTree()
    for index in 1...10 { try tree.file("f\(index)", age: Int64(index)) }
    let sweep = Sweep()
    sweep.batchSize = 3
    _ = try sweep.finish(.about(tree, limits: Limits(maxCount: 0)))
    #expect(sweep.checkpoints.map { $0.reports[0].removed } == [3, 6, 9, 10])
    #expect(sweep.progress.map(\.completed) == [0, 3, 6, 9, 10, 10])
    #expect(sweep.progress.allSatisfy { $0.total == 10 })
  }

  @Test("other rules, another version or a checkpoint of yesterday start over")
  func startOver() throws {
    let tree = try TestTree()
    let rule = try Rule.about(tree, limits: .everything)
    let sweep = Sweep()
    _ = try sweep.finish(rule)
    try tree.file("a", age: 10)
    #expect(try sweep.finish(rule).removed == 0)  // the same request, already done
    var other = rule
    other.limits.keepNewest = 0
    other.limits.maxCount = 0
    #expect(try sweep.finish(other).removed == 1)
    try tree.file("a", age: 10)
    sweep.now += 2 * 86_400 * 1_000_000_000
    #expect(try sweep.finish(other).removed == 1)
  }

  @Test("cancelled before it begins, it does nothing")
  func atOnce() throws {
    let tree = try TestTree()
    try tree.file("a", age: 10)
    let sweep = Sweep()
    sweep.isCancelled = { true }
    guard case .stopped(let report) = try sweep.run([try .about(tree, limits: .everything)]) else { throw TestFailure("not stopped") }
    #expect(report.removed == 0 && tree.exists("a"))
  }

  @Test("a dry run that was stopped does not count twice")
  func dryRun() throws {
    let tree = try TestTree()
    for index in 1...10 { try tree.file("f\(index)", age: Int64(index)) }
    var rule = try Rule.about(tree, limits: Limits(maxCount: 0))
    rule.dryRun = true
    let sweep = Sweep()
    var handled = 0
    sweep.interleave = { point, _ in if point == .chosen { handled += 1 } }
    sweep.isCancelled = { handled == 5 }
    _ = try sweep.run([rule])
    sweep.isCancelled = { false }
    #expect(try sweep.finish(rule).removed == 10)
  }

  @Test("a checkpoint of another process is known again: the mark of rules is the same in each")
  func fingerprint() throws {
    let rule = Rule(
      name: "logs", directory: "/var/log/app", glob: try Glob("**/*.[a-z]og"), recursive: true, exclude: [try Glob("audit/**")],
      limits: Limits(maxAge: .seconds(604_800), maxTotalBytes: 1 << 30), removeEmptyDirectories: true, dryRun: false)
    #expect(CleanupCheckpoint.fingerprint(of: [rule]) == "ef066e798bbbe6ca")
    var others = Array(repeating: rule, count: 6)
    others[0].name = "log"
    others[1].exclude = []
    others[2].limits.keepNewest = 1
    others[3].ageBy = [.modified]
    others[4].removesUnsure = true
    others[5].dryRun = true
    #expect(Set((others + [rule]).map { CleanupCheckpoint.fingerprint(of: [$0]) }).count == 7)
  }

  @Test("checkpoints are no more often than they are due: each is a synced write")
  func rareCheckpoints() throws {
    let tree = try TestTree()
    for index in 1...50 { try tree.file("f\(index)", age: Int64(index)) }
    let sweep = Sweep()
    (sweep.batchSize, sweep.checkpointInterval) = (1, .seconds(3_600))
    #expect(try sweep.finish(.about(tree, limits: .everything)).removed == 50)
    #expect(sweep.checkpoints.map { $0.reports[0].removed } == [50])
  }
}
