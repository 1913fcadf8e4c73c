import Glibc
import HostThreads

enum PowerSupplyReader {
  struct Failure: Error, Hashable {
    /// A sentence without a full stop.
    var reason: String
  }

  /// The machine's supplies, without the batteries of mice and keyboards; none if the directory does not exist.
  static func read(_ directory: String) throws(Failure) -> [PowerSupply] {
    do throws(ErrorNumber) {
      return try DirectoryNames.list(at: directory).compactMap { supply($0, in: directory + "/" + $0) }
    } catch {
      guard error.code == ENOENT else { throw Failure(reason: "\(directory) cannot be read: \(error)") }
      return []
    }
  }

  private static func supply(_ name: String, in directory: String) -> PowerSupply? {
    func text(_ file: String) -> String? { TextFile.read(directory + "/" + file) }
    func number(_ file: String) -> Double? { text(file).flatMap(Double.init) }
    // Ignore batteries of devices and slots without a battery.
    guard let type = text("type"), text("scope") != "Device", text("present") != "0" else { return nil }
    let kind: PowerSupply.Kind
    switch type {
    case "Battery", "UPS": kind = .battery
    case "Mains", "Wireless": kind = .external
    default:
      guard type.hasPrefix("USB") else { return nil }
      kind = .external
    }
    return PowerSupply(
      name: name, kind: kind,
      // 1 is online, 2 is online with a programmable voltage.
      isOnline: number("online").map { $0 > 0 }, capacity: number("capacity").flatMap { (0...100).contains($0) ? $0 : nil },
      capacityLevel: text("capacity_level"), status: text("status"),
      fullCharge: number("energy_full") ?? number("charge_full"))
  }
}

struct PowerSupply: Sendable, Hashable {
  /// The name of its directory, such as "BAT0".
  var name: String
  var kind: Kind
  var isOnline: Bool?
  /// Charge in percent; nil if unknown.
  var capacity: Double?
  /// The charge in words if there is no number, such as "Low".
  var capacityLevel: String?
  /// "Charging", "Discharging", "Full", "Not charging", "Unknown".
  var status: String?
  /// Its capacity when full, in any unit; nil if unknown.
  var fullCharge: Double?

  enum Kind: Sendable, Hashable {
    case external
    /// Powers the machine when nothing else does.
    case battery
  }
}
