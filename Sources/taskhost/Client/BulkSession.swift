import ArgumentParser
import Glibc
import StrictText
import TaskHostClient
import TaskModel

/// Carries out a bulk action part by part, after a question at the terminal.
struct BulkSession {
  /// What to do.
  let action: BulkAction
  let filter: String
  /// For how many milliseconds to postpone; nil for other actions.
  var delay: Int64?
  let options: BulkOptions
  let host: HostOptions

  /// Prints how many requests were changed, and each that stays as it was, with the reason. A dry run prints how many would be changed, and
  /// how many would not, by reason.
  ///
  /// - Throws: `ExitCode` 6 if one was refused, 4 if the answer to the question is not yes.
  func run() async throws {
    let client = try host.client(delay == nil ? .submit : TasksSnoozeCommand.names)
    if options.dryRun {
      let plan = try await plan(client, prints: true)
      print(plan.changes, Self.words(action).matching)
      for (reason, count) in plan.reasons { print(count, "would stay as \(count == 1 ? "it is" : "they are"): \(reason)") }
      return
    }
    if !options.yes { try await ask(client) }
    var (done, refused) = (0, 0)
    do {
      try await parts(client, isDry: false) { part in
        done += part.done.count
        refused += part.refused.count
        Terminal.progress("\(Self.counted(done)) \(Self.words(action).done) ...")
        for refusal in part.refused { Terminal.note("taskhost: \(refusal.id): \(refusal.message.escapingControlCharacters)") }
      }
    } catch {
      Self.noteRest(of: action, done: done)
      throw error
    }
    print(done, Self.words(action).done)
    if refused > 0 { throw ExitCode(ExitStatus.refused.rawValue) }
  }

  /// Says what was done before an error.
  static func noteRest(of action: BulkAction, done: Int) {
    guard done > 0 else { return }
    Terminal.note("note: \(counted(done)) \(words(action).done) before this: the same command goes on with the rest")
  }

  private static func words(_ action: BulkAction) -> (question: String, done: String, matching: String) {
    switch action {
    case .retry: ("Retry", "retried", "would be retried")
    case .cancel: ("Cancel", "cancelled or asked to stop", "would be cancelled")
    case .snooze: ("Postpone", "postponed", "would be postponed")
    case .discard: ("Discard", "discarded", "would be discarded")
    }
  }

  static func counted(_ count: Int) -> String { count == 1 ? "1 request" : "\(count) requests" }

  private func print(_ count: Int, _ what: String) { if !host.json { Terminal.print("\(Self.counted(count)) \(what)") } }

  /// Asks at the terminal. Where nobody can be asked, `--yes` must be given.
  private func ask(_ client: ControlClient) async throws {
    guard Terminal.canAsk else {
      throw ValidationError("--filter changes many requests, and nobody can be asked here: add --yes, or --dry-run to count them.")
    }
    let plan = try await plan(client, prints: false)
    guard plan.changes > 0 || !plan.reasons.isEmpty else {
      Terminal.note("no request matches")
      throw ExitCode.success
    }
    for (reason, count) in plan.reasons {
      Terminal.note("note: \(Self.counted(count)) that \(count == 1 ? "matches" : "match") would stay: \(reason)")
    }
    guard plan.changes > 0 else { throw ExitCode(ExitStatus.refused.rawValue) }
    let question = "\(Self.words(action).question) \(Self.counted(plan.changes)) that match \(filter.escapingControlCharacters)?"
    guard Terminal.agrees("\(question) Write yes:") else {
      Terminal.note("nothing was changed")
      throw ExitCode(ExitStatus.cancelled.rawValue)
    }
  }

  /// What the action would do now.
  private func plan(_ client: ControlClient, prints: Bool) async throws -> (changes: Int, reasons: [(String, Int)]) {
    var (changes, reasons) = (0, [String: Int]())
    try await parts(client, isDry: true, prints: prints) { part in
      changes += Int(clamping: part.changes)
      Terminal.progress("\(Self.counted(changes)) \(Self.words(action).matching) ...")
      for reason in part.reasons { reasons[reason.reason.escapingControlCharacters, default: 0] += Int(clamping: reason.count) }
    }
    return (changes, reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) })
  }

  private func parts(_ client: ControlClient, isDry: Bool, prints: Bool = true, _ body: (BulkAnswer) -> Void) async throws {
    var next: String?
    repeat {
      let after = next
      let answer = try await client.post(
        "/v1/requests/bulk",
        JSONWriter.object { writer in
          writer.member("filter", filter)
          writer.member("action", action.rawValue)
          writer.member("dry_run", isDry)
          writer.member("limit", isDry ? 10_000 : 1000)
          writer.member("after", after)
          if let delay { writer.member(RequestField.delay, delay) }
        })
      if host.json, prints { Terminal.print(answer.bytes) }
      let part: BulkAnswer = try answer.read()
      body(part)
      next = part.next
    } while next != nil
  }
}
