import HostThreads
import PluginRuntime
import TaskModel

extension ConformanceRun {
  func playLaunch() throws(End) -> String {
    let begin = SystemClock.now
    let plugin = try launch()
    let time = (SystemClock.now - begin).wholeMilliseconds
    for handler in plugin.handlers { reporter.tell(.registered(handler.registered)) }
    let names = plugin.handlers.map { "\($0.registered.identifier) (\($0.registered.kind.rawValue))" }.joined(separator: ", ")
    var seen = "registers \(names) in \(max(1, time)) ms"
    if plugin.askedTooEarly { seen += "; asks for its settings before it registers, so the host launches it twice" }
    if !plugin.changes.isEmpty { seen += "; submits or cancels \(plugin.changes.count)" }
    return seen
  }

  func playLaunchAgain() throws(End) -> String {
    let first = try launch().handlers.map(\.registered)
    for number in 2...4 {
      reporter.at("launch \(number) of 4")
      let again: [HandlerRegistration]
      do throws(LaunchFailure) { again = try launchOnce().handlers.map(\.registered) } catch {
        reporter.breach(
          "launch \(number) in the same process failed: \(error.observed)", HeaderRules.launchSame, detail: launchStack(error))
        throw .told
      }
      if again != first {
        reporter.breach(
          "launch \(number) registered \(Self.describe(again)), the first \(Self.describe(first))", HeaderRules.launchSame)
      }
    }
    checkMarks(after: "a launch")
    return "4 launches register the same"
  }

  private static func describe(_ registrations: [HandlerRegistration]) -> String {
    registrations.map { registration in
      let budget = registration.budget.map { "\($0.wholeMilliseconds) ms" } ?? "the kind's"
      let version = registration.version.map { ", version \($0)" } ?? ""
      let name = registration.displayName.map { ", \"\($0)\"" } ?? ""
      return "\(registration.identifier) (\(registration.kind.rawValue), budget \(budget), "
        + "\(registration.maxConcurrentRuns) at once\(version)\(name))"
    }.joined(separator: " and ")
  }

  func playLaunchRefused() throws(End) -> String {
    let refusals = [
      CallFailure(.notPermitted, "the identifier is not in permitted_identifiers"),
      CallFailure(.exists, "the identifier is another plugin's"),
    ]
    for refusal in refusals {
      reporter.at("a launch whose registration is refused: \(refusal.message)")
      policy.refusal.withLock { $0 = refusal }
      do throws(LaunchFailure) { _ = try launchOnce() } catch  where error.step == .timeout {
        reporter.breach("the launch did not return once its registration was refused", HeaderRules.launch, detail: launchStack(error))
        throw .told
      } catch {}
    }
    checkMarks(after: "a refused launch")
    policy.refusal.withLock { $0 = nil }
    try launch()
    return "accepts the refusal, and launches afterwards"
  }

  func playLaunchSettings() throws(End) -> String {
    let deep = String(repeating: "{\"a\":", count: 100) + "1" + String(repeating: "}", count: 100)
    let wide = "{\"" + String(repeating: "x", count: 60_000) + "\": [\"\\u0000\", 1e308, -0, null]}"
    let settings = ["{}", "{\"settings\": 7}", "{\"\": [null, {}, \"\"]}", deep, wide]
    var refused = 0
    for (number, text) in settings.enumerated() {
      reporter.at("a launch with settings \(number + 1) of \(settings.count): \(text.prefix(60))")
      policy.settings.withLock { $0 = text }
      do throws(LaunchFailure) { _ = try launchOnce() } catch  where error.step == .timeout {
        reporter.breach("the launch did not return with the settings \(text.prefix(60))", HeaderRules.launch, detail: launchStack(error))
        throw .told
      } catch { refused += 1 }
    }
    checkMarks(after: "a launch")
    return "launches with \(settings.count - refused) of \(settings.count) settings that are not its own, refuses \(refused)"
  }
}
