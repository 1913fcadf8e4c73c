import StrictText
import TaskHostSDK
import Testing

@testable import Exec

@Suite("Settings of a command") struct CommandSettingsTests {
  @Test("all keys are read")
  func whole() throws {
    let settings = try CommandSettings(
      json: """
        {"identifier":"a.b","run":["/bin/x","1"],"directory":"/d","environment":{"A":"1","B":""},"pass":["C"],"user":"u",
        "exit_codes":{"3":"noop"},"stdout":"output","persistent":true,"idle_time_ms":5,"memory":7,"descriptors":8,"sandboxed":true,
        "socket":"/s"}
        """)
    #expect(settings.identifier == "a.b" && settings.run == ["/bin/x", "1"] && settings.directory == "/d" && settings.user == "u")
    #expect(settings.environment.map(\.name) == ["A", "B"] && settings.environment.map(\.value) == ["1", ""])
    #expect(settings.passed == ["C"] && settings.exitCodes.result(of: 3) == .noop && settings.keepsOutput && settings.isPersistent)
    #expect(settings.idleTime == .milliseconds(5) && settings.memory == 7 && settings.descriptors == 8)
    #expect(settings.isSandboxed && settings.socket == "/s")
  }

  @Test("all problems are reported together")
  func problems() {
    #expect(throws: SettingsProblems.self) { try CommandSettings(json: "[]") }
    #expect(throws: SettingsProblems.self) { try CommandSettings(json: "") }
    do throws(SettingsProblems) {
      _ = try CommandSettings(json: #"{"rum":[],"exit_codes":{"999":"noop","1":"fine"},"stdout":"screen","memory":-1,"user":"a\u0000b"}"#)
      Issue.record("it was read")
    } catch {
      for words in ["rum", "identifier: is missing", "run: is missing", "999", "exit_codes.1", "screen", "memory", "zero byte"] {
        #expect(error.description.contains(words), "\(words): \(error)")
      }
    }
  }
}
