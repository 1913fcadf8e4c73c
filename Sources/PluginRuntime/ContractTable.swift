public import CTaskHost

/// The table of functions that every plugin of this process gets at launch.
public enum ContractTable {
  /// Read-only memory that lives as long as the process; nil if no memory was left for it.
  public static var shared: UnsafePointer<taskhost_api>? { HostTable.shared }
}
