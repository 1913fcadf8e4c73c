import TestSupport
import Testing

@testable import HostConditions

@Suite("The users who are logged in") struct LoggedInUsersTests {
  private let folder = Result { try Folder() }

  @Test("those with a session are, by name; others, and what is no note, are not")
  func states() throws {
    let folder = try folder.get()
    for (name, text) in [
      ("1000", "# This is private data. Do not parse.\nNAME=ada\nSTATE=active\nREALTIME=1\n"), ("1001", "NAME=grace\nSTATE=online\n"),
      ("1002", "NAME=linger\nSTATE=lingering\n"), ("1003", "NAME=gone\nSTATE=closing\n"), ("1004", "STATE=active"), ("1005", ""),
      (".#1006abc", "NAME=temporary\nSTATE=active\n"), ("readme", "NAME=readme\nSTATE=active\n"), ("1007", "STATE\n=active\n"),
    ] { try folder.write(text, to: name) }
    #expect(LoggedInUsers.read(folder.path) == ["ada", "grace", "1004"])
    #expect(LoggedInUsers.read(folder.path + "/none") == [])
  }
}
