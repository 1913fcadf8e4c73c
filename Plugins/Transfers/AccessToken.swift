import Glibc
import StrictText

/// The access token in a file that another program keeps.
struct AccessToken: Sendable {
  let text: String
  /// The file when it was read; nil if it changed meanwhile or is gone.
  let stamp: FileStamp?

  /// The largest file. Source: that of a token file of the token-refresh plugin, with the part that JSON adds.
  private static let mostBytes = 327_680

  /// Reads the member `access_token` of an object, or the whole text, which is one line.
  init(file: String) throws(FileFailure) {
    let stamp = FileStamp(path: file)
    let text: [UInt8]
    do throws(SmallText.Unreadable) { text = try SmallText.read(file, limit: Self.mostBytes) } catch { throw Self.failure(file, error) }
    let token: String
    if let node = try? JSONReader.read(text), case .object = node.value {
      guard let member = node["access_token"]?.string else { throw FileFailure("\(file) has no access_token", isTemporary: true) }
      token = member
    } else {
      token = try Self.line(text, file)
    }
    guard HeaderText.isToken(token) else {
      throw FileFailure("\(file) has no access_token that fits into a header", isTemporary: true)
    }
    self.text = token
    self.stamp = stamp == FileStamp(path: file) ? stamp : nil
  }

  /// The token in a text that is not JSON.
  private static func line(_ text: [UInt8], _ file: String) throws(FileFailure) -> String {
    let words = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count > 1 else { return words.first.map(String.init) ?? "" }
    // Another program may be in the middle of writing an object.
    guard words.first?.first != "{" else { throw FileFailure("\(file) has no access_token: its JSON is damaged", isTemporary: true) }
    let lines = text.split(separator: UInt8(ascii: "\n")).count
    throw FileFailure(
      "\(file) has \(lines > 1 ? "\(lines) lines" : "blanks in its line") where a token is one line without blanks: write the token "
        + "alone into it, or an object with access_token")
  }

  /// A file that is not there may be written before the next attempt. A file that this worker cannot read stays so until somebody changes
  /// the configuration or the file.
  private static func failure(_ file: String, _ unreadable: SmallText.Unreadable) -> FileFailure {
    let remedy: String? =
      switch unreadable.code {
      case EACCES, EPERM:
        "add its folder to read in [plugin.\"\(TransferTask.identifier)\".entitlements], or, if it is there, change the file's mode or owner "
          + "so that the worker can read it"
      case ELOOP: "it is a symbolic link: name the file that the link leads to"
      case EISDIR, ENOTDIR, ENXIO, SmallText.Unreadable.notOrdinary: "name a file"
      case EFBIG: "it has more than \(mostBytes >> 10) KiB: name the file of a token"
      default: nil
      }
    let problem = "the access token in \(file) cannot be read: \(unreadable.words)"
    return FileFailure(remedy.map { "\(problem): \($0)" } ?? problem, isTemporary: remedy == nil)
  }
}
