import Foundation
import Testing

@testable import TaskHost

/// The list of keys is the configuration reader's own: a key that is added there needs a proof here.
@Suite("Every key of taskhost.toml") struct ConfigurationKeyTests {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let proofs = hostProofs.merging(limitProofs) { first, _ in first }.merging(conditionProofs) { first, _ in first }
    .merging(pluginProofs) { first, _ in first }.merging(endToEndProofs) { first, _ in first }
    .merging(commandProofs) { first, _ in first }.merging(notifyProofs) { first, _ in first }
    .merging(scheduleProofs) { first, _ in first }.merging(traceProofs) { first, _ in first }
    .merging(encryptionProofs) { first, _ in first }

  @Test("does what it says, from the file to the behaviour", arguments: HostConfiguration.keys)
  func proved(_ key: String) throws {
    switch Self.proofs[key] {
    case nil: Issue.record("\(key) has no proof: show in Tests/TaskHostTests/Keys what it does")
    case .here(let proof): try proof()
    case .endToEnd(let file, let name):
      let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      let text = try String(contentsOf: tests.appending(path: "EndToEndTests/\(file).swift"), encoding: .utf8)
      #expect(text.contains("\"\(name)\""), "EndToEndTests/\(file).swift has no test of that name")
      #expect(text.contains(key.split(separator: ".").last ?? ""), "EndToEndTests/\(file).swift does not name \(key)")
    }
  }

  @Test("that is proved exists")
  func known() {
    #expect(Set(Self.proofs.keys).subtracting(HostConfiguration.keys).isEmpty)
    #expect(HostConfiguration.keys.count == Set(HostConfiguration.keys).count)
  }
}
