import StoreTestSupport
import Foundation
import Synchronization
import TaskModel
import Testing

@testable import TaskHost

@Suite("The watch for logins") struct LoginWatchTests {
  @Test("a login raises two events, once; who is there at the start, or has another session, raises none")
  func logins() throws {
    let directory = try TemporaryDirectory()
    func note(_ number: Int, _ name: String, _ state: String) throws {
      try Data("NAME=\(name)\nSTATE=\(state)\n".utf8).write(to: URL(filePath: directory.file("\(number)")))
    }
    try note(1000, "ada", "active")
    let raised = Mutex<[String]>([])
    let watch = LoginWatch(directory: directory.path) { event in raised.withLock { $0.append(event) } }
    func look() -> [String] {
      watch.look()
      return raised.withLock { raised in
        defer { raised = [] }
        return raised
      }
    }
    #expect(look() == [])
    try note(1001, "grace", "lingering")
    #expect(look() == [])
    try note(1001, "grace", "online")
    #expect(look() == ["host:login", "host:login:grace"])
    try note(1001, "grace", "active")
    #expect(look() == [])
    try FileManager.default.removeItem(atPath: directory.file("1000"))
    #expect(look() == [])
    try note(1000, "ada", "active")
    try note(1002, "a b", "active")
    #expect(look() == ["host:login", "host:login:ada"])
  }

  @Test("the names of these events are those of users", arguments: ["host:login", "host:login:ada", "host:login:DOMAIN\\\\ada"])
  func names(_ name: String) throws { #expect(EventTrigger.flaw(of: name) == nil) }

  @Test("and no others", arguments: ["host:login:", "host:login:a b", "host:logins", "host:login:a\n"])
  func flaws(_ name: String) throws { #expect(EventTrigger.flaw(of: name) != nil) }
}
