import BackgroundTasks
import CTaskHost
import Foundation
import TaskHostSDK
import Testing

@testable import BackgroundTasks

@Suite("Scheduler errors")
struct ErrorTests {
  @Test("have Apple's numbers and domain")
  func numbers() {
    let codes: [BGTaskScheduler.Error.Code] = [.unavailable, .tooManyPendingTaskRequests, .notPermitted, .immediateRunIneligible]
    #expect(codes.map(\.rawValue) == [1, 2, 3, 4])
    let error = BGTaskScheduler.Error(.notPermitted) as NSError
    #expect(error.code == 3)
    #expect(error.domain == "BGTaskSchedulerErrorDomain")
    #expect(BGTaskScheduler.errorDomain == error.domain)
    #expect(error.localizedDescription == "the task request is not permitted")
  }

  @Test("are caught by code, by type and by pattern")
  func patterns() {
    var caught: [String] = []
    for code in [BGTaskScheduler.Error.notPermitted, .unavailable, .immediateRunIneligible] {
      do {
        throw BGTaskScheduler.Error(code)
      } catch BGTaskScheduler.Error.notPermitted {
        caught.append("pattern")
      } catch let error as BGTaskScheduler.Error where error.code == .unavailable {
        caught.append("code")
      } catch let error as BGTaskScheduler.Error {
        switch error.code {
        case .immediateRunIneligible: caught.append("switch")
        default: caught.append("other")
        }
      } catch {
        caught.append("any")
      }
    }
    #expect(caught == ["pattern", "code", "switch"])
    #expect(!(BGTaskScheduler.Error.notPermitted ~= CancellationError()))
  }

  @Test(
    "say what the host said",
    arguments: [
      (TASKHOST_ENOTPERMITTED, BGTaskScheduler.Error.Code.notPermitted), (TASKHOST_EINVAL, .notPermitted),
      (TASKHOST_ELIMIT, .tooManyPendingTaskRequests), (TASKHOST_EUNAVAILABLE, .unavailable), (TASKHOST_EUNSUPPORTED, .unavailable),
      (TASKHOST_EINTERNAL, .unavailable), (TASKHOST_ETOOBIG, .unavailable), (TASKHOST_ESTALE, .unavailable),
    ])
  func host(_ status: Int, _ code: BGTaskScheduler.Error.Code) {
    let error = BGTaskScheduler.Error(TaskHostError(status, "why"))
    #expect(error.code == code)
    #expect(error.description.hasSuffix(": why"))
    #expect(BGTaskScheduler.Error(TaskHostError(status, "")).reason.contains("\(status)"))
  }
}
