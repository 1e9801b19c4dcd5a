from ci_report.report import Build, report, summarise


def test_counts_builds_of_the_week_only():
    builds = [Build(1, 10.0, False), Build(1, 20.0, True), Build(2, 5.0, False)]
    week = summarise(1, builds)
    assert (week.builds, week.failed) == (2, 1)


def test_reports_every_week():
    builds = [Build(1, 10.0, False), Build(2, 5.0, False), Build(3, 5.0, True)]
    assert [w.number for w in report(1, 3, builds)] == [1, 2, 3]
