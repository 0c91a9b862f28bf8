"""`make audit`: pinned packages against the published advisories, and in plain words what was not looked at.

pip-audit ends well where its service knows none of the packages (a mirror, no network): silence there is no good news, so
this ends with 1 for advisories and with 2 for packages that were not audited.
"""

import json
import subprocess
import sys
from typing import Any

WORDS = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]


def audited(report: dict[str, Any]) -> tuple[str, int]:
    """What a report of pip-audit comes to, for people, and the exit code."""
    packages = report["dependencies"]
    skipped = [each["name"] for each in packages if "skip_reason" in each]
    bad = [f"{p['name']} {p['version']}: {v['id']}, {_mended(v)}" for p in packages for v in p.get("vulns", ())]
    lines = [*bad, f"{len(packages) - len(skipped)} of {len(packages)} packages audited, {len(bad) or 'no'} advisories"]
    if skipped:
        lines.append(f"not audited, for the service does not know them: {', '.join(skipped)}")
    return "\n".join(lines), 1 if bad else 2 if skipped or not packages else 0


def _mended(vulnerability: dict[str, Any]) -> str:
    return f"mended in {', '.join(vulnerability['fix_versions'])}" if vulnerability.get("fix_versions") else "not mended yet"


def main(program: str, *files: str) -> int:
    """program: pip-audit. files: of pinned requirements, each of an environment of its own. The worst of their exit codes."""
    codes = []
    for file in files:
        done = subprocess.run([program, *WORDS, "--requirement", file], capture_output=True, text=True)
        try:
            text, code = audited(json.loads(done.stdout))
        except ValueError:
            last = done.stderr.strip().splitlines()[-1:] or ["nothing"]
            text, code = f"nothing was audited: pip-audit reached no advisories, and said: {last[0][:300]}", 2
        print(f"{file}: {text}")
        codes.append(code)
    return 1 if 1 in codes else max(codes, default=2)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
