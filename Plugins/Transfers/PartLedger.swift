import Glibc
import StrictText

/// Which requests have begun downloads, and where: a file for each request in the plugin's own folder.
///
/// A request that is cancelled between two runs gets no further run that could remove its parts. The next run of any request does.
struct PartLedger: Sendable {
  private let folder: String

  /// - Parameter folder: The plugin's data folder.
  init(folder: String) { self.folder = folder + "/parts" }

  /// Notes the targets of a request's downloads, and removes its parts beside other targets: it was updated since they were noted. Without
  /// the note, at worst a part remains.
  ///
  /// - Parameter targets: One for each item; empty for an upload.
  func note(_ targets: [String], of request: String) {
    let noted = self.targets(of: request)
    if noted == targets { return }
    for (index, target) in (noted ?? []).enumerated() where index >= targets.count || targets[index] != target {
      removePart(of: target, request, index)
    }
    guard targets.contains(where: { !$0.isEmpty }) else { return noted == nil ? () : forget(request) }
    mkdir(folder, 0o700)
    // The new note takes the place of the old one as a whole.
    let draft = "\(folder)/\(request).new"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    let text = JSONWriter.object { $0.member("targets", targets) }
    let isWritten = write(file, text, text.count) == text.count
    close(file)
    if !isWritten || rename(draft, path(of: request)) != 0 { unlink(draft) }
  }

  /// The targets that are noted; nil if none are.
  private func targets(of request: String) -> [String]? {
    guard let text = try? SmallText.read(path(of: request), limit: 8 << 20), let node = try? JSONReader.read(text),
      case .array(let targets)? = node["targets"]?.value
    else { return nil }
    return targets.map { $0.string ?? "" }
  }

  private func removePart(of target: String, _ request: String, _ index: Int) {
    if target.hasPrefix("/") { PartFile.remove(of: target, id: Self.partID(request, index)) }
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
    for (index, target) in (targets(of: request) ?? []).enumerated() { removePart(of: target, request, index) }
    forget(request)
  }

  /// What tells the parts of a request's items from others.
  static func partID(_ request: String, _ index: Int) -> String { "\(request.filter { $0 != "-" })-\(index)" }

  private func path(of request: String) -> String { "\(folder)/\(request).json" }
}
