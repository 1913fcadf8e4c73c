import TaskHostSDK
import Testing

@testable import Exec

@Suite("Exit codes") struct ExitCodesTests {
  @Test("0 is success, 75 retry, all others failure")
  func defaults() {
    let codes = ExitCodes()
    #expect(codes.result(of: 0) == .success && codes.result(of: 75) == .retry())
    for code in [1, 2, 64, 74, 76, 127, 255] as [Int32] { #expect(codes.result(of: code) == .failure) }
  }

  @Test("a code or \"other\" can be given another result; anything else is refused")
  func mapped() {
    var codes = ExitCodes()
    let taken = [codes.set("3", to: "noop"), codes.set("other", to: "retry"), codes.set("0", to: "snooze")]
    #expect(taken == [true, true, true])
    #expect(codes.result(of: 3) == .noop && codes.result(of: 9) == .retry() && codes.result(of: 0) == .snooze())
    let accepted = ["256", "-1", "03", "+3", "", "x", "Other"].filter { codes.set($0, to: "noop") }
    let isUnknownTaken = codes.set("4", to: "done")
    #expect(accepted == [] && !isUnknownTaken)
  }

  @Test("a signal that nobody sent counts as a crash, which is tried again")
  func signal() {
    let outcome = ExitCodes().outcome(of: .signalled(11), stop: nil, lastLine: "")
    #expect(outcome.result == .retry() && outcome.message == "SIGSEGV ended it")
  }

  @Test("a command that was asked to stop is tried again, unless its code is success or named")
  func stopped() {
    var codes = ExitCodes()
    #expect(codes.outcome(of: .exited(0), stop: .budget, lastLine: "").result == .success)
    #expect(codes.outcome(of: .exited(1), stop: .budget, lastLine: "").result == .retry())
    #expect(codes.outcome(of: .exited(1), stop: nil, lastLine: "").result == .failure)
    let isTaken = codes.set("143", to: "failure")
    #expect(isTaken)
    let outcome = codes.outcome(of: .exited(143), stop: .cancelled, lastLine: "last words")
    #expect(outcome.result == .failure)
    #expect(
      outcome.message == "stopped, because its request was cancelled: exit code 143 (a signal ended it: SIGTERM): last words")
  }
}
