import HostConditions
import SchedulingLimits
import StrictText
import TaskModel
import TaskScheduler

extension HostConfiguration {
  /// The maximum length of a Unix socket's path on Linux in bytes, without the final zero.
  private static let socketPathLimit = 107

  /// Reports contradictions between keys.
  func reportContradictions(to reader: TOMLReader) {
    if retry.initial > retry.maximum {
      let texts = (DurationText.format(retry.initial), DurationText.format(retry.maximum))
      reader.report(
        ["retry", reader.has("retry", "initial") ? "initial" : "maximum"], "initial (\(texts.0)) is longer than maximum (\(texts.1))")
    }
    reportContradictionsOfRemoteAccess(to: reader)
    if control.socket.utf8.count > Self.socketPathLimit {
      let path = reader.has("control", "socket") ? ["control", "socket"] : ["state_directory"]
      reader.report(
        path,
        "the socket's path \(control.socket) has \(control.socket.utf8.count) bytes, Linux takes \(Self.socketPathLimit): set a shorter control.socket"
      )
    }
    if requireSignatures, trustedKeys.isEmpty, reader.isSound("trusted_keys") {
      reader.report(["require_signatures"], "require_signatures is true, but there are no [[trusted_keys]]: no plugin could be loaded")
    }
    if pluginDirectories.contains(stateDirectory) {
      reader.report(["state_directory"], "state_directory is also one of plugin_directories: plugins must not be where the host writes")
    }
    reportContradictionsOfEvents(to: reader)
    reportContradictionsOfNotify(to: reader)
    reportContradictionsOfTraces(to: reader)
    reportContradictionsOfEncryption(to: reader)
    reportContradictionsOfFleet(to: reader)
    reportContradictionsOfSchedules(to: reader)
    if idle.times.lightAfter >= idle.times.deepAfter {
      let texts = (DurationText.format(idle.times.lightAfter), DurationText.format(idle.times.deepAfter))
      reader.report(
        ["idle", reader.has("idle", "deep_after") ? "deep_after" : "light_after"],
        "deep_after (\(texts.1)) is not longer than light_after (\(texts.0))")
    }
    for problem in conditions.problems { reader.report(["conditions"], problem) }
    for (identifier, plugin) in plugins where !isNotice(identifier) { reportContradictions(of: plugin, identifier, to: reader) }
  }

  private func reportContradictionsOfRemoteAccess(to reader: TOMLReader) {
    for key in ["names", "certificate", "key", "plaintext"] where reader.has("control", key) {
      guard control.listen == nil, reader.isSound("control", "listen") else { break }
      reader.report(["control", key], "\(key) is for TCP, and there is no listen: set control.listen, such as \"127.0.0.1:7411\"")
    }
    for (key, other) in [("certificate", "key"), ("key", "certificate")] where control.listen != nil && reader.isSound("control", other) {
      let (present, missing) = key == "key" ? (control.key, control.certificate) : (control.certificate, control.key)
      guard present != nil, missing == nil else { continue }
      reader.report(["control", key], "TLS takes both a certificate and its private key: set control.\(other) too")
    }
    let isEncrypted = control.certificate != nil || control.key != nil
    if isEncrypted, control.plaintext {
      reader.report(["control", "plaintext"], "plaintext is true, and certificate makes listen speak TLS only: remove one of them")
    }
    guard let listen = control.listen, !listen.isLoopback, !control.plaintext, !isEncrypted else { return }
    guard reader.isSound("control", "certificate"), reader.isSound("control", "key") else { return }
    reader.report(
      ["control", "listen"],
      "\(listen) is not this machine's loopback, and without TLS whoever carries the packets reads the tokens: set control.certificate and "
        + "control.key, or listen on 127.0.0.1 and use a tunnel (ssh -L), or set plaintext = true for a network that nobody else reads")
  }

  private func reportContradictionsOfEvents(to reader: TOMLReader) {
    var names: [EventSocket.Listen: String] = [:]
    for (name, socket) in events.sorted(by: { $0.key < $1.key }) {
      let place = ["events", name, "listen"]
      switch socket.listen {
      case .unix(let path) where path.utf8.count > Self.socketPathLimit:
        reader.report(
          place, "the socket's path \(path) has \(path.utf8.count) bytes, Linux takes \(Self.socketPathLimit): choose a shorter one")
      case .unix(control.socket): reader.report(place, "\(control.socket) is the control socket: choose another path")
      case .udp(let address) where address.port == 0: continue
      default: break
      }
      if let other = names[socket.listen] {
        reader.report(place, "\(socket.listen) is that of the event \"\(other)\" too: one socket brings one event")
      }
      names[socket.listen] = name
    }
  }

  private func reportContradictions(of plugin: PluginConfiguration, _ identifier: String, to reader: TOMLReader) {
    let table = commands[identifier] == nil ? "plugin" : "command"
    func report(_ keys: String..., message: String) { reader.report([table, identifier] + keys, message) }
    func has(_ key: String) -> Bool { reader.has(table, identifier, key) }

    if let identifier = try? TaskIdentifier(identifier), reader.isSound("permitted_identifiers"), !permits(identifier) {
      report(message: "permitted_identifiers does not permit \"\(identifier)\": add it there, or remove this table")
    }
    if let runs = plugin.maxConcurrentRuns, runs > maxConcurrentRuns {
      report("max_concurrent_runs", message: "max_concurrent_runs (\(runs)) is more than the host's (\(maxConcurrentRuns))")
    }
    reportContradictions(of: plugin.schedule, of: identifier, at: [table, identifier, "schedule"], to: reader)
    if let flaw = plugin.objectiveFlaw { report("expect_within", message: flaw) }
    if let event = plugin.event, let identifier = try? TaskIdentifier(identifier) {
      do throws(RequestRefusal) { try event.check(for: identifier) } catch { report("schedule", message: error.message) }
    }
    let retry = retry.changed(by: plugin.retry)
    if retry.initial > retry.maximum, plugin.retry.initial != nil || plugin.retry.maximum != nil {
      let texts = (DurationText.format(retry.initial), DurationText.format(retry.maximum))
      let key = plugin.retry.initial == nil ? "maximum" : "initial"
      report("retry", key, message: "initial (\(texts.0)) is longer than maximum (\(texts.1)); what is left out is as in [retry]")
    }
    if let window = plugin.scheduling.window, windows[window] == nil {
      report("window", message: "there is no [windows.\(window)]\(NearestName.hint(for: window, among: Array(windows.keys)))")
    }
    for (name, count) in plugin.scheduling.resources where count > resources[name] ?? 0 {
      report(
        "resources", message: "resources.\(name): a run takes \(count) and the host has \(resources[name] ?? 0): it would wait forever")
    }
    for key in ["requires", "jitter", "wake", "prefer"] where has(key) && !has("schedule") {
      report(key, message: "\(key) applies to the schedule's runs, and there is no schedule")
    }
    guard plugin.isolation == .thread, commands[identifier] == nil else { return }
    if requireSandbox {
      report("isolation", message: "require_sandbox is true, but isolation = \"thread\" has no sandbox")
    }
    for key in ["limits", "entitlements", "environment"] where has(key) {
      report(key, message: "\(key) needs isolation = \"process\": code on the host's threads has what the host has")
    }
  }
}
