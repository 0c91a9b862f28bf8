"""What a model wrote is shown, never obeyed."""

import pytest

from hbench.view.visible import visible


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
        ("\x1b[31mred\x1b[0m", "⟨ESC⟩[31mred⟨ESC⟩[0m"),
        ("\x1b]8;;http://evil.example\x07click\x1b]8;;\x07", "⟨ESC⟩]8;;http://evil.example⟨BEL⟩click⟨ESC⟩]8;;⟨BEL⟩"),
        ("one\r\ntwo\rthree", "one\ntwo⟨CR⟩three"),
        ("a\x00b\x7fc\x9b31m", "a⟨NUL⟩b⟨DEL⟩c⟨U+009B⟩31m"),
        ("abc\u202edcba\u2066x\u200b", "abc⟨U+202E⟩dcba⟨U+2066⟩x⟨U+200B⟩"),
        ("\U000e0041 hidden tag", "⟨U+E0041⟩ hidden tag"),
        ("äß 漢字 😀 é", "äß 漢字 😀 é"),
    ],
)
@pytest.mark.attack
def test_control_characters_become_signs_and_all_else_stays(written, shown):
    assert visible(written) == shown
