import CTaskHost
import Testing

@testable import Cleanup

@Suite("The plugin, through the SDK and the C table", .serialized) struct CleanupTaskTests {
  private func settings(_ directory: String, _ more: String = "") -> String {
    #"{"rules": [{"name": "logs", "directory": "\#(directory)", "glob": "*.log", "max_age": "1m"\#(more)}]}"#
  }

  @Test("something to remove is a success, then there is nothing to do, and the next occurrence finds what is new")
  func outcomes() throws {
    let tree = try TestTree()
    try tree.file("old.log", age: 100, bytes: 2_048)
    let driver = TaskDriver(settings: settings(tree.path))
    #expect(driver.status == TASKHOST_OK)
    let first = try driver.run()
    #expect(first.result == taskhost_result(TASKHOST_SUCCESS) && first.message == "removed 1 files (2 KiB)")
    #expect(first.output.contains(#""bytes_removed":2048"#) && first.output.contains(#""status":"done""#))
    #expect(try driver.run().result == taskhost_result(TASKHOST_NOOP))
    try tree.file("old.log", age: 100)
    #expect(try driver.run("null").result == taskhost_result(TASKHOST_SUCCESS))
    #expect(tree.names().isEmpty)
  }

  @Test("the payload makes it a dry run, and a wrong one is a failure with the reason")
  func payload() throws {
    let tree = try TestTree()
    try tree.file("old.log", age: 100)
    let driver = TaskDriver(settings: settings(tree.path))
    let dry = try driver.run(#"{"rule": "logs", "dry_run": true}"#)
    #expect(dry.result == taskhost_result(TASKHOST_SUCCESS) && dry.message == "would remove 1 files (1 B)")
    #expect(tree.exists("old.log"))
    for (payload, reason) in [(#"{"rule": "lgos"}"#, "did you mean \"logs\"?"), (#"{"dryrun": true}"#, "did you mean \"dry_run\"?")] {
      let wrong = try driver.run(payload)
      #expect(wrong.result == taskhost_result(TASKHOST_FAILURE))
      #expect(wrong.message.contains(reason), "\(wrong.message)")
    }
  }

  @Test("stopped at expiration it snoozes, and the next run does the rest")
  func expired() throws {
    let tree = try TestTree()
    try tree.file("old.log", age: 100)
    let driver = TaskDriver(settings: settings(tree.path))
    let stopped = try driver.run(expired: true)
    #expect(stopped.result == taskhost_result(TASKHOST_SNOOZE) && stopped.message.contains("took the whole budget of the run"))
    #expect(tree.exists("old.log"))
    #expect(try driver.run().result == taskhost_result(TASKHOST_SUCCESS))
    #expect(!tree.exists("old.log"))
  }

  @Test("runs whose whole budget goes into a search say so, and are a failure from the third on, until one gets somewhere")
  func fruitless() throws {
    let tree = try TestTree()
    try tree.file("old.log", age: 100)
    let driver = TaskDriver(settings: settings(tree.path))
    let results = try (0..<4).map { _ in try driver.run(expired: true) }
    let expected = [TASKHOST_SNOOZE, TASKHOST_SNOOZE, TASKHOST_RETRY, TASKHOST_RETRY].map { taskhost_result($0) }
    #expect(results.map(\.result) == expected)
    for result in results {
      #expect(!result.message.contains("continues from here") && result.message.contains("raise the plugin's budget"), "\(result.message)")
    }
    #expect(
      results[3].message.contains("nothing was removed in 4 runs") && results[3].message.contains("rule logs"), "\(results[3].message)")
    #expect(try driver.run().result == taskhost_result(TASKHOST_SUCCESS))
    #expect(try driver.run(expired: true).result == taskhost_result(TASKHOST_SNOOZE))
  }

  @Test("a rule that cannot run is a retry with the reason, a missing directory is nothing to do")
  func blocked() throws {
    let tree = try TestTree()
    try tree.symlink("alias", to: ".")
    let blocked = try TaskDriver(settings: settings(tree.absolute("alias"))).run()
    #expect(blocked.result == taskhost_result(TASKHOST_RETRY))
    #expect(blocked.message.contains("through a symlink"), "\(blocked.message)")
    let missing = try TaskDriver(settings: settings(tree.absolute("nowhere"))).run()
    #expect(missing.result == taskhost_result(TASKHOST_NOOP) && missing.message.contains("no such directory: logs"))
  }

  @Test("wrong settings refuse the launch and name the problem; none at all do nothing")
  func launch() throws {
    let wrong = TaskDriver(settings: settings("/tmp/x", #", "max_cuont": 5"#))
    #expect(wrong.status == TASKHOST_EINVAL)
    #expect(wrong.launchLog.contains(#"rules[0]: unknown key "max_cuont"; did you mean "max_count"?"#), "\(wrong.launchLog)")
    let none = TaskDriver(settings: "{}")
    #expect(none.status == TASKHOST_OK && none.launchLog.contains("no rules"))
    #expect(try none.run().result == taskhost_result(TASKHOST_NOOP))
  }
}
