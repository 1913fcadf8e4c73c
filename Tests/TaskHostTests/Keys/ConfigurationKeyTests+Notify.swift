import TaskModel
import TaskScheduler
import Testing

@testable import TaskHost

extension ConfigurationKeyTests {
  private static let told = "progress and the end of a continued run go to the command, by environment and standard input"

  private static let incidents = "a failure for good, the third in a row and the recovery reach the command, and nothing else does"
  private static let retried =
    "a delivery that fails is retried until it works, counted and logged; one that fails for good is a problem, and told to nobody"

  /// Keys of `[[notify]]`.
  static let notifyProofs: [String: KeyProof] = [
    "notify.on": .endToEnd("NotifyTests", told), "notify.command": .endToEnd("NotifyTests", told),
    "notify.name": .endToEnd("NotificationTests", incidents), "notify.identifiers": .endToEnd("NotificationTests", incidents),
    "notify.failures": .endToEnd("NotificationTests", incidents), "notify.group_within": .endToEnd("NotificationTests", incidents),
    "notify.per_hour": .endToEnd("NotificationTests", incidents), "notify.retry.attempts": .endToEnd("NotificationTests", retried),
    "notify.retry.initial": .endToEnd("NotificationTests", retried), "notify.retry.maximum": .endToEnd("NotificationTests", retried),
    "notify.retry.backoff": .here {
      let text = "[[notify]]\non = [\"failed\"]\ncommand = [\"/bin/true\"]\nretry = { backoff = \"linear\" }\n"
      let policy = try HostConfiguration.parse(text, file: "/etc/a.toml").schedulingPolicy()
      #expect(try policy.retry(of: TaskIdentifier("org.taskhost.notify.1")).backoff == .linear)
    },
    "notify.task": .endToEnd(
      "NotificationTests", "task: a request of that identifier has the notification as its payload; its own failure is told to nobody"),
    "notify.bus": .endToEnd("NotifyTests", "a bus without a desktop costs a line in the log, and no run"),
  ]
}
