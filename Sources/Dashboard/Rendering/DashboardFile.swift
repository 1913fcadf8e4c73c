import CDashboardFiles

/// A file of the dashboard that the program has in it.
public struct DashboardFile: Sendable {
  let name: String
  /// The file's content.
  public let bytes: [UInt8]

  /// All files, templates too.
  static let all: [DashboardFile] = {
    var files: [DashboardFile] = []
    var entry = dashboard_files()
    while let file = entry?.pointee, let name = file.name {
      files.append(
        DashboardFile(name: String(cString: name), bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count))))
      entry = entry?.advanced(by: 1)
    }
    return files
  }()

  /// A file that browsers load; nil if there is none of that name.
  public static func named(_ name: String) -> DashboardFile? { all.first { $0.name == name && $0.mediaType != nil } }

  /// The value of `content-type`; nil for templates.
  public var mediaType: String? {
    switch name.split(separator: ".").last {
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: nil
    }
  }

  /// Changes with the content.
  ///
  /// - Source: FNV-1a of 64 bits. Nobody gains from a collision.
  public var tag: String {
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "\"\(String(hash, radix: 16))\""
  }
}
