public import Foundation
import Glibc

extension Program {
  /// Starts a program and blocks until it has ended; one that takes longer than `limit` is killed, and that is the error. What it reads and
  /// writes is in files that have no name: it never waits for this process, nor this one for what it left running.
  ///
  /// - Parameters:
  ///   - command: The program, by its path or found on PATH, and its arguments.
  ///   - environment: Added to that of this process.
  public static func finish(
    _ command: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil,
    within limit: Duration = .seconds(60)
  ) throws -> Result {
    let files = try (0..<3).map { _ in try UnnamedFile() }
    try files[0].write(input)
    let child = try ChildProcess(
      command, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, directory: directory,
      descriptors: files.map(\.descriptor))
    let status = try child.wait(within: limit)
    return Result(status: status, output: files[1].text, errors: files[2].text)
  }

  /// As ``finish(_:input:environment:directory:within:)``: how it ended, -1 when it could not be started.
  public static func status(_ command: [String]) -> Int32 { (try? finish(command).status) ?? -1 }
}

/// A file that is gone when nobody has it open.
private final class UnnamedFile {
  private let file: UnsafeMutablePointer<FILE>

  var descriptor: Int32 { fileno(file) }

  init() throws {
    guard let file = tmpfile() else { throw TestFailure("tmpfile: \(String(cString: strerror(errno)))") }
    self.file = file
  }

  deinit { fclose(file) }

  /// Writes what is then read from the beginning.
  func write(_ data: Data) throws {
    let count = data.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    guard count == data.count else { throw TestFailure("pwrite: \(String(cString: strerror(errno)))") }
  }

  /// All that was written.
  var text: String {
    let size = Int(lseek(descriptor, 0, SEEK_END))
    let bytes = [UInt8](unsafeUninitializedCapacity: max(0, size)) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
