"""What a long text keeps of itself."""

from hbench.core.cut import cut


def test_both_ends_stay_and_what_is_left_out_is_counted():
    assert cut("abcdefghij", 10) == "abcdefghij"
    assert cut("abcdefghij", 5) == "abc\n… 5 characters left out …\nij"
    assert cut("abcdefghij", 1) == "a\n… 9 characters left out …\n"
