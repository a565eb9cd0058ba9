from __future__ import annotations

import numpy as np
import pytest

from mxprof_nb.trace.schema import CATEGORIES
from mxprof_nb.view.palette import THEMES, TITLES, colours, contrast, paint


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_reads_on_what_it_stands_on(theme):
    named = colours(theme)
    for category in CATEGORIES:
        for suffix in ("", ".many"):
            on = named[category + suffix]
            assert contrast(named[f"{category}{suffix}.text"], on) >= 4.5, (category, suffix)
    for name in ("text", "muted", "waitlink"):
        assert contrast(named[name], named["background"]) >= 4.5, name


@pytest.mark.parametrize("theme", THEMES)
def test_text_on_the_hatching_of_a_wait_reads_too(theme):
    named = colours(theme)
    assert contrast(named["sync.text"], named["sync.hatch"]) >= 4.5


def test_every_category_has_a_word_and_both_themes_name_the_same_colours():
    assert set(TITLES) == set(CATEGORIES)
    assert colours("light").keys() == colours("dark").keys()


def test_contrast_follows_its_definition():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


def test_painting_replaces_names_of_colours_and_nothing_else():
    array = np.arange(3)
    figure = {"fillcolor": ["@operator", "@home", "operator"], "b": array}
    painted = paint(figure, "light")
    assert painted["fillcolor"] == [colours("light")["operator"], "@home", "operator"]
    assert painted["b"] is array


def test_a_text_of_the_trace_that_looks_like_a_colour_stays():
    figure = {"hovertext": ["@text"], "line": {"color": "@text"}, "name": "@text"}
    assert paint(figure, "light") == {
        "hovertext": ["@text"],
        "line": {"color": colours("light")["text"]},
        "name": "@text",
    }
