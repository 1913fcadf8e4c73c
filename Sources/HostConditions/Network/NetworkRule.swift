/// Decides `network` and `unmetered` from the machine's network.
struct NetworkRule: Sendable, Hashable {
  var meteredInterfaces: Set<String>

  func network(_ table: NetworkTable) -> Reading {
    guard let connection = table.connection else { return Reading(leaning: .lost, observed: table.obstacle) }
    return Reading(leaning: .holds, observed: "\(connection.name) is up with a default route")
  }

  /// - Parameter manager: NetworkManager's answer; nil if there is none.
  func unmetered(_ table: NetworkTable, manager: ManagerMetered?) -> Reading {
    guard let connection = table.connection else { return Reading(leaning: .lost, observed: table.obstacle) }
    if let metered = connection.links.first(where: meteredInterfaces.contains) {
      return Reading(leaning: .lost, observed: "\(metered) is up with a default route and named in metered_interfaces")
    }
    switch manager {
    case .yes: return Reading(leaning: .lost, observed: "NetworkManager says that \(connection.name) is metered")
    case .guessYes: return Reading(leaning: .lost, observed: "NetworkManager guesses that \(connection.name) is metered")
    case .no, .guessNo: return Reading(leaning: .holds, observed: "\(connection.name) is up, and not metered as NetworkManager says")
    case .unknown, nil: return Reading(leaning: .holds, observed: "\(connection.name) is up, and nothing says that it is metered")
    }
  }
}

/// NetworkManager's statement about the connection: `NMMetered` in its D-Bus interface.
enum ManagerMetered: UInt32, Sendable, Hashable {
  case unknown = 0
  /// Configured as metered.
  case yes = 1
  /// Configured as not metered.
  case no = 2
  /// It looks metered (a phone's hot spot).
  case guessYes = 3
  /// It does not look metered.
  case guessNo = 4
}
