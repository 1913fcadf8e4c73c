import BackgroundTasks
import CTaskHost
import Foundation
import Testing

@testable import BackgroundTasks

@Suite("Task requests")
struct RequestTests {
  @Test("begin as soon as they can and without conditions")
  func defaults() {
    #expect(BGAppRefreshTaskRequest(identifier: "a").earliestBeginDate == nil)
    let processing = BGProcessingTaskRequest(identifier: "b")
    #expect(!processing.requiresNetworkConnectivity && !processing.requiresExternalPower && processing.conditions == 0)
    #expect(BGHealthResearchTaskRequest(identifier: "c").protectionTypeOfRequiredData == nil)
    let continued = BGContinuedProcessingTaskRequest(identifier: "d", title: "t", subtitle: "s")
    #expect(continued.strategy == .queue && continued.requiredResources == .default)
  }

  @Test("conditions become the host's")
  func conditions() {
    let request = BGProcessingTaskRequest(identifier: "b")
    request.requiresNetworkConnectivity = true
    #expect(request.conditions == UInt32(TASKHOST_REQUIRES_NETWORK))
    request.requiresExternalPower = true
    #expect(request.conditions == UInt32(TASKHOST_REQUIRES_NETWORK | TASKHOST_REQUIRES_POWER))
    request.requiresNetworkConnectivity = false
    #expect(request.conditions == UInt32(TASKHOST_REQUIRES_POWER))
  }

  @Test("a copy is of the same class, equal in all that can be set, and apart")
  func copies() throws {
    let research = BGHealthResearchTaskRequest(identifier: "c")
    research.earliestBeginDate = Date(timeIntervalSince1970: 5)
    research.requiresExternalPower = true
    research.protectionTypeOfRequiredData = .complete
    let copy = try #require(research.copy() as? BGHealthResearchTaskRequest)
    research.requiresExternalPower = false
    research.earliestBeginDate = nil
    #expect(copy.identifier == "c")
    #expect(copy.requiresExternalPower)
    #expect(copy.earliestBeginDate == Date(timeIntervalSince1970: 5))
    #expect(copy.protectionTypeOfRequiredData?.rawValue == FileProtectionType.complete.rawValue)

    let continued = BGContinuedProcessingTaskRequest(identifier: "d", title: "t", subtitle: "s")
    continued.strategy = .fail
    continued.requiredResources = .gpu
    let second = try #require(continued.copy() as? BGContinuedProcessingTaskRequest)
    continued.title = "other"
    #expect(second.title == "t" && second.subtitle == "s" && second.strategy == .fail && second.requiredResources == [.gpu])
    #expect(BGAppRefreshTaskRequest(identifier: "a").copy() is BGAppRefreshTaskRequest)
    #expect(type(of: BGProcessingTaskRequest(identifier: "b").duplicate()) == BGProcessingTaskRequest.self)
  }

  @Test("their payload says what they are, and reads back as that")
  func record() throws {
    let refresh = BGAppRefreshTaskRequest(identifier: "a")
    #expect(String(decoding: try refresh.record.payload(), as: UTF8.self) == #"{"background_task":"refresh"}"#)
    let continued = BGContinuedProcessingTaskRequest(identifier: "d", title: "t", subtitle: "s")
    #expect(
      String(decoding: try continued.record.payload(), as: UTF8.self)
        == #"{"background_task":"continued","strategy":1,"subtitle":"s","title":"t"}"#)
    let research = BGHealthResearchTaskRequest(identifier: "c")
    research.protectionTypeOfRequiredData = .completeUnlessOpen
    for record in [refresh.record, continued.record, research.record] {
      #expect(RequestDetails(payload: try record.payload()) == record)
    }
  }

  @Test("a payload of someone else's is no record", arguments: ["", "{}", "7", #"{"background_task":"dance"}"#, "\u{0}"])
  func foreign(_ payload: String) {
    #expect(RequestDetails(payload: Array(payload.utf8)) == nil)
  }

  @Test(
    "dates become milliseconds, rounded up; one that has come is as none: at the host's pace",
    arguments: [(0, -1), (-3, -1), (4e9 + 0.1, 4_000_000_000_100), (4e9 + 1.0001, 4_000_000_001_001), (1e300, .max)] as [(Double, Int64)])
  func milliseconds(_ seconds: Double, _ expected: Int64) {
    #expect(Order.milliseconds(Date(timeIntervalSince1970: seconds)) == expected)
    #expect(Order.milliseconds(nil) == Order.paced)
  }
}
