import AppleCompat
import Foundation
import TaskHostSDK
import TaskHostTesting
import Testing

/// Lines of Apple's loggers in the log of a run, through the real runtime.
@Suite("Apple's loggers", .timeLimit(.minutes(10)))
struct LoggerTests {
  struct Writer: BackgroundTask {
    struct Payload: Codable { var steps: String }
    struct Broken: Error {}

    static let identifier = "org.example.writer"
    static var kind: TaskKind { .processing }

    init(_ launch: LaunchContext<NoSettings>) {}

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      let logger = AppleCompat.Logger(subsystem: "org.example", category: "feed")
      let (name, count) = ("Anna", 42)
      switch task.payload.steps {
      case "levels":
        logger.trace("trace")
        logger.debug("debug")
        logger.info("info")
        logger.notice("notice")
        logger.log("log")
        logger.warning("warning")
        logger.error("error")
        logger.fault("fault")
        logger.critical("critical")
        logger.log(level: .debug, "level")
      case "privacy":
        logger.info("\(name) \(name, privacy: .public) \(name, privacy: .private) \(name, privacy: .sensitive) \(count)")
        logger.info("\(count, privacy: .private) \(true) \(1.5, format: .fixed(precision: 1)) \(Broken()) \(URL(filePath: "/x"))")
        logger.info("\(name, privacy: .private(mask: .hash))\(name, privacy: .auto(mask: .hash))\("Bert", privacy: .private(mask: .hash))")
      case "formats":
        logger.info("\(255, format: .hex) \(255, format: .hex(includePrefix: true, uppercase: true)) \(-8, format: .octal)")
        logger.info("[\(7, align: .right(columns: 3))] [\("a", align: .left(columns: 3), privacy: .public)]")
        logger.info("\(5, format: .decimal(minDigits: 3))")
        logger.info("\(Int8.min) \(UInt64.max) \(false, format: .answer) \(1.0, format: .exponential(precision: 1)) \(Self.self)")
        logger.info("[\(1, align: .right(columns: .max))]")
      case "os_log":
        os_log("plain")
        let log = OSLog(subsystem: "s", category: "c")
        os_log("%{public}@ is %d and %@ %{private}d %s%%", log: log, type: .error, name, count, name, count, name)
        os_log(.info, "missing %d and %", 1)
        os_log("%.2f %x %{public}s %q %{public", type: .debug, 1.239, 255, nil as String?)
        os_log("nothing", log: .disabled)
        os_log(.info, "interpolated \(count)")
      default:
        let poster = OSSignposter(logger: logger)
        let state = poster.beginInterval("parse")
        poster.emitEvent("tick", "\(count)")
        poster.endInterval("parse", state)
        _ = poster.withIntervalSignpost("sum") { 1 + 1 }
        OSSignposter.disabled.emitEvent("nothing")
      }
      return .success
    }
  }

  private func lines(_ steps: String) async throws -> [LogLine] {
    let run = try await TestHost(Writer.self).run(payload: Writer.Payload(steps: steps))
    #expect(run.result == .success)
    return run.log
  }

  @Test("levels become the host's; a line names subsystem and category")
  func levels() async throws {
    let lines = try await lines("levels")
    #expect(
      lines.map { "\($0.level) \($0.message)" } == [
        "trace [org.example:feed] trace", "debug [org.example:feed] debug", "info [org.example:feed] info",
        "notice [org.example:feed] notice", "notice [org.example:feed] log", "warning [org.example:feed] warning",
        "error [org.example:feed] error", "error [org.example:feed] fault: fault", "error [org.example:feed] fault: critical",
        "debug [org.example:feed] level",
      ])
  }

  @Test("what is not public is not in the log: texts by default, numbers if the author says so; hashes of equal values are equal")
  func privacy() async throws {
    let lines = try await lines("privacy").map { $0.message.dropFirst("[org.example:feed] ".count) }
    #expect(lines.prefix(2) == ["<private> Anna <private> <private> 42", "<private> true 1.5 <private> <private>"])
    let hashes = try #require(lines.last).split(separator: ">")
    #expect(hashes.count == 3 && hashes[0] == hashes[1] && hashes[1] != hashes[2])
    #expect(hashes.allSatisfy { $0.hasPrefix("<mask.hash: '") && $0.hasSuffix("'") && !$0.contains("Anna") })
  }

  @Test("values are formatted and aligned, whatever their size")
  func formats() async throws {
    let lines = try await lines("formats").map { String($0.message.dropFirst("[org.example:feed] ".count)) }
    #expect(lines[0] == "ff 0xFF -10")
    #expect(lines[1] == "[  7] [a  ]")
    #expect(lines[2] == "005")
    #expect(lines[3] == "-128 18446744073709551615 NO 1.0e+00 Writer")
    #expect(lines[4].count == 1026)
  }

  @Test("os_log with a format: texts are private unless marked, numbers public unless marked, nothing crashes")
  func osLog() async throws {
    let lines = try await lines("os_log").map { "\($0.level) \($0.message)" }
    #expect(
      lines == [
        "notice plain", "error [s:c] Anna is 42 and <private> <private> <private>%", "info missing 1 and %",
        "debug 1.24 ff (null) %q %{public", "info interpolated 42",
      ], "\(lines)")
  }

  @Test("an interval is one line with its time")
  func signposts() async throws {
    let lines = try await lines("signposts").map { $0.message.dropFirst("[org.example:feed] ".count) }
    #expect(lines.count == 3)
    #expect(lines[0] == "tick: 42" && lines[1].hasPrefix("parse: ") && lines[2].hasPrefix("sum: "))
    #expect(lines[1].hasSuffix("seconds"))
  }

  @Test("a lock protects its state, and says when it is taken")
  func lock() async {
    let lock = OSAllocatedUnfairLock(initialState: 0)
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<1000 { lock.withLock { $0 += 1 } } } }
    }
    #expect(lock.withLock { $0 } == 8000)
    #expect(lock.withLockIfAvailable { $0 } == 8000)
    #expect(lock.withLock { _ in lock.withLockIfAvailable { $0 } } == nil)
    let plain = OSAllocatedUnfairLock()
    plain.lock()
    #expect(!plain.lockIfAvailable())
    plain.unlock()
    #expect(plain.lockIfAvailable())
    plain.unlock()
  }
}
