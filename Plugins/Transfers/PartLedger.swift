import Glibc
import StrictText

/// Which requests have begun downloads, and where: a file for each request in the plugin's own folder.
///
/// A request that is cancelled between two runs gets no further run that could remove its parts. The next run of any request does.
struct PartLedger: Sendable {
  private let folder: String

  /// - Parameter folder: The plugin's data folder.
  init(folder: String) { self.folder = folder + "/parts" }

  /// Notes the targets of a request's downloads. Without the note, at worst a part remains.
  func note(_ targets: [String], of request: String) {
    mkdir(folder, 0o700)
    let file = open(path(of: request), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    let text = JSONWriter.object { $0.member("targets", targets) }
    if write(file, text, text.count) != text.count { unlink(path(of: request)) }
    close(file)
  }

  func forget(_ request: String) { unlink(path(of: request)) }

  /// The requests that are noted.
  func requests() -> [String] {
    guard let folder = opendir(folder) else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasSuffix(".json") { found.append(String(name.dropLast(5))) }
    }
    return found
  }

  /// Removes the parts of a request that nobody goes on with.
  func removeParts(of request: String) {
    if let text = try? SmallText.read(path(of: request), limit: 8 << 20), let node = try? JSONReader.read(text),
      case .array(let targets)? = node["targets"]?.value
    {
      for (index, target) in targets.enumerated() {
        if let target = target.string, target.hasPrefix("/") { PartFile.remove(of: target, id: Self.partID(request, index)) }
      }
    }
    forget(request)
  }

  /// What tells the parts of a request's items from others.
  static func partID(_ request: String, _ index: Int) -> String { "\(request.filter { $0 != "-" })-\(index)" }

  private func path(of request: String) -> String { "\(folder)/\(request).json" }
}
