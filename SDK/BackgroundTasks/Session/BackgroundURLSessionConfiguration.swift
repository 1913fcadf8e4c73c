import Foundation

/// How a background session transfers, with the properties of `URLSessionConfiguration` that count here.
public final class BackgroundURLSessionConfiguration {
  /// The session's name, the same in each launch of the app.
  public let identifier: String?
  /// Whether the host waits for a good time: an unmetered network and external power. Default: false.
  public var isDiscretionary = false
  /// Whether it may use a metered network. Default: true.
  public var allowsExpensiveNetworkAccess = true
  /// As ``allowsExpensiveNetworkAccess``: here, a cellular network is a metered one. Default: true.
  public var allowsCellularAccess = true
  /// Headers of all requests.
  public var httpAdditionalHeaders: [AnyHashable: Any]?
  /// How many files proceed at once. Default `nil`: what the operator has set.
  public var httpMaximumConnectionsPerHost: Int?
  /// Whether the app is launched when all tasks have ended. Default: true.
  public var sessionSendsLaunchEvents = true

  private init(identifier: String) { self.identifier = identifier }

  /// A configuration for transfers that go on while no run of the plugin is live.
  public static func background(withIdentifier identifier: String) -> BackgroundURLSessionConfiguration {
    BackgroundURLSessionConfiguration(identifier: identifier)
  }

  /// The configuration at this moment: as on iOS, a session does not see later changes.
  var copy: Copy {
    var headers: [String: String] = [:]
    for (name, value) in httpAdditionalHeaders ?? [:] { headers["\(name)"] = "\(value)" }
    return Copy(
      identifier: identifier ?? "", isDiscretionary: isDiscretionary,
      isExpensiveAllowed: allowsExpensiveNetworkAccess && allowsCellularAccess, headers: headers, atOnce: httpMaximumConnectionsPerHost,
      sendsLaunchEvents: sessionSendsLaunchEvents)
  }

  struct Copy: Sendable {
    let identifier: String
    let isDiscretionary, isExpensiveAllowed: Bool
    let headers: [String: String]
    let atOnce: Int?
    let sendsLaunchEvents: Bool
  }
}
