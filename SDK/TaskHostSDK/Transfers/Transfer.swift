/// A file that the host downloads or uploads while no run of the plugin is live.
public struct Transfer: Sendable, Hashable {
  /// What is transferred.
  public enum Direction: Sendable, Hashable {
    /// A download to this absolute path, which the plugin moves there when it is whole: its data directory or what it may write.
    case download(to: String)
    /// An upload of this file, an absolute path that the plugin may read, by this method: `PUT`, `POST` or `PATCH`.
    case upload(from: String, method: String)
  }

  /// `https://` or `http://`.
  public var url: String
  /// What is transferred.
  public var direction: Direction
  /// What the content of a download must have, as 64 hexadecimal digits; `nil`: anything.
  public var sha256: String?

  /// Creates a transfer.
  public init(url: String, direction: Direction, sha256: String? = nil) {
    self.url = url
    self.direction = direction
    self.sha256 = sha256
  }

  /// A download.
  public static func download(_ url: String, to path: String, sha256: String? = nil) -> Transfer {
    Transfer(url: url, direction: .download(to: path), sha256: sha256)
  }

  /// An upload.
  public static func upload(_ path: String, to url: String, method: String = "PUT") -> Transfer {
    Transfer(url: url, direction: .upload(from: path, method: method))
  }

  /// Its file, where the plugin has it.
  public var path: String {
    switch direction {
    case .download(let path), .upload(let path, _): path
    }
  }
}
