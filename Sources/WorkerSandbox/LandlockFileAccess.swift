/// Landlock's access rights for files, with the kernel's bits.
struct LandlockFileAccess: OptionSet {
  let rawValue: UInt64

  static let execute = Self(rawValue: 1 << 0)
  static let writeFile = Self(rawValue: 1 << 1)
  static let readFile = Self(rawValue: 1 << 2)
  static let readDirectory = Self(rawValue: 1 << 3)
  static let removeDirectory = Self(rawValue: 1 << 4)
  static let removeFile = Self(rawValue: 1 << 5)
  static let makeCharacterDevice = Self(rawValue: 1 << 6)
  static let makeDirectory = Self(rawValue: 1 << 7)
  static let makeFile = Self(rawValue: 1 << 8)
  static let makeSocket = Self(rawValue: 1 << 9)
  static let makeFIFO = Self(rawValue: 1 << 10)
  static let makeBlockDevice = Self(rawValue: 1 << 11)
  static let makeSymbolicLink = Self(rawValue: 1 << 12)
  /// Moving and linking between directories; ABI 2.
  static let refer = Self(rawValue: 1 << 13)
  /// ABI 3.
  static let truncate = Self(rawValue: 1 << 14)
  /// `ioctl` on devices; ABI 5.
  static let controlDevice = Self(rawValue: 1 << 15)

  static let read: Self = [.readFile, .readDirectory]
  static let readExecute: Self = [.read, .execute]
  /// All rights in a directory except starting programs and creating devices.
  static let readWrite: Self = [
    .read, .writeFile, .removeDirectory, .removeFile, .makeDirectory, .makeFile, .makeSocket, .makeFIFO, .makeSymbolicLink, .refer,
    .truncate,
  ]

  /// The rights that a kernel with this ABI can deny.
  static func known(to abi: Int) -> Self {
    let count =
      switch abi {
      case ...0: 0
      case 1: 13
      case 2: 14
      case 3, 4: 15
      default: 16
      }
    return Self(rawValue: (1 << count) - 1)
  }
}
