import StrictText

/// The plugin's settings, checked. Without any, there are no accounts and a run has nothing to do.
struct TokenRefreshSettings: Sendable, Equatable {
  /// Most accounts one instance serves: what fits a run's output.
  static let mostAccounts = 100

  var accounts: [Account] = []
}

extension TokenRefreshSettings: Decodable {
  /// - Throws: ``SettingsProblems`` with every problem at once.
  init(from decoder: any Decoder) throws {
    self = try SettingsReader.read(try JSONValue(from: decoder))
  }
}
