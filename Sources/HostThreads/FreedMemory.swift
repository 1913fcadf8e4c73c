import CTaskHostSystem

/// Memory that was freed but that the allocator keeps.
public enum FreedMemory {
  /// Returns this memory to the system. Takes up to a few milliseconds; other threads continue meanwhile.
  public static func giveBack() { taskhost_system_trim_memory() }
}
