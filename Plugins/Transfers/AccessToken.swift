import Glibc
import StrictText

/// The access token in a file that another program keeps.
struct AccessToken: Sendable {
  let text: String
  /// The file when it was read; nil if it changed meanwhile or is gone.
  let stamp: FileStamp?

  /// Reads the member `access_token` of an object, or the whole text.
  init(file: String) throws(FileFailure) {
    let stamp = FileStamp(path: file)
    let text: [UInt8]
    do throws(SmallText.Unreadable) { text = try SmallText.read(file, limit: 327_680) } catch { throw Self.failure(file, error) }
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

  /// A file that is not there, or is too long, may be written before the next attempt. A file that this worker may not read stays so until
  /// somebody changes the configuration or the file.
  private static func failure(_ file: String, _ unreadable: SmallText.Unreadable) -> FileFailure {
    let remedy: String? =
      switch unreadable.code {
      case EACCES, EPERM:
        "add its folder to read in [plugin.\"\(TransferTask.identifier)\".entitlements], or, if it is there, change the file's mode or owner "
          + "so that the worker can read it"
      case ELOOP: "it is a symbolic link: name the file that the link leads to"
      case EISDIR: "name a file"
      default: nil
      }
    let problem = "the access token in \(file) cannot be read: \(unreadable.words)"
    return FileFailure(remedy.map { "\(problem): \($0)" } ?? problem, isTemporary: remedy == nil)
  }
}
