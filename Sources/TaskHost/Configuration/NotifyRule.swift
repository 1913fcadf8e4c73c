public import TaskModel

/// `[[notify]]`: whom to tell of what happens. A table has one way to tell.
public struct NotifyRule: Sendable, Equatable {
  /// What a notification can be about.
  public enum Event: String, Sendable, CaseIterable {
    /// A run of the kind `continued`, which a person has started, reported progress or ended.
    case continued
    /// A plugin crashed or hung so often that it gets no more runs until an operator releases it.
    case quarantined
    /// A request failed for good, or an occurrence of a repeating one.
    case failed
    /// ``NotifyRule/failures`` runs in a row failed.
    case failing
    /// The first success after somebody was told of ``failed``, ``failing`` or ``overdue``.
    case recovered
    /// No run has succeeded within `expect_within`.
    case overdue
    /// The store cannot be written, or can be again.
    case store

    /// The incident that it is told of from the store; nil for what is told from memory.
    var incident: Incident.Kind? { Incident.Kind(rawValue: rawValue) }
  }

  /// `on`: what it is told of; required, at least one.
  public var on: [Event] = []

  /// `name` in logs, metrics and the identifier of its notifications; nil: its position among the tables, from 1.
  public var name: String?

  /// `identifiers` whose incidents it tells of; empty: all.
  public var identifiers: [IdentifierPattern] = []

  /// `failures` in a row that are told of as ``Event/failing``, 1 to 1000.
  public var failures = 3

  /// `group_within`: how long after a notification the next one begins at the earliest, 0 to 1 day. What happens in between is told together.
  public var groupWithin: Duration = .seconds(30)

  /// `per_hour`: how many notifications begin in an hour, 1 to 1000. What happens beyond that is told together later.
  public var perHour = 20

  /// `retry` of notifications that could not be delivered, with the keys of the host's `[retry]`. Default: 15 attempts in about 8 hours.
  public var retry = RetryPolicy(attempts: 15, initial: .seconds(15), maximum: .seconds(3600))

  /// `command`: a program and its arguments. The program's path is absolute.
  public var command: [String] = []

  /// `bus`: the socket of a session bus, as `unix:path=/run/user/1000/bus`, whose desktop shows the notification.
  public var bus: String?

  /// `task`: the identifier whose requests tell.
  public var task: String?

  /// `url`: where notifications are sent by POST.
  public var url: String?

  /// `format` of what is sent to ``url``.
  public var format = Format.json

  /// `secret_file`: the file with the secret that signs what is sent to ``url``; nil sends it without a signature.
  public var secretFile: String?

  /// `allow_http`: whether ``url`` may lead to another machine without TLS.
  public var allowsHTTP = false

  /// What is sent to a URL.
  public enum Format: String, Sendable, CaseIterable {
    /// The notification as JSON.
    case json
    /// `{"text": …}`, as Slack and Mattermost take it.
    case slack
    /// Text for people, as ntfy takes it.
    case text
  }

  /// `mail`: the address that gets mails.
  public var mail: String?

  /// `mail_from`: the sender's address; nil leaves it to ``sendmail``.
  public var mailFrom: String?

  /// `sendmail`: the program that takes mails.
  public var sendmail = "/usr/sbin/sendmail"

  /// The most tables: each has a thread of its own.
  static let mostRules = 16

