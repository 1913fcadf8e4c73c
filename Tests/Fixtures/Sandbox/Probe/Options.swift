import TaskModel

/// What the command line asks for: `PLUGIN [OPTION VALUE]… -- [ACTION ARGUMENT]…`.
struct Options {
  var confinement: Confinement
  /// `--landlock`: the newest ABI to use.
  var landlockLimit: Int?
  /// `--filter-only`: the seccomp filter alone, so that a refusal can come from nothing else.
  var filterOnly = false
  /// Pairs of a name and an argument.
  var actions: [(String, String)] = []

  init(_ arguments: [String]) {
    var rest = arguments[...]
    confinement = Confinement(plugin: rest.popFirst() ?? "")
    while let option = rest.popFirst(), option != "--" {
      let value = rest.popFirst() ?? ""
      switch option {
      case "--landlock": landlockLimit = Int(value)
      case "--filter-only": filterOnly = true
      case "--data": confinement.dataDirectory = value
      case "--library": confinement.libraryDirectories.append(value)
      case "--read": confinement.read.append(value)
      case "--write": confinement.write.append(value)
      case "--host": confinement.reserved.append(ReservedPath(value, refusals: .everything))
      case "--plugins": confinement.reserved.append(ReservedPath(value, refusals: [.readAbove, .readSame, .write]))
      case "--memory": confinement.memory = Int(value) ?? 0
      case "--descriptors": confinement.descriptors = Int(value) ?? 0
      case "--exec": confinement.exec = value == "true"
      case "--network":
        confinement.network = value == "connect" ? .connect : .ports(value.split(separator: ",").compactMap { UInt16($0) })
      default: fail("unknown option \(option)")
      }
    }
    while let name = rest.popFirst() { actions.append((name, rest.popFirst() ?? "")) }
  }
}
