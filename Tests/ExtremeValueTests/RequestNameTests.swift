import CTaskHost
import TaskHostSDK
import TaskModel
import Testing

/// The SDK and `taskhost.h` cannot use the host's list of fields: their members are compared with it.
@Suite("Names of a request's fields") struct RequestNameTests {
  @Test("taskhost.h has them as JSON has them")
  func header() {
    let layout: Set = ["struct_size", "payload_length", "reserved", "reserved2", "after_count", "tags_count", "resources_count"]
    let members = Mirror(reflecting: taskhost_request()).children.compactMap(\.label).filter { !layout.contains($0) }
    // A plugin gives bytes and times in one way each, and does not wake the machine.
    let other: Set<RequestField> = [.payloadBase64, .earliestBegin, .deadline]
    #expect(Set(members) == Set(RequestField.allCases.filter { !other.contains($0) }.map(\.rawValue)))
  }

  @Test("the parts of taskhost.h's fields are those of JSON's")
  func parts() {
    let layout: Set = ["struct_size", "reserved"]
    let retry = Mirror(reflecting: taskhost_retry()).children.compactMap(\.label).filter { !layout.contains($0) }
    #expect(Set(retry) == Set(RequestField.Retry.allCases.map(\.rawValue)))
    let predecessor = Mirror(reflecting: taskhost_predecessor()).children.compactMap(\.label).filter { !layout.contains($0) }
    #expect(Set(predecessor) == Set(RequestField.Predecessor.allCases.map(\.rawValue)))
  }

  @Test("the SDK has them in Swift's spelling")
  func sdk() {
    let members = Mirror(reflecting: TaskHostSDK.TaskRequest(identifier: "a")).children.compactMap(\.label)
    let names = members.map { $0.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" } }
    // In Swift, a type has the unit, and an enumeration has the fields of a repetition.
    let other: Set<RequestField> = [.payloadBase64, .earliestBeginUnix, .deadlineUnix]
    let repetition: Set<RequestField> = [
      .every, .cron, .everyEvent, .timeZone, .daylightGap, .daylightRepeat, .missed, .missedLimit, .missedSpread,
    ]
    let fields = RequestField.allCases.filter { !other.contains($0) && !repetition.contains($0) }
    #expect(Set(names) == Set(fields.map { $0.rawValue.replacing("_ms", with: "") } + ["repetition"]))
  }
}