  static var fields: [TOMLField<Self>] {
    [
      TOMLField("on", \.on, .list(.choice()), about: "What it tells of. Required."),
      TOMLField("name", optional: \.name, .ruleName, about: "Its name in logs and identifiers. By default, the number of the table."),
      TOMLField("identifiers", \.identifiers, .list(.pattern), about: "Whose incidents it tells of, as patterns. Everybody's by default."),
      TOMLField("failures", \.failures, .integer(1...1000), about: "How many failures in a row are \"failing\"."),
      TOMLField(
        "group_within", \.groupWithin, .duration(.zero ... .days(1)),
        about: "How long after a notification the next one begins at the earliest. What happens in between is told together."),
      TOMLField("per_hour", \.perHour, .integer(1...1000), about: "How many notifications begin in an hour."),
      TOMLField("retry", \.retry, table: RetryPolicy.fields, about: "How notifications are retried that could not be delivered."),
      TOMLField("command", \.command, .words, about: "A program that gets the notification on its standard input, and its arguments."),
      TOMLField("bus", optional: \.bus, .busPath, about: "The socket of the person's session bus."),
      TOMLField("task", optional: \.task, .identifier, about: "The identifier whose requests tell: the notification is their payload."),
      TOMLField("url", optional: \.url, .webURL, about: "Where they are sent by POST."),
      TOMLField("format", \.format, .choice(), about: "How they are written: \"json\", \"slack\" or \"text\"."),
      TOMLField("secret_file", optional: \.secretFile, .path, about: "The file with the secret that signs them. Not signed by default."),
      TOMLField("allow_http", \.allowsHTTP, .bool, about: "Whether the URL may lead to another machine without TLS."),
      TOMLField("mail", optional: \.mail, .mailAddress, about: "The address that gets them."),
      TOMLField("mail_from", optional: \.mailFrom, .mailAddress, about: "The sender's address. By default, what the mail program takes."),
      TOMLField("sendmail", \.sendmail, .path, about: "The program that takes mails."),
    ]
  }

  /// The ways to tell that the table has.
  var targets: [String] {
    [("command", !command.isEmpty), ("url", url != nil), ("mail", mail != nil), ("task", task != nil), ("bus", bus != nil)]
      .filter(\.1).map(\.0)
  }

  /// The keys that are a way to tell.
  static let targetKeys = ["command", "url", "mail", "task", "bus"]

  /// The keys that belong to one way to tell.
  static let targetOptions = [
    ("format", "url"), ("secret_file", "url"), ("allow_http", "url"), ("mail_from", "mail"), ("sendmail", "mail"),
  ]

  /// The program that delivers, its arguments, and the variables with which it finds the receiver.
  func delivery(by program: String) -> (run: [String], environment: [String]) {
    if let url {
      let more = secretFile.map { ["TASKHOST_NOTIFY_SECRET_FILE=\($0)"] } ?? []
      return ([program, "webhook"], ["TASKHOST_NOTIFY_URL=\(url)", "TASKHOST_NOTIFY_FORMAT=\(format.rawValue)"] + more)
    }
    if let mail {
      let more = mailFrom.map { ["TASKHOST_NOTIFY_MAIL_FROM=\($0)"] } ?? []
      return ([program, "mail"], ["TASKHOST_NOTIFY_MAIL=\(mail)", "TASKHOST_NOTIFY_SENDMAIL=\(sendmail)"] + more)
    }
    return (command, [])
  }

  /// Whether incidents become requests, which a restart does not lose. A desktop is told from memory: it forgets too.
  var isDurable: Bool { bus == nil && on.contains { $0.incident != nil } }
}

extension TOMLConverter<String> {
  /// `unix:path=/PATH`, as its path.
  fileprivate static var busPath: Self {
    .text("the address of a bus, such as unix:path=/run/user/1000/bus") { text, _ throws(TextProblem) in
      let prefix = "unix:path="
      guard text.hasPrefix(prefix + "/"), !text.contains(",") else {
        throw TextProblem("\"\(text)\" is no address of a bus: write unix:path=/run/user/1000/bus")
      }
      return String(text.dropFirst(prefix.count))
    }
  }

  /// A word that can be a part of an identifier.
  fileprivate static var ruleName: Self {
    .text("a name such as \"ops\"") { text, _ throws(TextProblem) in
      guard (1...32).contains(text.utf8.count), !text.contains("."), (try? TaskIdentifier(text)) != nil else {
        throw TextProblem("expected a name of 1 to 32 of A-Z a-z 0-9 _ -, the first a letter or digit, found \"\(text)\"")
      }
      return text
    }
  }

  fileprivate static var identifier: Self {
    .text("an identifier") { text, _ throws(TextProblem) in
      do throws(InvalidIdentifier) { return try TaskIdentifier(text).rawValue } catch { throw TextProblem(error.description) }
    }
  }
}
