public import TaskModel

/// The plugins: what they registered, how they are, what was refused and why, what they may do.
public enum PluginsPage {
  /// The page, with what needs a person first.
  public static func make(_ plugins: [PluginStatus], now: WallTime) -> Page {
    // What needs a person comes first.
    let sorted = plugins.enumerated().sorted { left, right in (rank(left.element), left.offset) < (rank(right.element), right.offset) }
    return Page("Plugins", in: .plugins, "plugins", ["plugins": sorted.map { view($0.element, now) }], now: now)
  }

  private static func rank(_ plugin: PluginStatus) -> Int {
    switch plugin.health {
    case .quarantined, .refused, .suspended, .unapproved: 0
    case .held: 1
    case .registered: 2
    }
  }

  private static func view(_ plugin: PluginStatus, _ now: WallTime) -> View {
    let identifier = plugin.contract?.identifier
    let buttons: View? = identifier.map { identifier in
      var items = [View(button: "Run now", "/ui/tasks/\(identifier)/run", of: identifier.rawValue)]
      if plugin.health == .held || plugin.health == .quarantined {
        items.append(View(button: "Release", "/ui/plugins/\(identifier)/release", of: identifier.rawValue, kind: "main"))
      }
      return ["items": items]
    }
    let permissions = plugin.permissions.isEmpty ? ["the host does not say"] : plugin.permissions
    let may: View? = plugin.contract == nil && plugin.approval == nil ? nil : ["items": permissions]
    return [
      "name": identifier?.rawValue ?? plugin.file, "href": identifier.map { PagePath.task($0) },
      "badge": View(badge: plugin.health.rawValue),
      "isRefused": [.refused, .quarantined, .unapproved].contains(plugin.health),
      "reason": plugin.reasonMessage ?? plugin.approval?.problem.text, "facts": facts(plugin, now), "may": may, "buttons": buttons,
    ]
  }

  private static func facts(_ plugin: PluginStatus, _ now: WallTime) -> [View] {
    let contract = plugin.contract
    let worker = plugin.workerProcessID.map { "process \($0)\(plugin.workerState.map { ", \($0)" } ?? "")" }
    let facts: [View?] = [
      View(fact: "File", plugin.file), View(fact: "Reason", plugin.reasonCode), View(fact: "Name", contract?.displayName),
      View(fact: "Version", contract?.version), View(fact: "Kind", contract?.kind.rawValue),
      View(fact: "Budget", contract.map { $0.budget?.words ?? "none" }), View(fact: "Grace", contract?.grace.words),
      View(fact: "Running", contract.map { "\(plugin.running) of \($0.maxConcurrentRuns)" }),
      View(fact: "Function", contract?.typed?.signature), View(fact: "Command", plugin.command?.joined(separator: " ")),
      View(fact: "Isolation", plugin.isolation), View(fact: "Worker", worker), View(fact: "Held until", plugin.heldUntil, now: now),
      View(fact: "Crashes and forced stops", plugin.failures == 0 ? nil : "\(plugin.failures) in a row"),
      View(fact: "Last trouble", plugin.lastTrouble), View(fact: "Quota", plugin.quota), View(fact: "Rate", plugin.rate),
      View(fact: "Signature", plugin.signature), View(fact: "SHA-256", plugin.digest),
      View(fact: "Sandbox", plugin.sandbox.joined(separator: "; ")),
    ]
    return facts.compactMap(\.self)
  }
}
