/// A directory that is open as long as this lives.
protocol OpenDirectory: AnyObject {
  /// Borrowed: never to be closed by others.
  var raw: Int32 { get }
}
