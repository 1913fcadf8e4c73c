#if canImport(Glibc)
  import Glibc
#endif

/// How much a run should transfer in which conditions of the machine.
///
/// An operator decides it if the plugin's settings have a value of this type: each key of the table may be missing.
///
/// ```swift
/// struct Settings: Decodable { var transfers: TransferPolicy? }
/// ```
/// ```toml
/// [plugin."org.example.photos".settings.transfers]
/// metered_bytes = 5000000
/// ```
///
/// - Source: Android's `DownloadManager.getRecommendedMaxBytesOverMobile` (a size for metered networks) and Apple's
///   `allowsExpensiveNetworkAccess` (yes or no). Neither system has a number for all apps; the defaults are ours.
public struct TransferPolicy: Sendable, Equatable, Decodable {
  /// The most bytes over a metered network. Default: 10 MiB.
  public var meteredBytes: Int64 = 10 << 20
  /// The most bytes while the machine is on battery. Default: 100 MiB.
  public var batteryBytes: Int64 = 100 << 20
  /// The most bytes while the battery is low. Default: 1 MiB.
  public var lowBatteryBytes: Int64 = 1 << 20
  /// The least bytes that a download must leave free on its file system. Default: 256 MiB.
  public var spareBytes: Int64 = 256 << 20

  /// Creates the policy with the defaults.
  public init() {}

  private enum CodingKeys: String, CodingKey {
    case meteredBytes = "metered_bytes"
    case batteryBytes = "battery_bytes"
    case lowBatteryBytes = "low_battery_bytes"
    case spareBytes = "spare_bytes"
  }

  /// Reads a table of settings, in which each key may be missing.
  public init(from decoder: any Decoder) throws {
    let table = try decoder.container(keyedBy: CodingKeys.self)
    meteredBytes = try table.decodeIfPresent(Int64.self, forKey: .meteredBytes) ?? meteredBytes
    batteryBytes = try table.decodeIfPresent(Int64.self, forKey: .batteryBytes) ?? batteryBytes
    lowBatteryBytes = try table.decodeIfPresent(Int64.self, forKey: .lowBatteryBytes) ?? lowBatteryBytes
    spareBytes = try table.decodeIfPresent(Int64.self, forKey: .spareBytes) ?? spareBytes
  }

  /// What speaks against a transfer in these conditions; `nil` if nothing does.
  ///
  /// - Parameters:
  ///   - bytes: The size of the transfer, as far as it is known; 0 for a small question.
  ///   - held: The conditions that hold.
  ///   - free: The free bytes where a download goes; `nil` for an upload, or if they are not known.
  public func obstacle(bytes: Int64, in held: Conditions, free: Int64? = nil) -> TransferObstacle? {
    guard held.contains(.network) else { return .noNetwork }
    if let free, bytes > 0, !held.contains(.storageNotLow) || free < bytes || free - bytes < spareBytes { return .noSpace }
    if !held.contains(.unmetered), bytes > meteredBytes { return .metered }
    if !held.contains(.batteryNotLow), bytes > lowBatteryBytes { return .lowBattery }
    if !held.contains(.power), bytes > batteryBytes { return .onBattery }
    return nil
  }

  /// The free bytes of the file system that has the directory; `nil` if they are not known.
  static func freeBytes(at directory: String) -> Int64? {
    var space = statvfs()
    guard statvfs(directory, &space) == 0 else { return nil }
    let (bytes, overflows) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
    return overflows ? .max : Int64(clamping: bytes)
  }
}

/// What speaks against a transfer now.
public enum TransferObstacle: String, Sendable, CaseIterable {
  /// There is no network.
  case noNetwork
  /// The network is metered, and the transfer is larger than the policy allows there.
  case metered
  /// The machine is on battery, and the transfer is larger than the policy allows then.
  case onBattery
  /// The battery is low, and the transfer is larger than the policy allows then.
  case lowBattery
  /// The file system is nearly full, or would be.
  case noSpace
}
