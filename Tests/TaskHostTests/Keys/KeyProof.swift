/// What shows that a key of the configuration does what it says, from the file to the behaviour.
enum KeyProof: Sendable {
  /// In the test process: a text is read, and what comes of it is looked at.
  case here(@Sendable () throws -> Void)
  /// A test of `EndToEndTests`, by its file and its name: a host is started with the key.
  case endToEnd(String, String)
}
