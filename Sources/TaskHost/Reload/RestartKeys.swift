import TaskModel

extension HostConfiguration {
  /// What differs in another configuration and only a restart can change: the keys that the file sets otherwise, or the key as a whole.
  ///
  /// - Parameter changes: How the files differ.
  func keysThatNeedRestart(for other: HostConfiguration, among changes: [WrittenKeys.Change]) -> [String] {
    var names: [String] = []
    func compare(_ key: String, _ isSame: Bool) {
      guard !isSame else { return }
      let written = changes.filter { $0.isAt([key]) }.map(\.path.description)
      names += written.isEmpty ? [key] : written
    }
    compare("state_directory", stateDirectory == other.stateDirectory)
    compare("store_mark", storeMark == other.storeMark)
    compare("control", control == other.control)
    compare("log", log == other.log)
    compare("events", events == other.events)
    compare("conditions", conditions == other.conditions)
    compare("fleet", fleet == other.fleet)
    for identifier in fleetIdentifiers.symmetricDifference(other.fleetIdentifiers).sorted() {
      let table = (other.commands[identifier.rawValue] ?? commands[identifier.rawValue]) == nil ? "plugin" : "command"
      names.append(ConfigurationPath(keys: [table, identifier.rawValue, "scope"]).description)
    }
    compare("metered_interfaces", meteredInterfaces == other.meteredInterfaces)
    return names
  }
}
