import TaskModel

/// `[[notify]]`: whom to tell of what happens. A table has one way to tell.
public struct NotifyRule: Sendable, Equatable {
  /// What a notification can be about.
  public enum Event: String, Sendable, CaseIterable {
    /// A run of the kind `continued`, which a person has started, reported progress or ended.
    case continued
    /// A plugin crashed or hung so often that it gets no more runs until an operator releases it.
    case quarantined
  }

  /// `on`: what it is told of; required, at least one.
  public var on: [Event] = []

  /// `command`: a program and its arguments. The program's path is absolute.
  public var command: [String] = []

  /// `bus`: the socket of a session bus, as `unix:path=/run/user/1000/bus`, whose desktop shows the notification.
  public var bus: String?

  /// The most tables: each has a thread of its own.
  static let mostRules = 16

  static var fields: [TOMLField<Self>] {
    [TOMLField("on", \.on, .list(.choice())), TOMLField("command", \.command, .words), TOMLField("bus", optional: \.bus, .busPath)]
  }
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
}

extension HostConfiguration {
  /// Reports tables that tell nobody, and of nothing.
  func reportContradictionsOfNotify(to reader: TOMLReader) {
    if notify.count > NotifyRule.mostRules {
      reader.report(["notify"], "there are \(notify.count) tables [[notify]], more than \(NotifyRule.mostRules)")
    }
    for (index, rule) in notify.enumerated() {
      let path = ConfigurationPath(keys: ["notify"]).appending(index)
      // What is wrong with a key has been reported already.
      func isSound(_ key: String) -> Bool { reader.isSound(path.appending(key)) }
      func report(_ message: String) { reader.report(path, message) }
      if rule.on.isEmpty, isSound("on"), reader.hasElement("notify", index, "on") {
        report("on is empty: name at least one of \(NotifyRule.Event.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      switch (rule.command.first, rule.bus) {
      case (nil, nil) where isSound("command") && isSound("bus"): report("it tells nobody: add a \"command\" or a \"bus\"")
      case (.some, .some): report("it has both a command and a bus: make two tables of it")
      case (let program?, nil) where !program.hasPrefix("/"):
        report("command: \"\(program)\" is no absolute path: write where the program is, such as /usr/bin/notify-send")
      default: break
      }
    }
  }
}
