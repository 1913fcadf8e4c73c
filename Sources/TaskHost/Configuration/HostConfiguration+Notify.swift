import StrictText
import TaskModel

// `[[notify]]` as a whole: what its tables contradict, and the commands that tell.

extension HostConfiguration {
  /// The name of a table of `[[notify]]`.
  func noticeName(_ index: Int) -> String { notify[index].name ?? String(index + 1) }

  /// The identifier of a table's notifications: that of its `task`, or one of the host's own.
  func noticeTarget(_ index: Int) -> TaskIdentifier? {
    guard notify[index].isDurable else { return nil }
    return try? TaskIdentifier(notify[index].task ?? "\(TaskIdentifier.notifications).\(noticeName(index))")
  }

  /// What the scheduler tells of.
  var noticeRules: [NoticeRule] {
    notify.indices.compactMap { index in
      let rule = notify[index]
      let kinds = Set(rule.on.compactMap(\.incident))
      guard !kinds.isEmpty else { return nil }
      return NoticeRule(
        noticeName(index), target: noticeTarget(index), kinds: kinds, identifiers: rule.identifiers, failures: rule.failures,
        window: rule.groupWithin, perHour: rule.perHour)
    }
  }

  /// Whether the host itself has made the command with this identifier, to tell of incidents.
  func isNotice(_ identifier: String) -> Bool { commands[identifier]?.isNotice == true }

  /// Adds the commands that deliver notifications.
  mutating func addNotices(_ reader: TOMLReader) {
    for index in notify.indices {
      let rule = notify[index]
      guard rule.task == nil, let identifier = noticeTarget(index)?.rawValue else { continue }
      guard plugins[identifier] == nil else {
        reader.report(
          ConfigurationPath(keys: ["notify"]).appending(index),
          "its notifications are requests of \(identifier), which has a table of its own: give it another name, or remove that table")
        continue
      }
      var command = CommandConfiguration()
      command.isNotice = true
      (command.run, command.environment) = rule.delivery(by: Self.notifyProgram)
      // What sysexits.h calls temporary.
      if rule.mail != nil { command.exitCodes = ["69": .retry, "71": .retry, "73": .retry, "74": .retry] }
      command.plugin.budget = .seconds(60)
      command.plugin.grace = .seconds(2)
      commands[identifier] = command
      plugins[identifier] = command.plugin(of: identifier, socket: control.socket, isSandboxed: false)
    }
  }

  /// The program that delivers by HTTP and mail, which is installed beside the worker. One that is missing fails each delivery, for now.
  static let notifyProgram = WorkerSpecs.companion("taskhost-notify")

  /// Reports tables that tell nobody, and of nothing.
  func reportContradictionsOfNotify(to reader: TOMLReader) {
    if notify.count > NotifyRule.mostRules {
      reader.report(["notify"], "there are \(notify.count) tables [[notify]], more than \(NotifyRule.mostRules)")
    }
    var names: Set<String> = []
    for (index, rule) in notify.enumerated() {
      let path = ConfigurationPath(keys: ["notify"]).appending(index)
      reportTarget(of: rule, index, path, to: reader)
      func has(_ key: String) -> Bool { reader.hasElement("notify", index, key) }
      func isSound(_ key: String) -> Bool { reader.isSound(path.appending(key)) }
      if rule.on.isEmpty, isSound("on"), has("on") {
        reader.report(path, "on is empty: name at least one of \(NotifyRule.Event.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      if !names.insert(noticeName(index)).inserted {
        reader.report(path, "another table of [[notify]] has the name \"\(noticeName(index))\" too: each has its own")
      }
      guard isSound("on"), !rule.on.isEmpty else { continue }
      if has("failures"), !rule.on.contains(.failing) {
        reader.report(path.appending("failures"), "failures counts for the event \"failing\", which \"on\" does not name: add it there")
      }
      if has("identifiers"), rule.identifiers.isEmpty, isSound("identifiers") {
        reader.report(path.appending("identifiers"), "identifiers is empty: name some, or remove it, for all")
      }
      for key in ["group_within", "per_hour", "retry"] where has(key) && !rule.isDurable {
        reader.report(path.appending(key), "\(key) is about the events \(Self.durableEvents), told by a command or a task")
      }
      if rule.task != nil, has("retry") {
        reader.report(path.appending("retry"), "the requests of a task are retried as its own table says: remove retry here")
      }
      if rule.retry.initial > rule.retry.maximum {
        let texts = (DurationText.format(rule.retry.initial), DurationText.format(rule.retry.maximum))
        reader.report(path.appending("retry"), "initial (\(texts.0)) is longer than maximum (\(texts.1))")
      }
      if rule.on.contains(.continued), let target = rule.targets.first, target != "command", target != "bus" {
        reader.report(path, "progress of \"continued\" runs goes to a command or a bus, not to a \(target): remove it from \"on\"")
      }
      if rule.on.contains(.store), rule.task != nil {
        reader.report(path, "a task cannot tell of trouble with the store, because requests need the store: remove \"store\" from \"on\"")
      }
      for (key, target) in NotifyRule.targetOptions where has(key) && !has(target) {
        reader.report(path.appending(key), "\(key) belongs to \"\(target)\", which this table does not have")
      }
      if let url = rule.url, url.hasPrefix("http:"), !rule.allowsHTTP, !WebURL.isLocal(url) {
        reader.report(
          path.appending("url"),
          "it is sent without TLS, so everybody on the way can read and change it: use https, or set allow_http = true")
      }
    }
  }

  private static var durableEvents: String { Incident.Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ") }

  private func reportTarget(of rule: NotifyRule, _ index: Int, _ path: ConfigurationPath, to reader: TOMLReader) {
    // What is wrong with a key has been reported already.
    func isSound(_ key: String) -> Bool { reader.isSound(path.appending(key)) }
    let targets = rule.targets
    guard NotifyRule.targetKeys.allSatisfy(isSound) else { return }
    guard targets.count == 1 else {
      let message =
        targets.isEmpty
        ? "it tells nobody: add a \"command\", a \"url\", a \"mail\", a \"task\" or a \"bus\""
        : "it has both a \(targets[0]) and a \(targets[1]): make two tables of it"
      return reader.report(path, message)
    }
    if let program = rule.command.first, !program.hasPrefix("/") {
      reader.report(
        path, "command: \"\(program)\" is no absolute path: write where the program is, such as /usr/bin/notify-send")
    }
    if let task = rule.task.flatMap({ try? TaskIdentifier($0) }), reader.isSound("permitted_identifiers"), !permits(task) {
      reader.report(path.appending("task"), "permitted_identifiers does not permit \"\(task)\": add it there, or tell another way")
    }
  }
}
