import CTaskHost
import TaskHostSDK
import TaskModel
import Testing

/// The SDK and `taskhost.h` cannot use the host's list of fields: their members are compared with it.
@Suite("Names of a request's fields") struct RequestNameTests {
  @Test("taskhost.h has them as JSON has them")
  func header() {
    let layout: Set = ["struct_size", "payload_length", "reserved"]
    let members = Mirror(reflecting: taskhost_request()).children.compactMap(\.label).filter { !layout.contains($0) }
    #expect(members.count == 6)
    for member in members { #expect(RequestField(rawValue: member) != nil, "\(member)") }
  }

  @Test("the SDK has them in Swift's spelling")
  func sdk() {
    let members = Mirror(reflecting: TaskHostSDK.TaskRequest(identifier: "a")).children.compactMap(\.label)
    #expect(members.count == 6)
    for member in members {
      let name = member.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
      #expect(RequestField(rawValue: name) != nil, "\(member)")
    }
  }
}
