import CTaskHostSystem

/// Memory that was freed and that the allocator keeps.
public enum FreedMemory {
  /// Gives it back to the system. Takes up to some milliseconds; other threads go on meanwhile.
  public static func giveBack() { taskhost_system_trim_memory() }
}
