public import CTaskHost

/// The table of functions that every plugin of this process is given at its launch.
public enum ContractTable {
  /// Read-only memory that lives as long as the process; nil where no memory was left for it.
  public static var shared: UnsafePointer<taskhost_api>? { HostTable.shared }
}
