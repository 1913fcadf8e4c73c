/// Feeds a survey from a walk, except files that cannot be removed anyway.
struct SurveyVisitor: TreeVisitor {
  var survey: Survey
  let ageBy: AgeTimes
  let excluded: Set<UInt64>
  var seenFiles: UInt64 = 0
  var matchedFiles: UInt64 = 0

  mutating func seen() { seenFiles += 1 }

  mutating func visit(_ name: UnsafeRawBufferPointer, in directory: DirectoryNode, _ status: FileStatus) throws(SweepInterruption) {
    matchedFiles += 1
    if !excluded.isEmpty, excluded.contains(status.identity.inode) { return }
    survey.add(time: ageBy.time(of: status), inode: status.identity.inode, size: status.size, hasOtherLinks: status.links > 1)
  }
}
