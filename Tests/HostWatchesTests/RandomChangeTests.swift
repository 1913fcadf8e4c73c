import Foundation
import HostWatches
import Testing

/// What is told against what can be seen, over anything that can happen to a small tree.
@Suite("Watches under random changes")
struct RandomChangeTests {
  private static let names = ["a", "b", "c"]
  private static let paths = ["a", "a/b", "a/b/c", "b", "b/a", "b/c/a", "c/b", "c/../b/a", "b/b/b"]

  /// What a path leads to, as `stat` and `readdir` show it.
  private enum Seen: Equatable {
    case missing
    case file(inode: UInt64, time: Int, size: Int)
    /// With its entries: deeper ones do not count.
    case directory(inode: UInt64, entries: [String])

    init(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else {
        self = .missing
        return
      }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        self = .file(inode: UInt64(status.st_ino), time: Self.time(status), size: Int(status.st_size))
        return
      }
      let entries = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      self = .directory(
        inode: UInt64(status.st_ino),
        entries: entries.sorted().map { name in
          var entry = stat()
          lstat("\(path)/\(name)", &entry)
          let isFile = entry.st_mode & S_IFMT == S_IFREG
          return "\(name) \(entry.st_ino) \(isFile ? "\(Self.time(entry)) \(entry.st_size)" : "")"
        })
    }

    private static func time(_ status: stat) -> Int { status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec }
  }

  @Test("whatever has changed was told", arguments: 1...6)
  func random(seed: Int) throws {
    var generator = Sequence(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    let directory = try TestDirectory()
    let told = try Told()
    let watched = Self.paths.map { directory("tree/\($0)") }
    try directory.make("tree")
    try directory.write("~settle")
    #expect(told.watches.watch(Set(watched + [directory("~settle")])) == [:])
    var before = watched.map(Seen.init)
    for step in 0..<250 {
      let done = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
        Self.change(directory("tree"), &generator)
      }
      let paths = try told.settle(directory)
      let after = watched.map(Seen.init)
      for (path, (old, new)) in zip(watched, zip(before, after)) where old != new {
        let message = "seed \(seed), step \(step), \(path) after \(done): \(old) to \(new)"
        try #require(paths.contains(path), "\(message)")
      }
      before = after
    }
  }

  /// Does something, which may fail.
  private static func change(_ root: String, _ generator: inout Sequence) -> String {
    func path() -> String {
      let depth = Int.random(in: 1...3, using: &generator)
      return (0..<depth).reduce(root) { path, _ in "\(path)/\(names.randomElement(using: &generator) ?? "a")" }
    }
    let (one, two) = (path(), path())
    let status: Int32
    let name: String
    switch Int.random(in: 0..<10, using: &generator) {
    case 0, 1, 2: (name, status) = ("mkdir \(one)", mkdir(one, 0o755))
    case 3, 4, 5:
      name = "write \(one)"
      let file = open(one, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
      status = file < 0 ? -1 : 0
      if file >= 0 {
        _ = Glibc.write(file, "x", 1)
        close(file)
      }
    case 6, 7: (name, status) = ("rename \(one) \(two)", rename(one, two))
    case 8: (name, status) = ("remove \(one)", remove(one))
    default:
      let up = String(repeating: "../", count: one.split(separator: "/").count - root.split(separator: "/").count - 1)
      let destination = "\(up)\(names.randomElement(using: &generator) ?? "a")"
      (name, status) = ("link \(one) to \(destination)", symlink(destination, one))
    }
    return status == 0 ? name : ""
  }

  /// SplitMix64.
  private struct Sequence: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
}
