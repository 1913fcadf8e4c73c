/// A directory that stays open while this object lives.
protocol OpenDirectory: AnyObject {
  /// Borrowed: never to be closed by others.
  var raw: Int32 { get }
}
