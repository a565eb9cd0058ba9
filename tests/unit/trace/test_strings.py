from mxprof_nb.trace import Strings


def test_of_texts_that_were_made_the_same_the_first_stands_for_all():
    strings = Strings(["dot", "sum", "dot"])
    assert (strings.code("dot"), strings.code("sum")) == (0, 1)
    assert not strings.all_differ
    assert strings[2] == "dot"
    assert Strings(["dot", "sum"]).all_differ
