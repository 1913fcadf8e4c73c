import Glibc

/// What was at locations in the file system when each was first asked for. Paths that are followed together ask for each directory once.
struct FileGlance {
  struct Failure: Error {
    /// An errno.
    let code: Int32
  }

  private var seen: [String: Result<stat, Failure>] = [:]

  /// What is at `location`, itself if it is a link.
  mutating func status(of location: String) -> Result<stat, Failure> {
    if let known = seen[location] { return known }
    var found = stat()
    let result: Result<stat, Failure> = lstat(location, &found) == 0 ? .success(found) : .failure(Failure(code: errno))
    seen[location] = result
    return result
  }
}
