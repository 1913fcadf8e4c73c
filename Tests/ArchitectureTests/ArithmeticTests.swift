import Foundation
import Testing

/// Outside input can hold times at the ends of their range, where `+` and `-` on plain numbers trap. TaskModel's operators saturate instead.
/// These tests find code that calculates with the number inside a time.
@Suite("Arithmetic on times") struct ArithmeticTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// These calculate in a bounded range or with saturating operators.
  private static let exempt: Set<String> = [
    "TaskModel",
    // Bounds its moments first.
    "SchedulingLimits/RunQuotaMeter.swift",
    // These use only times that the machine measured.
    "PluginCheck/SeededRandom.swift", "HostThreads/RateAllowance.swift", "HostConditions/Monitor/ConditionLoop.swift",
    "HostConditions/Bus/BusConnection.swift",
  ]

  private static let number = "(unixMilliseconds|wholeMilliseconds|wholeNanoseconds|nanoseconds)"
  private static let forbidden = [
    ("a sum or product of the number in a time", "\\.\(number)\\)? [-+*] "),
    ("a sum or product of the number in a time", " [-+*] [A-Za-z.]*\\.\(number)\\b(?!\\()"),
    ("the parts of a duration", "\\bduration\\.components\\b"),
    ("a duration made of a fraction", "\\.(seconds|milliseconds|microseconds|nanoseconds)\\((Double\\b|[0-9]+\\.[0-9])"),
  ]

  @Test("saturates at the ends of the range, in every module of the host")
  func saturating() throws {
    let sources = Self.root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var seen = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let name = file.path().dropFirst(sources.path().count).drop { $0 == "/" }
      if Self.exempt.contains(where: { name == $0 || name.hasPrefix($0 + "/") }) { continue }
      seen += 1
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for (what, pattern) in Self.forbidden where line.range(of: pattern, options: .regularExpression) != nil {
          Issue.record("\(name):\(number + 1) has \(what): use the operators of WallTime, MonotonicTime and Duration")
        }
      }
    }
    #expect(seen > 200)
  }

  /// Modules that do not import TaskModel or are not part of the host.
  private static let strangers: Set<String> = ["TaskModel", "HTTPTransfer", "HostWatches", "NoticeDelivery", "PluginCheck"]

  @Test("a file that names durations imports the saturating operators")
  func imported() throws {
    let sources = Self.root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      let name = file.path().dropFirst(sources.path().count).drop { $0 == "/" }
      guard !Self.strangers.contains(where: { name.hasPrefix($0 + "/") }) else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.range(of: "\\bDuration\\b", options: .regularExpression) != nil else { continue }
      #expect(text.contains("import TaskModel\n"), "\(name) names Duration and does not import TaskModel")
    }
  }
}
