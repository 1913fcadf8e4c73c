/// NetworkManager's statement about the connection, `NMMetered` of its D-Bus interface.
enum ManagerMetered: UInt32, Sendable, Hashable {
  /// It does not know.
  case unknown = 0
  /// It was configured as metered.
  case yes = 1
  /// It was configured as not metered.
  case no = 2
  /// It looks metered (a phone's hot spot).
  case guessYes = 3
  /// It does not look metered.
  case guessNo = 4
}
