/// The fields of a message's header, by their numbers in the protocol.
enum BusField: UInt8 {
  case path = 1
  case interface = 2
  case member = 3
  case errorName = 4
  case replyTo = 5
  case destination = 6
  case sender = 7
  case signature = 8
}
