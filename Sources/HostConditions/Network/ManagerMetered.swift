/// What NetworkManager says of the connection, `NMMetered` of its D-Bus interface.
enum ManagerMetered: UInt32, Sendable, Hashable {
  /// It does not know.
  case unknown = 0
  /// It was told so.
  case yes = 1
  /// It was told that it is not.
  case no = 2
  /// It looks so (a telephone's hot spot).
  case guessYes = 3
  /// It does not look so.
  case guessNo = 4
}
