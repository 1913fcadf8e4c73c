import TaskModel
import TaskScheduler
import Testing

@testable import TaskHost

extension ConfigurationKeyTests {
  private static let told = "progress and the end of a continued run go to the command, by environment and standard input"

  private static let incidents = "a failure for good, the third in a row and the recovery reach the command, and nothing else does"
  private static let retried =
    "a delivery that fails is retried until it works, counted and logged; one that fails for good is a problem, and told to nobody"

  private static let signed = "the notification is posted as JSON with an id, a time and a signature that the receiver can check"
  private static let mailed = "sendmail gets a message with its headers, and no word of a plugin becomes one"

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
      let identifier = try TaskIdentifier("org.taskhost.notify.1")
      #expect(policy.retry(of: identifier).backoff == .linear)
    },
    "notify.task": .endToEnd(
      "NotificationTests", "task: a request of that identifier has the notification as its payload; its own failure is told to nobody"),
    "notify.url": .endToEnd("WebhookNotificationTests", signed), "notify.secret_file": .endToEnd("WebhookNotificationTests", signed),
    "notify.format": .endToEnd(
      "WebhookNotificationTests",
      "format: Slack gets an object with a text, ntfy gets text; without a secret_file nothing is signed"),
    "notify.allow_http": .here {
      let text = "[[notify]]\non = [\"failed\"]\nurl = \"http://a.b/\"\nallow_http = true\n"
      let commands = try HostConfiguration.parse(text, file: "/etc/a.toml").commands
      #expect(commands["org.taskhost.notify.1"] != nil)
    },
    "notify.mail": .endToEnd("MailNotificationTests", mailed), "notify.mail_from": .endToEnd("MailNotificationTests", mailed),
    "notify.sendmail": .endToEnd("MailNotificationTests", mailed),
    "notify.bus": .endToEnd("NotifyTests", "a bus without a desktop costs a line in the log, and no run"),
  ]
}
