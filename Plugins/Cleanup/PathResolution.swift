enum PathResolution: Sendable, CaseIterable {
  /// openat2(2): the kernel itself refuses symlinks, mount points and ways out. Linux 5.6 and later.
  case kernel
  /// One openat(2) per component with O_NOFOLLOW, comparing devices and mounts; used if openat2 is missing or forbidden by a seccomp
  /// filter.
  case stepwise
}
