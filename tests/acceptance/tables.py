"""The two tables that come out: one for people (Markdown), one for programs (JSON)."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from programs import Program
from stages import CAUGHT, NOT_CAUGHT, STAGES, Kernel, StageResult

STATUSES = ("verified", "converted", "refused")
LEVELS = ("thread", "loop", "tensor")


@dataclass(slots=True)
class Record:
    """What is known of one program so far.  ``mistake`` is a fault of the table, found before any stage."""

    program: Program
    stages: dict[str, StageResult] = field(default_factory=dict)
    mistake: str = ""

    @property
    def report(self) -> StageResult | None:
        """What counts for the kernels' states: the first stage done of convert, verify, translate."""
        done = [self.stages[stage] for stage in ("convert", "verify", "translate") if stage in self.stages]
        return done[0] if done else None

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of the report."""
        return self.report.kernels if self.report else ()

    @property
    def verified(self) -> frozenset[str]:
        """The names of the kernels of which every instance is verified."""
        worse = {kernel.name for kernel in self.kernels if kernel.status != "verified"}
        return frozenset(kernel.name for kernel in self.kernels) - worse

    @property
    def faults(self) -> list[str]:
        """``convert: crash`` and the like."""
        return [f"{name}: {stage.fault}" for name, stage in self.stages.items() if stage.fault]

    @property
    def codes(self) -> Counter[str]:
        """Why kernels, or whole sources, are not verified."""
        unusable = self.report.unusable if self.report else ()
        return Counter([*(k.code for k in self.kernels if k.code and k.status != "verified"), *unusable])

    @property
    def verdict(self) -> str:
        """The program's own, under ``tmigrate run``."""
        return (self.stages["run"].verdict or "") if "run" in self.stages else ""

    @property
    def broken(self) -> str:
        """What became of the verdict when a kernel was made wrong; empty where it says nothing.

        Only a PASS says something; NOT_CAUGHT says nothing where no kernel was verified.
        """
        if "broken" not in self.stages or self.verdict not in ("", "PASS"):
            return ""
        found = self.stages["broken"].verdict or ""
        return "" if found == NOT_CAUGHT and not self.verified else found

    @property
    def agrees(self) -> str:
        """Whether ``verify`` says of each kernel what ``convert`` said."""
        if not {"convert", "verify"} <= self.stages.keys():
            return ""
        said = [sorted((k.name, k.status) for k in self.stages[s].kernels) for s in ("convert", "verify")]
        return "yes" if said[0] == said[1] else "NO"


def write_tables(records: Sequence[Record], out: Path, title: str) -> None:
    """Write ``acceptance.md`` and ``acceptance.json`` into ``out``."""
    (out / "acceptance.json").write_text(json.dumps(as_json(records, title), indent=1) + "\n")
    (out / "acceptance.md").write_text(as_markdown(records, title))


def as_json(records: Sequence[Record], title: str) -> dict[str, Any]:
    """Everything, with the totals."""
    return {
        "version": 1,
        "title": title,
        "totals": totals(records),
        "programs": [_record_as_json(record) for record in records],
    }


def _record_as_json(record: Record) -> dict[str, Any]:
    return {
        "program": record.program.name,
        "path": record.program.path,
        "note": record.program.note,
        "mistake": record.mistake or None,
        "kernels": len(record.kernels),
        "statuses": _count((k.status for k in record.kernels), STATUSES),
        "levels": _count((k.level for k in record.kernels if k.level), LEVELS),
        "codes": dict(sorted(record.codes.items())),
        "verify_agrees": record.agrees or None,
        "verdict": record.verdict or None,
        "broken": record.broken or None,
        "faults": record.faults,
        "stages": {name: _stage_as_json(stage) for name, stage in record.stages.items()},
    }


def _stage_as_json(stage: StageResult) -> dict[str, Any]:
    found = dataclasses.asdict(stage)
    found["seconds"] = round(stage.seconds, 2)
    return found


def _count(values: Iterable[str], names: Sequence[str]) -> dict[str, int]:
    counted = Counter(values)
    return {name: counted[name] for name in names}


def totals(records: Sequence[Record]) -> dict[str, Any]:
    """Sums over the programs."""
    kernels = [kernel for record in records for kernel in record.kernels]
    launches: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for record in records:
        codes += record.codes
        if "run" in record.stages:
            launches += Counter(record.stages["run"].launches)
    all_verified = [r for r in records if r.kernels and len(r.verified) == len({k.name for k in r.kernels})]
    return {
        "programs": len(records),
        "mistakes": sum(bool(record.mistake) for record in records),
        "faults": sum(len(record.faults) for record in records),
        "kernels": len(kernels),
        "statuses": _count((k.status for k in kernels), STATUSES),
        "levels": _count((k.level for k in kernels if k.level), LEVELS),
        "codes": dict(sorted(codes.items())),
        "programs_all_verified": len(all_verified),
        "programs_all_verified_and_pass": sum(record.verdict == "PASS" for record in all_verified),
        "verify_disagrees": sum(record.agrees == "NO" for record in records),
        "verdicts": dict(sorted(Counter(r.verdict for r in records if r.verdict).items())),
        "broken": dict(sorted(Counter(r.broken for r in records if r.broken).items())),
        "launches": dict(sorted(launches.items())),
        "seconds": _seconds(records),
    }


