"""The licences of the bundle: every part is named, and one that may not be passed on fails the build."""

import json

import pytest

from py_agent.site.bundle.licenses import Notice, check, of_npm
from py_agent.site.bundle.run import BundleError


@pytest.mark.parametrize("expression", ["MIT", "(MPL-2.0 OR Apache-2.0)", "GPL-3.0-only OR MIT", "MIT AND PSF-2.0"])
def test_a_licence_that_may_be_passed_on(expression: str) -> None:
    notice = Notice("thing", "1", expression, "")
    assert check(notice) is notice


@pytest.mark.parametrize("expression", ["", "GPL-3.0-only", "MIT AND AGPL-3.0-only", "SEE LICENSE IN file"])
def test_any_other_licence_fails_and_names_the_part(expression: str) -> None:
    with pytest.raises(BundleError, match=r"thing 1 comes under"):
        check(Notice("thing", "1", expression, ""))


def test_a_package_without_a_licence_field_has_none(tmp_path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "package.json").write_text(json.dumps({"version": "2"}))
    assert of_npm(tmp_path, "bare") == Notice("bare", "2", "", "")
