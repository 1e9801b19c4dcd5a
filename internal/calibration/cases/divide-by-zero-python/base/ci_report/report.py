"""A weekly report over the builds of a CI server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Build:
    week: int
    seconds: float
    failed: bool


@dataclass(frozen=True)
class Week:
    number: int
    builds: int
    failed: int


def summarise(number, builds):
    """Count the builds of one week."""
    mine = [b for b in builds if b.week == number]
    return Week(number=number, builds=len(mine), failed=sum(1 for b in mine if b.failed))


def report(first, last, builds):
    """Give one entry for each week from first to last, also for those in which nothing was built."""
    return [summarise(number, builds) for number in range(first, last + 1)]