def _seconds(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    found = {}
    for stage in STAGES:
        times = [record.stages[stage].seconds for record in records if stage in record.stages]
        if times:
            numbers = {"sum": sum(times), "median": median(times), "most": max(times)}
            found[stage] = {name: round(value, 2) for name, value in numbers.items()}
    return found


def as_markdown(records: Sequence[Record], title: str) -> str:
    """One table of programs, the totals, and what is not verified, kernel by kernel."""
    stages = [stage for stage in STAGES if any(stage in record.stages for record in records)]
    header = ["program", "kernels", *STATUSES, *LEVELS, "codes", "verify agrees"]
    header += [f"{stage} s" for stage in stages] + ["verdict", "lifted launches", "thread launches"]
    header += ["broken", "faults"]
    rows = [_row(record, stages) for record in records] + [_totals_row(records, stages)]
    lines = [f"# {title}", "", *_table(header, rows), "", *_totals_list(totals(records))]
    return "\n".join([*lines, *_unverified(records)]) + "\n"


def _row(record: Record, stages: Sequence[str]) -> list[str]:
    statuses = _count((k.status for k in record.kernels), STATUSES)
    levels = _count((k.level for k in record.kernels if k.level), LEVELS)
    launches = record.stages["run"].launches if "run" in record.stages else {}
    return [
        record.program.name,
        str(len(record.kernels)),
        *(str(statuses[status]) for status in STATUSES),
        *(str(levels[level]) for level in LEVELS),
        _codes(record.codes),
        record.agrees,
        *(f"{record.stages[s].seconds:.1f}" if s in record.stages else "" for s in stages),
        record.verdict,
        str(launches.get("lifted", "")),
        str(launches.get("thread", "")),
        record.broken,
        "; ".join([*record.faults, *([f"table: {record.mistake}"] if record.mistake else [])]),
    ]


def _codes(codes: Counter[str]) -> str:
    return " ".join(code if count == 1 else f"{code}x{count}" for code, count in sorted(codes.items()))


def _totals_row(records: Sequence[Record], stages: Sequence[str]) -> list[str]:
    found = totals(records)
    passes, verdicts = found["verdicts"].get("PASS", 0), sum(found["verdicts"].values())
    held = sum(count for verdict, count in found["broken"].items() if verdict not in ("PASS", NOT_CAUGHT))
    return [
        f"**all {found['programs']}**",
        str(found["kernels"]),
        *(str(found["statuses"][status]) for status in STATUSES),
        *(str(found["levels"][level]) for level in LEVELS),
        "",
        "",
        *(f"{found['seconds'][stage]['sum']:.1f}" for stage in stages),
        f"{passes} of {verdicts} PASS" if verdicts else "",
        str(found["launches"].get("lifted", "")),
        str(found["launches"].get("thread", "")),
        f"{held} of {sum(found['broken'].values())} noticed" if found["broken"] else "",
        str(found["faults"] or ""),
    ]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def _totals_list(found: dict[str, Any]) -> list[str]:
    kernels = found["kernels"]
    share = 100 * found["statuses"]["verified"] / kernels if kernels else 0.0
    lines = [
        f"- kernels verified: {found['statuses']['verified']} of {kernels} ({share:.0f} %)",
        f"- programs with all kernels verified: {found['programs_all_verified']} of {found['programs']}; "
        f"of these {found['programs_all_verified_and_pass']} print PASS",
    ]
    if found["codes"]:
        lines.append("- codes: " + ", ".join(f"{code} {count}" for code, count in found["codes"].items()))
    if found["verdicts"]:
        verdicts = ", ".join(f"{word} {count}" for word, count in found["verdicts"].items())
        lines.append(f"- verdicts: {verdicts}")
    for stage, times in found["seconds"].items():
        lines.append(f"- seconds, {stage}: median {times['median']}, most {times['most']}")
    if found["verify_disagrees"]:
        lines.append(f"- verify says something else than convert: {found['verify_disagrees']} programs")
    return lines


def _unverified(records: Sequence[Record]) -> list[str]:
    rows = [
        [record.program.name, k.name, k.location, k.status, k.code or "", " ".join((k.reason or "").split())]
        for record in records
        for k in record.kernels
        if k.status != "verified"
    ]
    if not rows:
        return []
    header = ["program", "kernel", "where", "status", "code", "reason"]
    return ["", "## Not verified", "", *_table(header, rows)]


def exit_status(records: Sequence[Record]) -> int:
    """2 where the table is wrong; 1 where the tool crashed or let a broken kernel pass; else 0."""
    crashed = any(stage.fault == "crash" for record in records for stage in record.stages.values())
    unnoticed = any(record.broken in ("PASS", NOT_CAUGHT) for record in records)
    if crashed or unnoticed:
        return 1
    return 2 if any(record.mistake for record in records) else 0


def summary(record: Record) -> str:
    """One line about a program that is done."""
    if record.mistake:
        return record.mistake
    statuses = _count((k.status for k in record.kernels), STATUSES)
    parts = [f"{count} {status}" for status, count in statuses.items() if count] or ["no kernels"]
    parts += [part for part in (_codes(record.codes), record.verdict, record.broken) if part]
    return ", ".join([*parts, *record.faults])


__all__ = ["CAUGHT", "NOT_CAUGHT", "Record", "exit_status", "summary", "totals", "write_tables"]
