import StrictText
import Testing

@Suite("Percent-encoding") struct PercentEncodingTests {
  @Test(
    "letters, digits and what is kept stay; every other byte is two digits in upper case",
    arguments: [
      ("azAZ09", "", "azAZ09"), ("a-b", "-", "a-b"), ("a-b", "", "a%2Db"), ("a b", " ", "a b"), ("\n%", "", "%0A%25"), ("ü", "ü", "%C3%BC"),
      ("", "", ""),
    ])
  func encode(_ text: String, _ kept: String, _ encoded: String) {
    #expect(PercentEncoding.encode(text, keeping: kept) == encoded)
  }
}
