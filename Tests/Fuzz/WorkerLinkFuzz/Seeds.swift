import Glibc

/// Before the first input: writes the messages of the link's own tests to the directory that `TASKHOST_FUZZ_SEEDS` names.
///
/// - Parameters:
///   - count: Borrowed; not used.
///   - arguments: Borrowed; not used.
@c(LLVMFuzzerInitialize) public func writeSeeds(
  _ count: UnsafeMutablePointer<Int32>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> Int32 {
  guard let directory = getenv("TASKHOST_FUZZ_SEEDS") else { return 0 }
  for (index, bytes) in Samples.encoded.enumerated() {
    guard let file = fopen("\(String(cString: directory))/sample-\(index)", "w") else { continue }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }
  return 0
}
