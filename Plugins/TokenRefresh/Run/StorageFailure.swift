/// New tokens came, and could not be stored for good: the worst that can happen here, so it says where they are.
struct StorageFailure: Error, CustomStringConvertible {
  let description: String

  init(_ failure: TokenFileReplacement.Failure, rotated: Bool) {
    let fate =
      switch (failure.kept, rotated) {
      case (let kept?, _):
        "they are in \(kept), in the folder of the token file, and the next run takes them over if it is not the file itself"
      case (nil, true): "they are lost, and the refresh token in the file may be void: sign in again if the next run is refused"
      case (nil, false): "they are lost, but the refresh token in the file stays valid"
      }
    description = "NEW TOKENS NOT STORED: \(failure.cause); \(fate)"
  }
}
