import StrictText

/// The access token in a file that another program keeps.
struct AccessToken: Sendable {
  let text: String
  /// The file when it was read; nil if it changed meanwhile or is gone.
  let stamp: FileStamp?

  /// Reads the member `access_token` of an object, or the whole text.
  init(file: String) throws(FileFailure) {
    let stamp = FileStamp(path: file)
    guard let text = SmallText.read(file, limit: 327_680) else {
      throw FileFailure("the access token in \(file) cannot be read", isTemporary: true)
    }
    let token: String
    if let node = try? JSONReader.read(text), case .object = node.value {
      guard let member = node["access_token"]?.string else { throw FileFailure("\(file) has no access_token", isTemporary: true) }
      token = member
    } else {
      token = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    }
    guard HeaderText.isToken(token) else {
      throw FileFailure("\(file) has no access_token that fits into a header", isTemporary: true)
    }
    self.text = token
    self.stamp = stamp == FileStamp(path: file) ? stamp : nil
  }
}
