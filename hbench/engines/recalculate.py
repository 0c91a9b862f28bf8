"""Values for formulas that have none: LibreOffice opens a workbook and saves it again, confined.

Workbooks come from students. LibreOffice sees its own files, fonts and one folder with the workbooks, in namespaces without
network, by an ordinary user without rights; its time, memory and files are limited. Unlike the jail it runs without a filter
of system calls. Macros are not run, links to other files lead nowhere. Stored values stay as they are: what is missing is
computed from them. Functions that this LibreOffice does not know give #NAME?.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from hbench.core.failure import Failure, StepError
from hbench.core.libreoffice import HOW_TO_GET, program_folder
from hbench.core.outside import Finished
from hbench.engines.jail import start
from hbench.engines.jail.jails import chosen
from hbench.engines.outside import run_outside

_CPU_S, _EACH_CPU_S = 60, 20  # a start takes one second, a workbook of this benchmark a fraction of one
_WALL_S = 900.0  # for what hangs; long, so that a busy machine makes no failures
_MEMORY_MB, _FILE_MB = 4096, 64
_READABLE = (
    *("/usr/lib", "/usr/lib64", "/usr/bin", "/etc/alternatives", "/etc/ld.so.cache", "/nix/store"),
    *("/etc/libreoffice", "/usr/share/libreoffice", "/usr/share/zoneinfo"),
    *("/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig"),
)
_LINKS = ("/lib", "/lib64", "/lib32", "/bin")
# A first start lays out its settings, ends with 81 and wants to be started again.
_SCRIPT = f"""
ulimit -c 0
ulimit -v {_MEMORY_MB << 10}
ulimit -t "$1"
ulimit -f {_FILE_MB << 11}
for try in 1 2 3; do
  "$2/soffice.bin" --headless --norestore --nolockcheck "-env:UserInstallation=file://$3" \\
    "--infilter=Calc MS Excel 2007 XML" --convert-to "xlsx:Calc MS Excel 2007 XML" --outdir out in/*.xlsx
  code=$?
  [ $code = 81 ] || break
done
exit $code
"""
_KEEP_STORED = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>1</value></prop></item></oor:items>"""


@dataclass
class Recalculation:
    """sandbox: as of the jails. look: called while LibreOffice runs; what it raises ends it."""

    sandbox: str = "auto"
    look: Callable[[], None] = lambda: None

    def workbooks(self, files: Mapping[str, bytes]) -> dict[str, bytes] | Failure:
        """path -> the workbook with the values of its formulas; a grader Failure where LibreOffice makes nothing of one.

        Raises StepError where there is no LibreOffice, or it cannot be confined, or does not do what it should.
        """
        if not files:
            return {}
        found, ended = self._run(list(files.values()))
        missing = [path for number, path in enumerate(files) if number not in found]
        if not missing:
            return {path: found[number] for number, path in enumerate(files)}
        if 0 not in self._run([_sound_workbook()])[0]:
            raise StepError(f"LibreOffice does not recalculate here: {_told(ended)}")
        return Failure("grader", "recalculation", f"LibreOffice makes nothing of {', '.join(missing)}: {_told(ended)}"[:2000])

    def _run(self, workbooks: list[bytes]) -> tuple[dict[int, bytes], Finished]:
        """place in `workbooks` -> what it became."""
        program = program_folder()
        if program is None:
            raise StepError(f"formulas without values need LibreOffice, which is not here: {HOW_TO_GET}")
        with tempfile.TemporaryDirectory(prefix="hbench-recalculate-") as name:
            folder = Path(name)
            _lay_out(folder, workbooks)
            wrap = confined(program, chosen(self.sandbox))
            seen = Path("/work") if wrap else folder
            cpu_s = _CPU_S + _EACH_CPU_S * len(workbooks)
            words = ["/bin/sh", "-c", _SCRIPT, "sh", str(cpu_s), str(program), str(seen / "profile")]
            bound = ["--bind", name, "/work", "--chdir", "/work", "--setenv", "HOME", "/work", "--"] if wrap else []
            ended = run_outside([*wrap, *bound, *words], folder, _WALL_S, (), self.look)
            return _results(folder / "out", len(workbooks)), ended


@cache
def confined(program: Path, sandbox: str) -> list[str]:
    """The beginning of a command that runs where LibreOffice does; nothing where no confinement was asked for, aloud.

    Raises StepError where namespaces cannot be had.
    """
    if sandbox == "none":
        return []
    ways = [way for way in start.recipes(sandbox) if way.sandbox == "namespaces"]
    ways = sorted(ways, key=lambda way: not way.own_users)  # by root itself only where it has to be
    for words in (_namespaces(way, program) for way in ways):
        if _works(words):
            return words
    raise StepError(
        "LibreOffice can only be confined by namespaces, which cannot be made here: install bubblewrap or allow user "
        "namespaces, or set domain.recalculate: never"
    )


def _namespaces(way: start.Recipe, program: Path) -> list[str]:
    words = [way.bwrap, "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--unshare-user", "--uid", "65534", "--gid", "65534"] if way.own_users else []
    words += ["--die-with-parent", "--new-session", "--hostname", "jail", "--cap-drop", "ALL", "--clearenv"]
    words += ["--tmpfs", "/tmp"]
    for place in _LINKS:
        if os.path.islink(place):
            words += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            words += ["--ro-bind", place, place]
    readable = [*(place for place in _READABLE if os.path.exists(place)), str(program.parent)]
    for place in readable:
        words += ["--ro-bind", place, place]
    words += ["--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom"]
    return [*words, "--proc", "/proc"]


def _works(words: list[str]) -> bool:
    try:
        return subprocess.run([*words, "--", "/bin/sh", "-c", ":"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _lay_out(folder: Path, workbooks: list[bytes]) -> None:
    for part in ("in", "out", "profile/user"):
        (folder / part).mkdir(parents=True)
    (folder / "profile/user/registrymodifications.xcu").write_text(_KEEP_STORED)
    for number, content in enumerate(workbooks):
        (folder / "in" / f"{number}.xlsx").write_bytes(content)


def _results(folder: Path, count: int) -> dict[int, bytes]:
    """Regular files alone: what could take LibreOffice over could lay a link."""
    found = {}
    for number in range(count):
        file = folder / f"{number}.xlsx"
        if file.is_file() and not file.is_symlink() and file.stat().st_size < _FILE_MB << 20:
            found[number] = file.read_bytes()
    return found


def _told(ended: Finished) -> str:
    if ended.code is None:
        return "it ran out of time"
    said = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
    return f"exit code {ended.code}" + (f", {said[-1]}" if said else "")


def _sound_workbook() -> bytes:
    """One cell with a formula: what any LibreOffice can open."""
    base, types = "http://schemas.openxmlformats.org", "application/vnd.openxmlformats"
    kind, sheets = f"{base}/officeDocument/2006/relationships", f'xmlns="{base}/spreadsheetml/2006/main"'
    links = f'<Relationships xmlns="{base}/package/2006/relationships"><Relationship Id="a" Type="{kind}'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{base}/package/2006/content-types">'
        f'<Default Extension="rels" ContentType="{types}-package.relationships+xml"/>'
        f'<Override PartName="/book.xml" ContentType="{types}-officedocument.spreadsheetml.sheet.main+xml"/>'
        f'<Override PartName="/sheet.xml" ContentType="{types}-officedocument.spreadsheetml.worksheet+xml"/></Types>',
        "_rels/.rels": f'{links}/officeDocument" Target="book.xml"/></Relationships>',
        "_rels/book.xml.rels": f'{links}/worksheet" Target="sheet.xml"/></Relationships>',
        "book.xml": f'<workbook {sheets} xmlns:r="{kind}"><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>',
        "sheet.xml": f'<worksheet {sheets}><sheetData><row r="1"><c r="A1"><f>1+2</f></c></row></sheetData></worksheet>',
    }
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return packed.getvalue()
