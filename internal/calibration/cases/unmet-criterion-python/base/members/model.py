"""The members of the club."""

from dataclasses import dataclass
from datetime import date
from typing import Optional


@dataclass(frozen=True)
class Member:
    name: str
    email: str
    joined: date
    left: Optional[date] = None
