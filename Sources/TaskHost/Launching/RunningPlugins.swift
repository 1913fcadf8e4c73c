import PluginTrust
import TaskModel

/// The plugins that run while another launch takes place beside them.
struct RunningPlugins: Sendable {
  /// By ``PluginCandidate/place``.
  private let plugins: [String: RegisteredPlugin]
  /// What their workers were made with.
  private let specs: WorkerSpecs

  init(_ plugins: [RegisteredPlugin], _ specs: WorkerSpecs) {
    self.plugins = Dictionary(plugins.map { ($0.candidate.place, $0) }) { first, _ in first }
    self.specs = specs
  }

  /// The running plugin of a file, or else one that serves one of the identifiers; nil if there is none. Commands are none.
  func former(of file: String, _ identifiers: [TaskIdentifier]) -> RegisteredPlugin? {
    if let plugin = plugins[file], plugin.candidate.command == nil { return plugin }
    return plugins.values.first { plugin in plugin.candidate.command == nil && plugin.identifiers.contains { identifiers.contains($0) } }
  }

  /// The running plugin of the same file with the same content, which `specs` would launch in the same way; nil if there is none.
  func plugin(of candidate: PluginCandidate, in specs: WorkerSpecs) -> RegisteredPlugin? {
    guard let plugin = plugins[candidate.place], plugin.candidate.digest == candidate.digest else { return nil }
    let isSame = plugin.identifiers.allSatisfy { self.specs.circumstances(of: $0) == specs.circumstances(of: $0) }
    return isSame ? plugin : nil
  }

  /// Why a candidate cannot take the place of a plugin whose code is in the host; nil if it takes the place of none. Commands have code that
  /// serves any number of them.
  func bound(to candidate: PluginCandidate, _ identifiers: [TaskIdentifier]) -> PluginRefusal? {
    guard
      let present = plugins.values.first(where: { plugin in
        plugin.isBound && (plugin.candidate.place == candidate.place || plugin.identifiers.contains { identifiers.contains($0) })
      })
    else { return nil }
    return PluginRefusal(
      code: .launchFailed, file: candidate.place,
      observed: "\(present.identifiers[0]) runs in threads of the host, where code cannot be replaced",
      remedy: "Restart the host to change it, or undo the change.")
  }
}

extension RegisteredPlugin {
  /// Whether it is code in the host that is there until the host ends.
  var isBound: Bool { placement.isolation == .thread && candidate.command == nil }
}
